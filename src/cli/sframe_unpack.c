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

#include "cli/command_table.h"
#include "cli/output_file.h"
#include "cli/section_pool.h"
#include "cli/sframe_command.h"
#include "convert/fde_list.h"
#include "convert/function_rows.h"
#include "convert/section_maker.h"
#include "elf/elf_image.h"
#include "sidefile/sidefile.h"
#include "sidefile/sidefile_path.h"
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
 * @rows: of the function that is being collected, from its start
 * @start: of it
 * @taken: rows of all blocks so far
 * @left_out: rows that this version cannot express
 */
struct unpacking {
	struct sidefile *sidefile;
	struct section_maker maker;
	struct function_rows rows;
	uint64_t start, taken, left_out;
};

/* The first of the rows of lazy-binding stubs, which repeat to the function's end; or @count. */
static size_t find_stubs(const struct function_rows *f, uint64_t start, uint64_t end)
{
	const struct bobbin_sframe_row *rows = f->rows;
	size_t i = f->count;

	if (i < 4 || end - start - rows[i - 2].start != STUB_SIZE)
		return i;
	for (i--; i > 1; i--)
		if (rows[i].start != rows[i - 2].start + STUB_SIZE ||
		    !bobbin_rule_equal(&rows[i].rule, &rows[i - 2].rule))
			break;
	i--;
	i += (f->count - i) % 2;
	return (start + rows[i].start) % STUB_SIZE || f->count - i < 4 ? f->count : i;
}

/* Some of the rows, up to @end, as a function. */
static int add_rows(struct unpacking *u, size_t first, size_t count, uint64_t end, bool stubs)
{
	struct bobbin_sframe_row *rows = u->rows.rows + first;
	const uint32_t base = rows->start;
	struct bobbin_sframe_function f = {
		.start = u->start + base,
		.size = (uint32_t)(end - u->start - base),
		.signal = rows->rule.flags & BOBBIN_RULE_SIGNAL,
		.rows = rows,
		.count = (uint32_t)count,
	};
	int r;

	if (stubs) {
		f.rep_size = STUB_SIZE;
		f.count = 2;
	}
	for (size_t i = 0; i < count; i++)
		rows[i].start -= base;
	r = section_maker_add(&u->maker, &f);
	for (size_t i = 0; i < count; i++)
		rows[i].start += base;
	return r;
}

/* Put rows into as few functions as can express them, found by halving and doubling. */
static int add_pieces(struct unpacking *u, size_t first, size_t count, uint64_t end)
{
	size_t piece = count;

	while (count) {
		uint64_t next = end;
		int r;

		piece = piece < count ? piece : count;
		if (piece < count)
			next = u->start + u->rows.rows[first + piece].start;
		r = add_rows(u, first, piece, next, false);
		if ((r == -ERANGE || r == -EINVAL) && piece > 1) {
			piece /= 2;
			continue;
		}
		if (r && r != -ERANGE && r != -EINVAL)
			return r;
		u->left_out += !!r;
		first += piece;
		count -= piece;
		piece *= 2;
	}
	return 0;
}

/* The rows that have been collected, and end at @end. */
static int add_function(struct unpacking *u, uint64_t end)
{
	size_t count = u->rows.count, stubs = find_stubs(&u->rows, u->start, end);
	uint64_t middle = stubs < count ? u->start + u->rows.rows[stubs].start : end;
	int r = add_pieces(u, 0, stubs, middle);

	if (!r && stubs < count) {
		r = add_rows(u, stubs, count - stubs, end, true);
		if (r == -ERANGE || r == -EINVAL)
			r = add_pieces(u, stubs, count - stubs, end);
	}
	u->rows.count = 0;
	return r;
}

/* A row of the side-file; those that belong together become a function. */
static int add_row(struct unpacking *u, const struct rule_row *row, uint64_t end)
{
	const uint64_t start = row->start;
	struct bobbin_rule rule;
	int r = sidefile_rule(u->sidefile, row->rule, &rule), flushed = 0;

	if (r == -EBADMSG)
		return r;
	if (u->rows.count && (r || !rule.cfa.how || row->begins || end - u->start > UINT32_MAX ||
			      u->rows.count == MAX_FUNCTION_ROWS))
		flushed = add_function(u, start);
	if (flushed || r)
		return flushed;
	if (!rule.cfa.how || end - start > UINT32_MAX) {
		u->left_out++;
		return 0;
	}
	if (!u->rows.count)
		u->start = start;
	return function_rows_push(&u->rows,
				  (struct bobbin_sframe_row){(uint32_t)(start - u->start), rule});
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
	r = add_blocks(u, err);
	if (!r)
		r = section_maker_finish(&u->maker, data, size);
	section_maker_fini(&u->maker);
	function_rows_fini(&u->rows);
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
