/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct code_maker *provided;

void code_rows_provide(const struct code_maker *maker)
{
	provided = maker;
}

bool code_rows_exist(void)
{
	return provided;
}

static int note_function(void *ctx, uint64_t start, uint64_t end)
{
	return coverage_add(ctx, start, end);
}

/* Malformed tables cover what they cover. */
static int list_functions(const struct code_rows *rows, struct coverage *ret)
{
	int r = rows->list(rows->ctx, note_function, ret);

	if (r == -ENOMEM)
		return r;
	r = 0;
	for (size_t i = 0; i < rows->others.count && !r; i++)
		r = coverage_add(ret, rows->others.ranges[i].start, rows->others.ranges[i].end);
	return r;
}

/* Bytes of code of the file that no function covers. */
static int uncovered_bytes(const struct code_rows *rows, struct coverage *functions, uint64_t *ret)
{
	const struct coverage *sections = &rows->image->code;
	struct coverage code = {0};
	int r = 0;

	for (size_t i = 0; i < sections->count && !r; i++)
		r = coverage_add(&code, sections->ranges[i].start, sections->ranges[i].end);
	if (!r)
		*ret = coverage_bytes(&code) - coverage_overlap(&code, functions);
	coverage_fini(&code);
	return r;
}

/*
 * A file that is the same as the last time need not be read.  Who can change what is here
 * can also change the file.
 */
static bool key_of(const struct code_rows *rows, struct table_key *ret)
{
	const struct elf_image *image = rows->image;
	struct content_digest d;
	struct stat st;

	if (rows->others.count || fstat(rows->fd, &st))
		return false;
	content_digest_init(&d);
	content_digest_add(&d, "inferred from", 13);
	content_digest_u64(&d, TABLE_VERSION);
	content_digest_u64(&d, provided->version);
	content_digest_u64(&d, rows->ignores);
	content_digest_u64(&d, st.st_dev);
	content_digest_u64(&d, st.st_ino);
	content_digest_u64(&d, (uint64_t)st.st_size);
	content_digest_u64(&d, (uint64_t)st.st_mtim.tv_sec);
	content_digest_u64(&d, (uint64_t)st.st_mtim.tv_nsec);
	content_digest_u64(&d, (uint64_t)st.st_ctim.tv_sec);
	content_digest_u64(&d, (uint64_t)st.st_ctim.tv_nsec);
	content_digest_add(&d, image->build_id, image->build_id_len);
	content_digest_get(&d, ret->digest);
	return true;
}

static void use(struct code_rows *rows)
{
	struct code_found *found = &rows->found;

	if (!found->made)
		rows->table = &found->kept.table;
	else if (!compiled_table_init(found->made, found->size, NULL, &rows->made_table))
		rows->table = &rows->made_table;
}

static int make(struct code_rows *rows, const struct code_means *means)
{
	struct coverage functions = {0};
	const struct code_wish wish = {
		.fd = rows->fd,
		.functions = &functions,
		.cache = means->cache,
		.most = means->bytes < CODE_ROWS_MOST ? means->bytes : CODE_ROWS_MOST,
		.stop = &means->stop,
	};
	uint64_t bytes = 0;
	int r = list_functions(rows, &functions);

	if (!r)
		r = uncovered_bytes(rows, &functions, &bytes);
	/* the file is not even read */
	if (!r && bytes > CODE_ROWS_MOST)
		r = -EFBIG;
	if (!r)
		r = bytes ? provided->make(&wish, &rows->found) : -ENODATA;
	coverage_fini(&functions);
	return r;
}

/* A file that has none has a table of the cache, too, in which there is nothing. */
static void keep(const struct code_rows *rows, struct table_cache *cache)
{
	const struct code_found *found = &rows->found;
	const uint8_t *data = found->made ? found->made : found->kept.data;
	struct table_key key;

	if (cache && key_of(rows, &key))
		table_cache_keep(cache, &key, data, found->made ? found->size : found->kept.size);
}

static void infer(struct code_rows *rows, struct code_means *means)
{
	if (make(rows, means))
		return;
	means->bytes -= rows->found.analysed < means->bytes ? rows->found.analysed : means->bytes;
	use(rows);
	if (rows->table)
		keep(rows, means->cache);
}

void code_rows_work(struct code_task *task, struct code_means *means)
{
	infer((struct code_rows *)((char *)task - offsetof(struct code_rows, task)), means);
}

