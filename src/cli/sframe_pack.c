/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_pack.c - bobbin sframe pack: files' unwind tables as side-files, or as compiled tables.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/build_id_path.h"
#include "cli/output_file.h"
#include "cli/sframe_command.h"
#include "export/safe_text.h"
#include "sidefile/sidefile.h"

#define MAX_SECTIONS 8

/* What the file @path says about its code. */
struct file_tables {
	const char *path;
	struct file_cfi cfi;
	struct bobbin_sframe_view sframe[MAX_SECTIONS];
	unsigned int sframe_count;
};

static bool take_sframe(const char *path, struct file_tables *t)
{
	const struct elf_bytes *s = &t->cfi.image.sframe;
	struct bobbin_error error = {0};
	uint64_t pos = 0;
	int r = 1;

	while (s->data && r > 0) {
		struct bobbin_sframe_view view;

		r = bobbin_sframe_next(s->data, s->size, s->addr, &pos, &error, &view);
		if (r > 0 && t->sframe_count == MAX_SECTIONS) {
			complain("%s: .sframe: more than %d sections in one: repair it first", path,
				 MAX_SECTIONS);
			return false;
		}
		if (r > 0)
			t->sframe[t->sframe_count++] = view;
	}
	if (r >= 0)
		return true;
	complain("%s: .sframe: offset 0x%" PRIx64 ": %s", path, error.offset,
		 bobbin_reason_str(error.reason));
	return false;
}

static void tell_left_out(void *ctx, const struct merge_report *report)
{
	const struct file_tables *t = ctx;
	const uint8_t *section = t->sframe[report->view].data;

	complain_function(t->path, " .sframe:",
			  (uint64_t)(section - t->cfi.image.sframe.data) + report->offset, report);
}

/* What a side-file can be made of; complains. */
static bool take_sources(const struct arguments *a, const char *path, struct file_tables *t,
			 struct table_sources *ret)
{
	if (t->cfi.image.build_id_len < 2) {
		complain("%s: there is no build ID to find a side-file by", path);
		return false;
	}
	if (!take_sframe(path, t))
		return false;
	*ret = (struct table_sources){
		.arch = t->cfi.arch,
		.sframe = t->sframe,
		.sframe_count = t->sframe_count,
		.cfi = t->cfi.views,
		.cfi_count = t->cfi.count,
		.sane_stubs = true,
		.report = a->quiet ? NULL : tell_left_out,
		.ctx = t,
	};
	if (ret->sframe_count || ret->cfi_count)
		return true;
	complain("%s: there are no unwind tables", path);
	return false;
}

/* The folders above a file, but for the one that all are in. */
static int make_folders(const char *folder, char *path)
{
	char *name = strrchr(path, '/');
	int r;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return -errno;
	*name = '\0';
	r = mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
	*name = '/';
	return r;
}

static void tell_packed(const char *file, const char *path, uint64_t size)
{
	safe_text_place(stdout, file);
	safe_text_plain(stdout, path);
	printf(", %" PRIu64 " bytes\n", size);
}

/* DIR/NN/NNNN….table, as docs/compiled-table.md has it, or the path of a side-file; NULL: no memory. */
static char *packed_path(const struct arguments *a, const struct elf_image *image)
{
	const char *folder = a->operands[0];

	if (!a->compiled)
		return sidefile_path(folder, strlen(folder), image->build_id, image->build_id_len);
	return build_id_file(folder, strlen(folder), image->build_id, image->build_id_len,
			     ".table");
}

static bool write_packed(const struct arguments *a, const struct elf_image *image, const char *file,
			 struct sidefile_output *output)
{
	char *path = packed_path(a, image);
	int r = path ? make_folders(a->operands[0], path) : -ENOMEM;
	bool good = !r && (a->compiled ? output_put_bytes(path, -1, output->data, output->size)
				       : sidefile_output_put(output, path));

	if (r)
		complain_file(path ? path : file, r, NULL);
	if (good && !a->quiet)
		tell_packed(file, path, output->size);
	free(path);
	return good;
}

/* Those of relocatable files mean nothing before they are linked. */
static bool open_linked(const char *path, struct file_cfi *ret)
{
	const struct bobbin_error error = {offsetof(Elf64_Ehdr, e_type), BOBBIN_REASON_ELF_TYPE};

	if (!file_cfi_open(path, ret))
		return false;
	if (!ret->object.arch)
		return true;
	complain_file(path, -EBADMSG, &error);
	file_cfi_close(ret);
	return false;
}

static bool pack(const struct arguments *a, const char *path)
{
	struct file_tables tables = {.path = path};
	struct table_sources sources;
	struct sidefile_output output = {0};
	bool good;

	if (!open_linked(path, &tables.cfi))
		return false;
	good = take_sources(a, path, &tables, &sources) &&
	       sidefile_output_init(path, &tables.cfi.image, &sources, a->compiled, &output) &&
	       write_packed(a, &tables.cfi.image, path, &output);
	sidefile_output_fini(&output);
	file_cfi_close(&tables.cfi);
	return good;
}

int run_sframe_pack(struct arguments *a)
{
	bool good = true;

	for (int i = 1; i < a->operand_count; i++)
		good &= pack(a, a->operands[i]);
	return !finish_output() || !good;
}
