/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_rows.h - rules that are inferred from a file's machine code, where no table covers it.
 *
 * They are looked for, or made, when code is asked for that no table covers; most files' tables
 * cover all that is asked.  Who can infer rules is not part of the library: the command says it.
 * Where somebody waits for an answer, little code is analysed at once, and the rest at the end.
 */
#ifndef BOBBIN_UNWIND_CODE_ROWS_H
#define BOBBIN_UNWIND_CODE_ROWS_H

#include <bobbin/rule.h>

#include "base/coverage.h"
#include "table/table_cache.h"
#include "unwind/function_sink.h"

/**
 * code_maker - make the compiled table of code that no table covers, or find it
 * @fd: of the file
 * @functions: those that tables cover, not settled
 * @cache: where tables are kept, or NULL
 * @kept: a table that was found or kept; to be given to kept_table_fini()
 * @most: bytes of code that are analysed, or the file has too much
 * @made, @size: or one that was made and not kept; the caller's
 *
 * Return: 0; -EFBIG: none was found, and the file has @size bytes to analyse; another negative
 * errno: there is none.
 */
typedef int code_maker(int fd, struct coverage *functions, struct table_cache *cache, uint64_t most,
		       struct kept_table *kept, uint8_t **made, uint64_t *size);

/* Bytes of code that are analysed at most: of a file; while something runs; when that has ended. */
#define CODE_ROWS_MOST ((uint64_t)48 << 20)
#define CODE_ROWS_MOST_LIVE ((uint64_t)256 << 10)
#define CODE_ROWS_MOST_LATE ((uint64_t)32 << 20)
/* While something runs, of files of this size at most: the others take too long to look through. */
#define CODE_ROWS_FILE_LIVE ((uint64_t)4 << 20)

/* From now on files have such rows.  Before any unwinder is opened, once. */
void code_rows_provide(code_maker *maker);

/* Something runs, or is stopped, meanwhile.  Likewise. */
void code_rows_hurry(void);

/**
 * struct code_rows - those of one file
 * @fd: of the file
 * @list: gives all functions of the file's tables, with @ctx
 * @cache: borrowed, or NULL
 * @asked: they were looked for; there are some if @table is not NULL
 * @left: bytes of code that were too many to analyse then
 */
struct code_rows {
	int fd;
	int (*list)(void *ctx, function_sink sink, void *sink_ctx);
	void *ctx;
	struct table_cache *cache;
	bool asked;
	uint64_t left;
	const struct compiled_table *table;
	struct compiled_table made_table;
	struct kept_table kept;
	uint8_t *made;
};

/* Whether rules can be inferred here. */
bool code_rows_exist(void);

/* The row of an address.  0; -ENOENT; -ENODATA: there are none. */
int code_rows_lookup(struct code_rows *rows, uint64_t vaddr, struct bobbin_row *ret);

/* Analyse what was left, and keep it in the cache, as long as @budget, in bytes, reaches. */
void code_rows_keep(struct code_rows *rows, uint64_t *budget);

void code_rows_fini(struct code_rows *rows);

#endif
