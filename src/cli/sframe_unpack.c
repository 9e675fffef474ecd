/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_unpack.c - bobbin sframe unpack: the section that a side-file holds.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "cli/sframe_command.h"
#include "convert/fde_list.h"
#include "convert/function_list.h"
#include "elf/elf_image.h"
#include "sidefile/sidefile.h"
#include "table/table_builder.h"

/*
 * Rows that are collected for one function, and of a file for each of its bytes beside those
 * that repeat: real files have one or two.
 */
#define MAX_FUNCTION_ROWS (1u << 20)
#define MAX_ROWS_PER_BYTE 4

/* Bytes of a build ID in hexadecimal digits; 0: it is none. */
static uint8_t parse_build_id(const char *text, uint8_t id[ELF_BUILD_ID_MAX])
{
	size_t length = strlen(text);

	if (length % 2 || length < 4 || length > 2 * ELF_BUILD_ID_MAX)
		return 0;
	for (size_t i = 0; i < length; i += 2)
		if (!isxdigit((unsigned char)text[i]) || !isxdigit((unsigned char)text[i + 1]) ||
		    sscanf(text + i, "%2hhx", &id[i / 2]) != 1)
			return 0;
	return (uint8_t)(length / 2);
}

/* Of @name as a build ID, or of the file with that name; 0 after a complaint. */
static uint8_t build_id_of(const char *name, uint8_t id[ELF_BUILD_ID_MAX])
{
	uint8_t length = parse_build_id(name, id);
	int fd, r;

	if (length)
		return length;
	fd = open_input(name);
	if (fd < 0)
		return 0;
	r = elf_build_id(fd, id, &length);
	close(fd);
	if (r)
		complain("%s: %s", name, r == -EBADMSG ? "not an ELF file" : strerror(-r));
	else if (length < 2)
		complain("%s: there is no build ID to find a side-file by", name);
	return r || length < 2 ? 0 : length;
}

/**
 * struct wanted - the side-file to unpack
 * @path: to be free()d; NULL after a complaint
 * @id, @length: the build ID that it must have, or 0
 */
struct wanted {
	char *path;
	uint8_t id[ELF_BUILD_ID_MAX], length;
};

static struct wanted wanted_by(const struct arguments *a)
{
	const char *folder = a->operand_count > 1 ? a->operands[0] : NULL;
	const char *name = a->operands[a->operand_count - 1];
	struct wanted w = {0};

	if (folder)
		w.length = build_id_of(name, w.id);
	if (!folder)
		w.path = strdup(name);
	else if (w.length)
		w.path = sidefile_path(folder, strlen(folder), w.id, w.length);
	if (!w.path && (!folder || w.length))
		complain_file(name, -ENOMEM, NULL);
	return w;
}

static bool is_wanted(const struct wanted *w, const struct sidefile_head *head)
{
	if (!w->length ||
	    (head->build_id_len == w->length && !memcmp(head->build_id, w->id, w->length)))
		return true;
	complain("%s: a side-file for another build ID", w->path);
	return false;
}

/**
 * struct unpacking - a section in the making
 * @sidefile: where the rows come from
 * @maker: the section
 * @list: the rows that are being collected for a function
 * @taken: rows of all blocks so far
 * @left_out: rows that this version cannot express
 */
struct unpacking {
	struct sidefile *sidefile;
	struct section_maker maker;
	struct function_list list;
	uint64_t taken, left_out;
};

/* The first of the rows of lazy-binding stubs, which repeat to the function's end; or @count. */
static size_t find_stubs(const struct rule_row *rows, size_t count, uint64_t end)
{
	size_t i = count;

	if (i < 4 || end - rows[i - 2].start != STUB_SIZE)
		return i;
	for (i--; i > 1; i--)
		if (rows[i].start != rows[i - 2].start + STUB_SIZE ||
		    rows[i].rule != rows[i - 2].rule)
			break;
	i--;
	i += (count - i) % 2;
	return rows[i].start % STUB_SIZE || count - i < 4 ? count : i;
}

static bool is_signal(const struct bobbin_rule *rule)
{
	return rule->flags & BOBBIN_RULE_SIGNAL;
}

/* Whether the rows that are being collected are those of a signal's caller. */
static bool has_signal(const struct unpacking *u)
{
	return is_signal(rule_rows_rule(&u->list.rows, 0));
}

static void leave_out(void *ctx, uint64_t start, uint64_t end)
{
	struct unpacking *u = ctx;

	u->left_out++;
}

static int add_rows(struct unpacking *u, size_t first, size_t count, uint64_t end)
{
	const struct row_run run = {
		.first = first,
		.count = count,
		.end = end,
		.signal = has_signal(u),
		.lost = leave_out,
		.ctx = u,
	};

	return function_list_add_run(&u->list, &run);
}

static int add_stubs(struct unpacking *u, size_t first, uint64_t end)
{
	const uint64_t start = u->list.rows.row[first].start;
	struct listed_function f = {
		.start = start,
		.size = (uint32_t)(end - start),
		.rep_size = STUB_SIZE,
		.signal = has_signal(u),
		.first = first,
		.count = 2,
	};

	return function_list_add(&u->list, &f);
}

