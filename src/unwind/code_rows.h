/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_rows.h - rules that are inferred from a file's machine code, where no table covers it.
 *
 * They are looked for, or made, when code is asked for that no table covers; most files' tables
 * cover all that is asked.  Who can infer rules is not part of the library: the command says it.
 * With a queue a thread makes them, and whoever asks goes on without them until they are there.
 */
#ifndef BOBBIN_UNWIND_CODE_ROWS_H
#define BOBBIN_UNWIND_CODE_ROWS_H

#include <bobbin/rule.h>

#include "elf/elf_image.h"
#include "table/code_maker.h"
#include "unwind/code_queue.h"
#include "unwind/table_ops.h"

/* Bytes of code without tables that a file may have. */
#define CODE_ROWS_MOST ((uint64_t)48 << 20)

/* From now on files have such rows.  Before any unwinder is opened, once. */
void code_rows_provide(const struct code_maker *maker);

/**
 * struct code_rows - those of one file
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
 * @task: of the queue
 * @table: them, once @asked, unless @waits; NULL: there are none
 */
struct code_rows {
	int fd;
	const struct elf_image *image;
	int (*prepare)(void *ctx, function_sink sink, void *sink_ctx);
	int (*list)(void *ctx, function_sink sink, void *sink_ctx);
	void *ctx;
	struct coverage others;
	bool ignores;
	struct table_cache *cache;
	struct code_queue *queue;
	bool looked, asked, waits;
	struct code_task task;
	const struct compiled_table *table;
	struct compiled_table made_table;
	struct code_found found;
};

/* Whether rules can be inferred here. */
bool code_rows_exist(void);

/* The queue's work, see code_queue_open(). */
void code_rows_work(struct code_task *task, struct code_means *means);

/*
 * The function at an address, or a part of it, or the code around it of which no row says
 * anything.  false: there are no rows, or none yet.  @rows may be all zero.
 */
bool code_rows_function(struct code_rows *rows, uint64_t vaddr, uint64_t *start, uint64_t *end);

/*
 * What rules cover of a range.  @analyse: they are made if there are none yet;
 * otherwise as code_rows_function().  0, -ENOMEM, or what @sink returned.
 */
int code_rows_covered(struct code_rows *rows, bool analyse, const struct bobbin_range *within,
		      function_sink sink, void *ctx);

void code_rows_fini(struct code_rows *rows);

extern const struct table_ops code_rows_ops;

#endif
