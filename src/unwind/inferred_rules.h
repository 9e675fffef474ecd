/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inferred_rules.h - rules that are inferred from a file's machine code, where no table covers it.
 *
 * They are looked for, or made, when code is asked for that no table covers; most files' tables
 * cover all that is asked.  Who can infer rules is not part of the library: whoever opens the
 * unwinder says it.  With a queue a thread makes them, and walks do without until they are there.
 */
#ifndef BOBBIN_UNWIND_INFERRED_RULES_H
#define BOBBIN_UNWIND_INFERRED_RULES_H

#include <bobbin/rule.h>

#include "elf/elf_image.h"
#include "unwind/inference_queue.h"
#include "unwind/table_set.h"

/**
 * struct inferred_rules - those of one file; all zero: there are none
 * @infer: borrowed
 * @fd, @image: of the file
 * @prepare: called once before @list, with @ctx, by who asks; gives functions that @list does not
 * @list: gives functions of the file's tables; the queue's thread calls it
 * @others: what @prepare gave
 * @ignores: some of the file's tables are not used
 * @cache: borrowed, or NULL
 * @queue: borrowed, or NULL
 * @looked: in the cache
 * @asked: they were looked for, or found
 * @waits: for the queue, the last time that they were asked
 * @request: of the queue
 * @made: counts tables of all files that are there, or NULL
 * @table: them, once @asked, unless @waits
 */
struct inferred_rules {
	const struct infer_ops *infer;
	int fd;
	const struct elf_image *image;
	int (*prepare)(void *ctx, function_sink sink, void *sink_ctx);
	int (*list)(void *ctx, function_sink sink, void *sink_ctx);
	void *ctx;
	struct coverage others;
	bool ignores;
	struct table_cache *cache;
	struct inference_queue *queue;
	bool looked, asked, waits;
	struct infer_request request;
	uint64_t *made;
	struct kept_table table;
};

/* The queue's work, see inference_queue_open(). */
void inferred_rules_work(struct infer_request *request, struct infer_budget *budget);

/* The table, if somebody has asked for it and it was made; NULL: not yet, or there is none. */
const struct kept_table *inferred_rules_made(const struct inferred_rules *rules);

/*
 * The function at an address, or a part of it, or the code around it of which no row says
 * anything.  false: there are no rules, or none yet.
 */
bool inferred_rules_function(struct inferred_rules *rules, uint64_t vaddr, uint64_t *start,
			     uint64_t *end);

/*
 * What rules cover of a range.  @analyse: they are made if there are none yet;
 * otherwise as inferred_rules_function().  0, -ENOMEM, or what @sink returned.
 */
int inferred_rules_covered(struct inferred_rules *rules, bool analyse,
			   const struct bobbin_range *within, function_sink sink, void *ctx);

void inferred_rules_fini(struct inferred_rules *rules);

extern const struct table_ops inferred_rules_ops;

#endif