/* Once; false: there is no memory, or no table. */
static bool find_kept(struct code_rows *rows)
{
	struct table_key key;

	rows->looked = true;
	if (rows->prepare(rows->ctx, note_function, &rows->others) || !rows->cache ||
	    !key_of(rows, &key) || table_cache_find(rows->cache, &key, NULL, &rows->found.kept))
		return false;
	use(rows);
	rows->asked = true;
	return true;
}

static void find(struct code_rows *rows)
{
	struct code_means means = {.cache = rows->cache, .bytes = CODE_ROWS_MOST};

	if (!rows->looked && find_kept(rows))
		return;
	if (!rows->queue)
		infer(rows, &means);
	else
		rows->waits = !code_queue_ask(rows->queue, &rows->task);
}

static bool is_there(struct code_rows *rows)
{
	if (!rows->asked)
		find(rows);
	rows->asked = true;
	if (rows->waits)
		rows->waits = !code_queue_await(rows->queue, &rows->task);
	return !rows->waits && rows->table;
}

/* The row of an address.  0; -ENOENT; -ENODATA: there are none, or none yet. */
static int find_row(struct code_rows *rows, uint64_t vaddr, struct bobbin_row *ret)
{
	struct compiled_row found;
	int r;

	if (!is_there(rows))
		return -ENODATA;
	r = compiled_table_find(rows->table, vaddr, &found);
	if (!r)
		r = compiled_table_rule(rows->table, &found, &ret->rule);
	if (r)
		return -ENOENT;
	ret->start = found.start;
	ret->end = found.end;
	ret->function = compiled_table_function(rows->table, &found);
	return 0;
}

static bool is_there_or_kept(struct code_rows *rows)
{
	if (!rows->list || (!rows->asked && (rows->looked || !find_kept(rows))))
		return false;
	return !rows->waits && rows->table;
}

/* Code at an address of which no row says anything, as far as that reaches. */
static void find_blank(const struct compiled_table *table, uint64_t vaddr,
		       const struct compiled_row *none, uint64_t *start, uint64_t *end)
{
	bool before = vaddr < table->start, after = vaddr >= table->end;
	struct compiled_row piece;

	*start = before ? 0 : after ? table->end : none->start;
	*end = before ? table->start : after ? UINT64_MAX : none->end;
	/* tables have what is long in pieces */
	for (unsigned int i = 0; i<TABLE_FUNCTION_ROWS && * start> table->start; i++) {
		if (compiled_table_find(table, *start - 1, &piece) != -ENOENT)
			break;
		*start = piece.start;
	}
	for (unsigned int i = 0; i < TABLE_FUNCTION_ROWS && *end < table->end; i++) {
		if (compiled_table_find(table, *end, &piece) != -ENOENT)
			break;
		*end = piece.end;
	}
}

bool code_rows_function(struct code_rows *rows, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct compiled_row found, next;
	struct bobbin_row row;
	int r;

	if (!rows->list || find_row(rows, vaddr, &row) == -ENODATA)
		return false;
	r = compiled_table_find(rows->table, vaddr, &found);
	if (r == -ENOENT)
		find_blank(rows->table, vaddr, &found, start, end);
	if (r)
		return r == -ENOENT;
	*start = compiled_table_function(rows->table, &found);
	*end = found.end;
	for (unsigned int i = 0; i < TABLE_FUNCTION_ROWS; i++) {
		if (compiled_table_find(rows->table, *end, &next) || next.begins)
			break;
		*end = next.end;
	}
	return true;
}

int code_rows_covered(struct code_rows *rows, bool analyse, const struct bobbin_range *within,
		      function_sink sink, void *ctx)
{
	uint64_t at = within->start;
	int r = 0;

	if (!(analyse ? is_there(rows) : is_there_or_kept(rows)))
		return 0;
	while (at < within->end && !r) {
		struct compiled_row found;

		if (compiled_table_find(rows->table, at, &found) || found.end <= at) {
			at++;
			continue;
		}
		if (found.end > within->end)
			found.end = within->end;
		r = sink(ctx, at, found.end);
		at = found.end;
	}
	return r;
}

void code_rows_fini(struct code_rows *rows)
{
	kept_table_fini(&rows->found.kept);
	free(rows->found.made);
	rows->found = (struct code_found){0};
	rows->table = NULL;
	coverage_fini(&rows->others);
}

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	return find_row(table, pc, &ret->row);
}

/* Whoever asks for names does not wait for code to be analysed. */
static bool no_function(const void *table, uint64_t pc, uint64_t *ret)
{
	return false;
}

const struct table_ops code_rows_ops = {
	.kind = TABLE_CODE,
	.sources = {BOBBIN_SOURCE_CODE},
	.lookup = lookup,
	.function = no_function,
};
