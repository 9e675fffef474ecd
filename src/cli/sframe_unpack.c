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
#include "convert/function_rows.h"
#include "convert/section_maker.h"
#include "elf/elf_image.h"
#include "sidefile/sidefile.h"
#include "sidefile/sidefile_path.h"

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
 * @maker: the section
 * @rows: memory for one function
 * @left_out: functions that this version cannot express
 */
struct unpacking {
	struct section_maker maker;
	struct function_rows rows;
	uint64_t left_out;
};

static int add_block(struct unpacking *u, const struct bobbin_sframe_view *view,
		     struct bobbin_error *err)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_function f;
		int r = function_rows_read(&u->rows, view, i, err, &f);

		if (r > 0)
			r = section_maker_add(&u->maker, &f);
		if (r == -ERANGE)
			u->left_out++;
		else if (r < 0)
			return r;
	}
	return 0;
}

static int add_blocks(struct unpacking *u, struct sidefile *sidefile, struct bobbin_error *err)
{
	for (uint32_t i = 0; i < sidefile_head(sidefile)->block_count; i++) {
		struct bobbin_sframe_view view;
		int r = sidefile_block(sidefile, i, err, &view);

		if (!r)
			r = add_block(u, &view, err);
		if (r)
			return r;
	}
	return 0;
}

static int make_section(const struct arguments *a, struct sidefile *sidefile,
			struct bobbin_error *err, struct unpacking *u, uint8_t **data,
			uint64_t *size)
{
	int r = section_maker_init(sidefile_head(sidefile)->arch, a->address,
				   (unsigned int)a->version, false, 0, &u->maker);

	if (r)
		return r;
	r = add_blocks(u, sidefile, err);
	if (!r)
		r = section_maker_finish(&u->maker, data, size);
	section_maker_fini(&u->maker);
	function_rows_fini(&u->rows);
	return r;
}

/* The section of an open side-file; complains. */
static bool unpack(const struct arguments *a, const char *path, struct sidefile *sidefile)
{
	struct unpacking u = {0};
	struct bobbin_error error = {0};
	uint8_t *data = NULL;
	uint64_t size;
	bool good;
	int r = make_section(a, sidefile, &error, &u, &data, &size);

	if (!accept_file(path, r, &error))
		return false;
	if (u.left_out)
		complain("%s: %" PRIu64 " functions are left out: %s", path, u.left_out,
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
