/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_dump.c - bobbin sframe dump: print what SFrame sections hold.
 *
 * Damage costs what it concerns and no more: the row and those after it in its
 * function, the function, the rest of the section.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/sframe_command.h"
#include "cli/sframe_listing.h"

/*
 * Functions may share rows, so a small section can claim to have enormously many.
 * No more are printed than if each byte of the rows were shared by so many.
 */
#define MAX_SHARING 16

/**
 * struct dump - a dump on its way
 * @form: how to print
 * @out: where to print
 * @first: the first defect of the file, with its offset in the file
 * @defects: of the file
 * @base: offset in the file of the bytes that are being looked at
 * @rows_left: rows of the table that may still be printed
 */
struct dump {
	const struct listing_form *form;
	struct json_output out;
	struct bobbin_error first;
	uint64_t defects, base, rows_left;
};

const char *const listing_flags[LISTING_FLAGS] = {
	"SFRAME_F_FDE_SORTED",
	"SFRAME_F_FRAME_POINTER",
	"SFRAME_F_FDE_FUNC_START_PCREL",
};

const char *listing_abi(const struct bobbin_sframe_view *view)
{
	switch (view->data[4]) {
	case 1:
		return "AArch64 (big-endian)";
	case 2:
		return "AArch64 (little-endian)";
	case 3:
		return "AMD64";
	default:
		return "s390x";
	}
}

uint8_t listing_header_flags(const struct bobbin_sframe_view *view)
{
	return view->data[3];
}

static void note_defect(struct dump *dump, const struct bobbin_error *error)
{
	struct bobbin_error found = {dump->base + error->offset, error->reason};

	if (!dump->defects++)
		dump->first = found;
	dump->form->defect(&dump->out, found.offset, found.reason);
}

/* False: nothing can be said about the rows after it. */
static bool dump_row(struct dump *dump, const struct listing_function *function, uint64_t *offset)
{
	const struct bobbin_sframe_view *view = &function->table->view;
	struct bobbin_sframe_fre fre;
	struct bobbin_error error;
	struct bobbin_rule rule;

	if (!dump->rows_left) {
		error = (struct bobbin_error){*offset, BOBBIN_REASON_SFRAME_SHARED};
		note_defect(dump, &error);
		return false;
	}
	dump->rows_left--;
	if (bobbin_sframe_fre(view, &function->fde, *offset, &error, &fre)) {
		note_defect(dump, &error);
		return false;
	}
	if (bobbin_sframe_rule(view, &function->fde, &fre, &error, &rule))
		note_defect(dump, &error);
	else
		dump->form->row(&dump->out, function, &fre, &rule);
	*offset = fre.next;
	return true;
}

static void dump_function(struct dump *dump, const struct listing_table *table, uint32_t index)
{
	const struct bobbin_sframe_view *view = &table->view;
	uint64_t field = table->at + view->fde_off + (uint64_t)index * view->fde_size;
	struct listing_function function = {
		.table = table,
		.index = index,
		.target = sframe_section_target(table->section, field),
	};
	struct bobbin_error error;
	uint64_t offset;

	if (bobbin_sframe_fde(view, index, &error, &function.fde)) {
		note_defect(dump, &error);
		return;
	}
	dump->form->function(&dump->out, &function);
	offset = function.fde.fre_off;
	for (uint32_t i = 0; i < function.fde.num_fres; i++)
		if (!dump_row(dump, &function, &offset))
			break;
	dump->form->function_end(&dump->out);
}

static void dump_table(struct dump *dump, const struct listing_table *table)
{
	dump->base = table->section->offset + table->at;
	dump->rows_left = (uint64_t)table->view.fre_len * MAX_SHARING;
	dump->form->table(&dump->out, table);
	for (uint32_t i = 0; i < table->view.num_fdes; i++)
		dump_function(dump, table, i);
	dump->form->table_end(&dump->out);
}

static void dump_section(struct dump *dump, const struct sframe_section *section)
{
	struct listing_table table = {.section = section};
	uint64_t pos = 0, padding = section->size;
	struct bobbin_error error;
	int r;

	dump->form->section(&dump->out, section);
	while ((r = sframe_section_next(section, &pos, &error, &table.view)) > 0) {
		table.at = (uint64_t)(table.view.data - section->data);
		dump_table(dump, &table);
		padding -= table.view.size;
		table.number++;
	}
	if (!r && !section->size) {
		error = (struct bobbin_error){0, BOBBIN_REASON_SFRAME_EMPTY};
		r = -EBADMSG;
	}
	if (r < 0) {
		dump->base = section->offset;
		note_defect(dump, &error);
		padding -= section->size - pos;
	}
	dump->form->section_end(&dump->out, padding);
}

static void dump_sections(struct dump *dump, const char *path, const struct sframe_file *file)
{
	dump->form->file(&dump->out, path, file);
	for (size_t i = 0; i < file->section_count; i++)
		dump_section(dump, &file->sections[i]);
	dump->form->sections_end(&dump->out);
	for (size_t i = 0; i < file->absence_count; i++)
		dump->form->absence(&dump->out, &file->absences[i]);
	dump->form->file_end(&dump->out);
}

static bool is_sound(const struct dump *dump, const char *path, const struct sframe_file *file)
{
	if (dump->defects == 1)
		complain_file(path, -EBADMSG, &dump->first);
	else if (dump->defects)
		complain("%s: offset 0x%" PRIx64 ": %s; the first of %" PRIu64 " defects", path,
			 dump->first.offset, bobbin_reason_str(dump->first.reason), dump->defects);
	else if (!file->section_count)
		complain("%s: no SFrame section%s", path,
			 file->absence_count ? " that can be read" : "");
	return !dump->defects && file->section_count;
}

static int dump_file(void *ctx, const char *path)
{
	struct dump *dump = ctx;
	struct sframe_file file;
	bool sound;

	if (!read_sframe_file(path, &file))
		return 1;
	dump->defects = 0;
	dump_sections(dump, path, &file);
	sound = is_sound(dump, path, &file);
	sframe_file_fini(&file);
	return !sound;
}

int run_sframe_dump(struct arguments *a)
{
	struct dump dump = {
		.form = a->json ? &sframe_json : &sframe_text,
		.out = json_output(stdout),
	};

	return report_files(a, &dump.out, &(struct file_report){dump_file, NULL, &dump, 1});
}
