/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * infer_ops.h - how rules of code are inferred, as compiled tables: what it costs, what it gives.
 */
#ifndef BOBBIN_TABLE_INFER_OPS_H
#define BOBBIN_TABLE_INFER_OPS_H

#include "base/coverage.h"
#include "table/described_code.h"
#include "table/table_cache.h"

/* Bytes of code without tables that a file may have. */
#define INFER_FILE_MAX ((uint64_t)48 << 20)

/**
 * struct infer_budget - what an inference may use
 * @cache: where tables are kept, or NULL
 * @stop: end early, the result is not wanted
 * @bytes: of code that may be analysed; what was analysed is taken off
 */
struct infer_budget {
	struct table_cache *cache;
	_Atomic bool stop;
	uint64_t bytes;
};

/**
 * struct infer_ops - who infers rules
 * @infer: find or make the table of a file for code outside of @functions, which other tables
 *	cover.  0; -EFBIG: it is not in the cache, and there is too much to analyse; -ENODATA:
 *	there are no rules, or is no code; another negative errno
 * @described: the rows of code that its run time describes, from offset 0 on; @ret->rows is to be
 *	freed.  0; -EFBIG; -ENOTSUP: not by this build; -ENOMEM
 * @reads: whether the code of an architecture can be read here
 * @version: another number whenever the same file gets other rules
 */
struct infer_ops {
	int (*infer)(int fd, struct coverage *functions, struct infer_budget *budget,
		     struct kept_table *ret);
	int (*described)(const struct described_code *code, struct described_rows *ret);
	bool (*reads)(const struct bobbin_arch *arch);
	uint64_t version;
};

#endif
