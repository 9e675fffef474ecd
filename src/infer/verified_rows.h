/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verified_rows.h - inferred rows that can stand beside those of a table.
 */
#ifndef BOBBIN_INFER_VERIFIED_ROWS_H
#define BOBBIN_INFER_VERIFIED_ROWS_H

#include <bobbin/cfi.h>

#include "convert/added_row.h"

/**
 * struct verified_rows - those of a file
 * @row, @count: ascending, without overlaps, in code of no live FDE
 * @functions: whose first row is among them
 * @guesses: rows that were inferred, too, and are left out: they are not verified
 */
struct verified_rows {
	struct added_row *row;
	size_t count, capacity;
	uint64_t functions, guesses;
};

/*
 * Infer the rows of a file's code that its call-frame information does not cover.  @ret is to be
 * given to verified_rows_fini(), and empty where there is no code to infer.  0; -EFBIG: there is
 * more of it than INFER_FILE_MAX; -ENOTSUP: not the code of this machine, or not by this build;
 * -EBADMSG; -ENOMEM; the errno of reading.
 */
int verified_rows_infer(int fd, const struct bobbin_cfi_view *views, unsigned int count,
			struct verified_rows *ret);
void verified_rows_fini(struct verified_rows *rows);

#endif
