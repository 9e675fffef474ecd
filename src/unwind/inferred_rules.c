/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/inferred_rules.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

static int note_function(void *ctx, uint64_t start, uint64_t end)
{
	return coverage_add(ctx, start, end);
}

/* Malformed tables cover what they cover. */
static int list_functions(const struct inferred_rules *rules, struct coverage *ret)
{
	int r = rules->list(rules->ctx, note_function, ret);

	if (r == -ENOMEM)
		return r;
	r = 0;
	for (size_t i = 0; i < rules->others.count && !r; i++)
		r = coverage_add(ret, rules->others.ranges[i].start, rules->others.ranges[i].end);
	return r;
}

/* Bytes of code of the file that no function covers. */
static int uncovered_bytes(const struct inferred_rules *rules, struct coverage *functions,
			   uint64_t *ret)
{
	const struct coverage *sections = &rules->image->code;
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
static bool key_of(const struct inferred_rules *rules, struct table_key *ret)
{
	const struct elf_image *image = rules->image;
	struct content_digest d;
	struct stat st;

	if (rules->others.count || fstat(rules->fd, &st))
		return false;
	content_digest_init(&d);
	content_digest_add(&d, "inferred from", 13);
	content_digest_u64(&d, TABLE_VERSION);
	content_digest_u64(&d, rules->infer->version);
	content_digest_u64(&d, rules->ignores);
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

static int make(struct inferred_rules *rules, struct infer_budget *budget)
{
	struct coverage functions = {0};
	uint64_t bytes = 0;
	int r = list_functions(rules, &functions);

	if (!r)
		r = uncovered_bytes(rules, &functions, &bytes);
	/* the file is not even read */
	if (!r && bytes > INFER_FILE_MAX)
		r = -EFBIG;
	if (!r)
		r = bytes ? rules->infer->infer(rules->fd, &functions, budget, &rules->table)
			  : -ENODATA;
	coverage_fini(&functions);
	return r;
}

/* A file that has no rules has a table of the cache, too, in which there is nothing. */
static void infer(struct inferred_rules *rules, struct infer_budget *budget)
{
	struct table_key key;

	if (!make(rules, budget) && budget->cache && key_of(rules, &key))
		table_cache_keep(budget->cache, &key, rules->table.data, rules->table.size);
}

void inferred_rules_work(struct infer_request *request, struct infer_budget *budget)
{
	infer((struct inferred_rules *)((char *)request - offsetof(struct inferred_rules, request)),
	      budget);
}

static void note_made(const struct inferred_rules *rules)
{
	if (rules->made)
		++*rules->made;
}

/* Once; false: there is no memory, or no table. */
static bool find_kept(struct inferred_rules *rules)
{
	struct table_key key;

	rules->looked = true;
	if (rules->prepare(rules->ctx, note_function, &rules->others) || !rules->cache ||
	    !key_of(rules, &key) || table_cache_find(rules->cache, &key, NULL, &rules->table))
		return false;
	rules->asked = true;
	note_made(rules);
	return true;
}

static void find(struct inferred_rules *rules)
{
	struct infer_budget budget = {.cache = rules->cache, .bytes = INFER_FILE_MAX};

	if (!rules->looked && find_kept(rules))
		return;
	if (!rules->queue) {
		infer(rules, &budget);
		note_made(rules);
	} else {
		rules->waits = !inference_queue_ask(rules->queue, &rules->request);
	}
}

static bool is_there(struct inferred_rules *rules)
{
	if (!rules->asked)
		find(rules);
	rules->asked = true;
	if (rules->waits && inference_queue_await(rules->queue, &rules->request)) {
		rules->waits = false;
		note_made(rules);
	}
	return !rules->waits && rules->table.data;
}

static bool is_there_or_kept(struct inferred_rules *rules)
{
	if (!rules->list || (!rules->asked && (rules->looked || !find_kept(rules))))
		return false;
	return !rules->waits && rules->table.data;
}

const struct kept_table *inferred_rules_made(const struct inferred_rules *rules)
{
	return rules->asked && !rules->waits && rules->table.data ? &rules->table : NULL;
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

bool inferred_rules_function(struct inferred_rules *rules, uint64_t vaddr, uint64_t *start,
			     uint64_t *end)
{
	struct compiled_row found, next;
	int r;

	if (!rules->list || !is_there(rules))
		return false;
	r = compiled_table_find(&rules->table.table, vaddr, &found);
	if (r == -ENOENT)
		find_blank(&rules->table.table, vaddr, &found, start, end);
	if (r)
		return r == -ENOENT;
	*start = compiled_table_function(&rules->table.table, &found);
	*end = found.end;
	for (unsigned int i = 0; i < TABLE_FUNCTION_ROWS; i++) {
		if (compiled_table_find(&rules->table.table, *end, &next) || next.begins)
			break;
		*end = next.end;
	}
	return true;
}

int inferred_rules_covered(struct inferred_rules *rules, bool analyse,
			   const struct bobbin_range *within, function_sink sink, void *ctx)
{
	uint64_t at = within->start;
	int r = 0;

	if (!(analyse ? is_there(rules) : is_there_or_kept(rules)))
		return 0;
	while (at < within->end && !r) {
		struct compiled_row found;

		if (compiled_table_find(&rules->table.table, at, &found) || found.end <= at) {
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

void inferred_rules_fini(struct inferred_rules *rules)
{
	kept_table_fini(&rules->table);
	coverage_fini(&rules->others);
}

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	struct inferred_rules *rules = table;
	struct compiled_row found;
	int r;

	if (!is_there(rules))
		return -ENODATA;
	r = compiled_table_find(&rules->table.table, pc, &found);
	if (!r)
		r = compiled_table_rule(&rules->table.table, &found, &ret->row.rule);
	if (r)
		return -ENOENT;
	ret->row.start = found.start;
	ret->row.end = found.end;
	ret->row.function = compiled_table_function(&rules->table.table, &found);
	return 0;
}

/* Whoever asks for names does not wait for code to be analysed. */
static bool no_function(const void *table, uint64_t pc, uint64_t *ret)
{
	return false;
}

const struct table_ops inferred_rules_ops = {
	.kind = TABLE_INFERRED,
	.sources = {BOBBIN_SOURCE_CODE},
	.lookup = lookup,
	.function = no_function,
};