/* The rows that have been collected, and end at @end. */
static int add_function(struct unpacking *u, uint64_t end)
{
	const struct rule_row *rows = u->list.rows.row;
	size_t count = u->list.rows.count, stubs = find_stubs(rows, count, end);
	int r = 0;

	if (stubs)
		r = add_rows(u, 0, stubs, stubs < count ? rows[stubs].start : end);
	if (!r && stubs < count) {
		r = add_stubs(u, stubs, end);
		if (function_list_refused(r))
			r = add_rows(u, stubs, count - stubs, end);
	}
	return r ? r : function_list_move(&u->list, &u->maker);
}

/* Whether a row belongs to the rows that have been collected. */
static bool goes_on(const struct unpacking *u, const struct rule_row *row,
		    const struct bobbin_rule *rule, uint64_t end)
{
	const struct rule_rows *rows = &u->list.rows;

	return rule->cfa.how && !row->begins && end - rows->row[0].start <= UINT32_MAX &&
	       rows->count < MAX_FUNCTION_ROWS && is_signal(rule) == has_signal(u);
}

/* A row of the side-file; those that belong together become a function. */
static int add_row(struct unpacking *u, const struct rule_row *row, uint64_t end)
{
	struct rule_rows *rows = &u->list.rows;
	struct rule_row known = {.start = row->start};
	struct bobbin_rule rule;
	int r = sidefile_rule(u->sidefile, row->rule, &rule), flushed = 0;

	if (r == -EBADMSG)
		return r;
	if (rows->count && (r || !goes_on(u, row, &rule, end)))
		flushed = add_function(u, row->start);
	if (flushed || r)
		return flushed;
	if (!rule.cfa.how || end - row->start > UINT32_MAX) {
		u->left_out++;
		return 0;
	}
	r = rule_pool_of_rule(&rows->rules, &rule, &known.rule);
	return r ? r : rule_rows_push(rows, known);
}

static int add_block(struct unpacking *u, const struct block_rows *block)
{
	int r = 0;

	for (uint32_t i = 0; i < block->count && !r; i++)
		r = add_row(u, &block->rows[i],
			    i + 1 < block->count ? block->rows[i + 1].start : block->end);
	return r;
}

/* Rows that a side-file of this size may have: what repeats compresses to next to nothing. */
static uint64_t most_rows(const struct sidefile_head *head)
{
	const struct sidefile_block *last = &head->blocks[head->block_count - 1];

	return TABLE_MAX_REPEATED + MAX_ROWS_PER_BYTE * (last->offset + last->size);
}

static int add_blocks(struct unpacking *u, struct bobbin_error *err)
{
	const struct sidefile_head *head = sidefile_head(u->sidefile);

	for (uint32_t i = 0; i < head->block_count; i++) {
		const struct block_rows *block;
		int r = sidefile_block(u->sidefile, i, err, &block);

		if (!r && (u->taken += block->count) > most_rows(head))
			r = -E2BIG;
		if (!r)
			r = add_block(u, block);
		if (r == -EBADMSG && err->reason == BOBBIN_REASON_NONE)
			*err = (struct bobbin_error){head->blocks[i].offset,
						     BOBBIN_REASON_SIDEFILE_BLOCK};
		if (r)
			return r;
	}
	return add_function(u, head->end);
}

static int make_section(const struct arguments *a, struct bobbin_error *err, struct unpacking *u,
			uint8_t **data, uint64_t *size)
{
	int r = section_maker_init(sidefile_head(u->sidefile)->arch, a->address,
				   (unsigned int)a->version, false, 0, &u->maker);

	if (r)
		return r;
	r = function_list_init(&u->maker.builder, 1, &u->list);
	if (!r)
		r = add_blocks(u, err);
	if (!r)
		r = section_maker_finish(&u->maker, data, size);
	function_list_fini(&u->list);
	section_maker_fini(&u->maker);
	return r;
}

/* The section of an open side-file; complains. */
static bool unpack(const struct arguments *a, const char *path, struct sidefile *sidefile)
{
	struct unpacking u = {.sidefile = sidefile};
	struct bobbin_error error = {0};
	uint8_t *data = NULL;
	uint64_t size;
	bool good;
	int r = make_section(a, &error, &u, &data, &size);

	if (r == -E2BIG) {
		complain("%s: there are more rows than is sane", path);
		return false;
	}
	if (!accept_file(path, r, &error))
		return false;
	if (u.left_out)
		complain("%s: %" PRIu64 " rows are left out: %s", path, u.left_out,
			 bobbin_reason_str(BOBBIN_REASON_SFRAME_RULE));
	good = output_put_bytes(a->output, -1, data, size);
	free(data);
	return good;
}

static bool unpack_wanted(const struct arguments *a, const struct wanted *w)
{
	struct bobbin_error error = {0};
	struct sidefile *sidefile;
	int fd = open_regular_input(w->path), r;
	bool good;

	if (fd < 0)
		return false;
	r = sidefile_open(fd, &error, &sidefile);
	if (r) {
		close(fd);
		complain_file(w->path, r, &error);
		return false;
	}
	good = is_wanted(w, sidefile_head(sidefile)) && unpack(a, w->path, sidefile);
	sidefile_close(sidefile);
	return good;
}

int run_sframe_unpack(struct arguments *a)
{
	struct wanted wanted;
	bool good;

	if (!spares_terminal(a))
		return EXIT_USAGE;
	wanted = wanted_by(a);
	good = wanted.path && unpack_wanted(a, &wanted);
	free(wanted.path);
	return !good;
}
