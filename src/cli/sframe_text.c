/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_text.c - an SFrame dump for people, close to what objdump --sframe
 * prints.  What objdump has no place for comes before "Header :" and at the
 * ends of lines.
 */
#include <inttypes.h>

#include "cli/sframe_listing.h"
#include "cli/sframe_spelling.h"
#include "export/safe_text.h"

static void print_file(struct json_output *json, const char *path, const struct sframe_file *file)
{
	safe_text_plain(json->out, path);
	if (file->arch)
		fprintf(json->out, ": ELF file, %s\n", file->arch->name);
	else
		fputs(": bytes\n", json->out);
}

static void print_section(struct json_output *json, const struct sframe_section *section)
{
	FILE *out = json->out;

	fputs("\nContents of the SFrame section ", out);
	safe_text_plain(out, section->name);
	fputs(":\n  Place :\n\n", out);
	if (section->image) {
		fputs("    Mapped file: ", out);
		safe_text_plain(out, section->image);
		fputs(section->from_image ? " (the core file lacks the section)\n" : "\n", out);
	}
	fprintf(out, "    File offset: 0x%" PRIx64 "\n", section->offset);
	fprintf(out, "    Address: 0x%" PRIx64 "%s\n", section->addr,
		section->relocated ? " (relocatable, each section is at 0)" : "");
	fprintf(out, "    Size: %" PRIu64 " bytes\n", section->size);
}

static void print_flags(FILE *out, uint8_t flags)
{
	const char *between = "";

	fputs("    Flags: ", out);
	for (unsigned int i = 0; i < LISTING_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		fprintf(out, "%s%s", between, listing_flags[i]);
		between = ",\n           ";
	}
	fputs(flags ? "\n" : "NONE\n", out);
}

static void print_table(struct json_output *json, const struct listing_table *table)
{
	const struct bobbin_sframe_view *view = &table->view;
	FILE *out = json->out;

	if (table->number)
		fprintf(out, "\n  Table %" PRIu32 " of the same section, at 0x%" PRIx64 " :\n\n",
			table->number + 1, table->at);
	fprintf(out, "    Table: %" PRIu64 " bytes, %" PRIu32 " of them rows, ABI %s\n", view->size,
		view->fre_len, listing_abi(view));
	fprintf(out, "\n  Header :\n\n    Version: SFRAME_VERSION_%u\n", view->version);
	print_flags(out, listing_header_flags(view));
	if (view->fixed_fp)
		fprintf(out, "    CFA fixed FP offset: %d\n", view->fixed_fp);
	if (view->fixed_ra)
		fprintf(out, "    CFA fixed RA offset: %d\n", view->fixed_ra);
	fprintf(out, "    Num FDEs: %" PRIu32 "\n    Num FREs: %" PRIu32 "\n", view->num_fdes,
		view->num_fres);
	fputs("\n  Function Index :\n\n", out);
}

static void print_target(FILE *out, const struct sframe_target *target)
{
	if (target->section) {
		fputs(", section = ", out);
		safe_text_plain(out, target->section);
	}
	if (target->symbol) {
		fputs(", symbol = ", out);
		safe_text_plain(out, target->symbol);
	}
}

static void print_function(struct json_output *json, const struct listing_function *function)
{
	const struct bobbin_sframe_fde *fde = &function->fde;
	FILE *out = json->out;

	fprintf(out, "    func idx [%" PRIu32 "]: pc = 0x%" PRIx64 ", size = %" PRIu32 " bytes",
		function->index, fde->start, fde->size);
	if (fde->signal || fde->flex)
		fprintf(out, ", attr = \"%s%s\"", fde->signal ? "S" : "", fde->flex ? "F" : "");
	if (fde->key_b)
		fputs(", pauth = B key", out);
	if (fde->pcmask)
		fprintf(out, ", block = %u bytes", fde->rep_size);
	if (function->target)
		print_target(out, function->target);
	fprintf(out, "\n    STARTPC%s  CFA       FP        RA\n",
		fde->pcmask ? "[m]    " : "       ");
}

static void print_row(struct json_output *json, const struct listing_function *function,
		      const struct bobbin_sframe_fre *fre, const struct bobbin_rule *rule)
{
	const struct bobbin_sframe_fde *fde = &function->fde;
	struct sframe_spelling spelling;

	fprintf(json->out, "    %016" PRIx64 "  ", fre->start + (fde->pcmask ? 0 : fde->start));
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED) {
		fputs("RA undefined\n", json->out);
		return;
	}
	spelling = sframe_spell(&function->table->view, fde, fre, rule);
	fprintf(json->out, "%-9s %-9s %s\n", spelling.cfa, spelling.fp, spelling.ra);
}

static void print_defect(struct json_output *json, uint64_t offset, enum bobbin_reason reason)
{
	fprintf(json->out, "    defect at offset 0x%" PRIx64 ": %s\n", offset,
		bobbin_reason_str(reason));
}

static void end_line(struct json_output *json)
{
	putc('\n', json->out);
}

static void print_nothing(struct json_output *json)
{
}

static void print_padding(struct json_output *json, uint64_t padding)
{
	if (padding)
		fprintf(json->out, "  Padding: %" PRIu64 " zero bytes\n", padding);
}

static void print_absence(struct json_output *json, const struct sframe_absence *absence)
{
	fputs("\nNot in the core file, nor in a file with the build ID: ", json->out);
	safe_text_plain(json->out, absence->image);
	fprintf(json->out, " at 0x%" PRIx64 "\n", absence->addr);
}

const struct listing_form sframe_text = {
	.file = print_file,
	.section = print_section,
	.table = print_table,
	.function = print_function,
	.row = print_row,
	.defect = print_defect,
	.function_end = end_line,
	.table_end = print_nothing,
	.section_end = print_padding,
	.sections_end = print_nothing,
	.absence = print_absence,
	.file_end = print_nothing,
};
