/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_dump.c - bobbin sframe dump: print what SFrame sections hold.
 *
 *	file { section { table { function { row } } } absence }
 *
 * A defect may stand wherever a section, table, function or row may.  Addresses
 * are as the section has them; offsets count from the start of the file.  Damage costs what it
 * concerns and no more: the row and those after it in its function, the function, the rest of the
 * section.
 *
 * The text is close to what objdump --sframe prints.  What objdump has no place for comes before
 * "Header :" and at the ends of lines.
 */
#include <bobbin/sframe.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/sframe_command.h"
#include "core/rule_spelling.h"
#include "export/safe_text.h"

/**
 * struct listing_table - one SFrame table; several may stand in one section
 * @section: that it stands in
 * @view: of it
 * @at: its offset in the section
 * @number: of the table in its section, from 0
 */
struct listing_table {
	const struct sframe_section *section;
	struct bobbin_sframe_view view;
	uint64_t at;
	uint32_t number;
};

/**
 * struct listing_function - one function
 * @table: that it stands in
 * @index: of it
 * @fde: the entry
 * @target: what a relocation says about it, or NULL
 */
struct listing_function {
	const struct listing_table *table;
	uint32_t index;
	struct bobbin_sframe_fde fde;
	const struct sframe_target *target;
};

/* The names of the header's flags, by bit. */
static const char *const flag_names[] = {
	"SFRAME_F_FDE_SORTED",
	"SFRAME_F_FRAME_POINTER",
	"SFRAME_F_FDE_FUNC_START_PCREL",
};

#define FLAGS (sizeof(flag_names) / sizeof(*flag_names))

/* "AMD64" and so on, of a table's ABI. */
static const char *listing_abi(const struct bobbin_sframe_view *view)
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

/* The flags as they stand in the header; a view may have others. */
static uint8_t listing_header_flags(const struct bobbin_sframe_view *view)
{
	return view->data[3];
}

/*
 * A row in few characters:
 *
 *	sp+16	the value of a register and an offset; r16-30 on x86-64: of the PC
 *	r17	the value of a register (version 2, s390x)
 *	(fp-8)	the value in memory there
 *	c-16	the value in memory at this offset from the CFA
 *	=c-16	the CFA and this offset, not loaded
 *	u	unchanged, the row says nothing
 *	f	in the slot that the header fixes, the row says nothing
 *	U	as u or f, and the row says so with a padding word
 *	[s]	after a return address: it is signed
 *
 * The spelling is objdump's, but for the sign of a negative offset, which stands
 * alone ("sp-8", not "sp+-8"), and for "=c", which objdump shows as "c".
 */
struct sframe_spelling {
	char cfa[PLACE_SPELLING_MAX], fp[PLACE_SPELLING_MAX], ra[PLACE_SPELLING_MAX];
};

/* What a row has words for. */
struct given {
	bool ra, ra_padding, fp;
};

/* A control word of 0 is padding. */
static struct given given_flex(const struct bobbin_sframe_fre *fre)
{
	unsigned int fp = fre->num_words > 2 && fre->words[2] ? 4 : 3;

	return (struct given){
		.ra = fre->num_words > 2 && fre->words[2],
		.ra_padding = fre->num_words > 2 && !fre->words[2],
		.fp = fre->num_words > fp && fre->words[fp],
	};
}

/* So is an offset of 0 on s390x, the only ABI that pads. */
static struct given given_default(const struct bobbin_sframe_view *view,
				  const struct bobbin_sframe_fre *fre)
{
	unsigned int ra = view->fixed_ra ? 0 : 1;
	bool have_ra = ra && fre->num_words > 1;
	bool padding = have_ra && !fre->words[1] && !strcmp(view->arch->name, "s390x");

	return (struct given){
		.ra = have_ra && !padding,
		.ra_padding = padding,
		.fp = fre->num_words > 1 + ra,
	};
}

/* Ordinary functions of s390x name a register that holds a value, and no offset. */
static void spell(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		  const struct bobbin_place *place, bool given, bool fixed,
		  char ret[static PLACE_SPELLING_MAX])
{
	if (!given)
		strcpy(ret, fixed ? "f" : "u");
	else if (place->how == BOBBIN_HOW_AT_REG && !fde->flex)
		register_spell(view->arch, place->reg, ret);
	else
		place_spell(view->arch, place, ret);
}

/* A place as sections name it: the PC is a register with a number. */
static struct bobbin_place sframe_named_place(const struct bobbin_sframe_view *view,
					      const struct bobbin_place *place)
{
	struct bobbin_place ret = *place;

	if (ret.how == BOBBIN_HOW_AT_PC) {
		ret.how = BOBBIN_HOW_AT_REG;
		ret.reg = view->arch->pc;
	}
	return ret;
}

/* Of a row and the rule that bobbin_sframe_rule() made of it. */
static struct sframe_spelling sframe_spell(const struct bobbin_sframe_view *view,
					   const struct bobbin_sframe_fde *fde,
					   const struct bobbin_sframe_fre *fre,
					   const struct bobbin_rule *rule)
{
	struct given given = fde->flex ? given_flex(fre) : given_default(view, fre);
	const struct bobbin_place ra = sframe_named_place(view, &rule->ra);
	struct sframe_spelling ret;

	place_spell(view->arch, &rule->cfa, ret.cfa);
	spell(view, fde, &rule->fp, given.fp, view->fixed_fp, ret.fp);
	spell(view, fde, &ra, given.ra, view->fixed_ra, ret.ra);
	if (given.ra_padding)
		strcpy(ret.ra, "U");
	if (rule->flags & BOBBIN_RULE_MANGLED)
		strcat(ret.ra, "[s]");
	return ret;
}

static void text_file(const char *path, const struct sframe_file *file)
{
	safe_text_plain(stdout, path);
	if (file->arch)
		printf(": ELF file, %s\n", file->arch->name);
	else
		fputs(": bytes\n", stdout);
}

static void text_section(const struct sframe_section *section)
{
	fputs("\nContents of the SFrame section ", stdout);
	safe_text_plain(stdout, section->name);
	fputs(":\n  Place :\n\n", stdout);
	if (section->image) {
		fputs("    Mapped file: ", stdout);
		safe_text_plain(stdout, section->image);
		fputs(section->from_image ? " (the core file lacks the section)\n" : "\n", stdout);
	}
	printf("    File offset: 0x%" PRIx64 "\n", section->offset);
	printf("    Address: 0x%" PRIx64 "%s\n", section->addr,
	       section->relocated ? " (relocatable, each section is at 0)" : "");
	printf("    Size: %" PRIu64 " bytes\n", section->size);
}

static void text_flags(uint8_t flags)
{
	const char *between = "";

	fputs("    Flags: ", stdout);
	for (unsigned int i = 0; i < FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		printf("%s%s", between, flag_names[i]);
		between = ",\n           ";
	}
	fputs(flags ? "\n" : "NONE\n", stdout);
}

static void text_table(const struct listing_table *table)
{
	const struct bobbin_sframe_view *view = &table->view;

	if (table->number)
		printf("\n  Table %" PRIu32 " of the same section, at 0x%" PRIx64 " :\n\n",
		       table->number + 1, table->at);
	printf("    Table: %" PRIu64 " bytes, %" PRIu32 " of them rows, ABI %s\n", view->size,
	       view->fre_len, listing_abi(view));
	printf("\n  Header :\n\n    Version: SFRAME_VERSION_%u\n", view->version);
	text_flags(listing_header_flags(view));
	if (view->fixed_fp)
		printf("    CFA fixed FP offset: %d\n", view->fixed_fp);
	if (view->fixed_ra)
		printf("    CFA fixed RA offset: %d\n", view->fixed_ra);
	printf("    Num FDEs: %" PRIu32 "\n    Num FREs: %" PRIu32 "\n", view->num_fdes,
	       view->num_fres);
	fputs("\n  Function Index :\n\n", stdout);
}

static void text_target(const struct sframe_target *target)
{
	if (target->section) {
		fputs(", section = ", stdout);
		safe_text_plain(stdout, target->section);
	}
	if (target->symbol) {
		fputs(", symbol = ", stdout);
		safe_text_plain(stdout, target->symbol);
	}
}

static void text_function(const struct listing_function *function)
{
	const struct bobbin_sframe_fde *fde = &function->fde;

	printf("    func idx [%" PRIu32 "]: pc = 0x%" PRIx64 ", size = %" PRIu32 " bytes",
	       function->index, fde->start, fde->size);
	if (fde->signal || fde->flex)
		printf(", attr = \"%s%s\"", fde->signal ? "S" : "", fde->flex ? "F" : "");
	if (fde->key_b)
		fputs(", pauth = B key", stdout);
	if (fde->pcmask)
		printf(", block = %u bytes", fde->rep_size);
	if (function->target)
		text_target(function->target);
	printf("\n    STARTPC%s  CFA       FP        RA\n", fde->pcmask ? "[m]    " : "       ");
}

static void text_row(const struct listing_function *function, const struct bobbin_sframe_fre *fre,
		     const struct bobbin_rule *rule)
{
	const struct bobbin_sframe_fde *fde = &function->fde;
	struct sframe_spelling spelling;

	printf("    %016" PRIx64 "  ", fre->start + (fde->pcmask ? 0 : fde->start));
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED) {
		fputs("RA undefined\n", stdout);
		return;
	}
	spelling = sframe_spell(&function->table->view, fde, fre, rule);
	printf("%-9s %-9s %s\n", spelling.cfa, spelling.fp, spelling.ra);
}

static void text_defect(uint64_t offset, enum bobbin_reason reason)
{
	printf("    defect at offset 0x%" PRIx64 ": %s\n", offset, bobbin_reason_str(reason));
}

static void text_absence(const struct sframe_absence *absence)
{
	fputs("\nNot in the core file, nor in a file with the build ID: ", stdout);
	safe_text_plain(stdout, absence->image);
	printf(" at 0x%" PRIx64 "\n", absence->addr);
}

static void json_file(struct json_output *json, const char *path, const struct sframe_file *file)
{
	json_object(json, NULL);
	json_string(json, "file", path);
	if (file->arch)
		json_string(json, "machine", file->arch->name);
	else
		json_null(json, "machine");
	json_array(json, "sections");
}

static void json_section(struct json_output *json, const struct sframe_section *section)
{
	json_object(json, NULL);
	json_string(json, "name", section->name);
	if (section->image) {
		json_string(json, "mapped_file", section->image);
		json_bool(json, "from_mapped_file", section->from_image);
	}
	json_unsigned(json, "offset", section->offset);
	json_address(json, "address", section->addr);
	json_unsigned(json, "size", section->size);
	json_bool(json, "relocatable", section->relocated);
	json_array(json, "tables");
}

static void json_flags(struct json_output *json, uint8_t flags)
{
	json_array(json, "flags");
	for (unsigned int i = 0; i < FLAGS; i++)
		if (flags & 1u << i)
			json_string(json, NULL, flag_names[i]);
	json_array_end(json);
}

static void json_table(struct json_output *json, const struct listing_table *table)
{
	const struct bobbin_sframe_view *view = &table->view;

	json_object(json, NULL);
	json_unsigned(json, "at", table->at);
	json_unsigned(json, "size", view->size);
	json_unsigned(json, "version", view->version);
	json_flags(json, listing_header_flags(view));
	json_string(json, "abi", listing_abi(view));
	json_number(json, "fixed_fp_offset", view->fixed_fp);
	json_number(json, "fixed_ra_offset", view->fixed_ra);
	json_unsigned(json, "num_fdes", view->num_fdes);
	json_unsigned(json, "num_fres", view->num_fres);
	json_unsigned(json, "fre_bytes", view->fre_len);
	json_array(json, "functions");
}

static void json_target(struct json_output *json, const struct sframe_target *target)
{
	if (target->section)
		json_string(json, "section", target->section);
	if (target->symbol)
		json_string(json, "symbol", target->symbol);
}

static void json_function(struct json_output *json, const struct listing_function *function)
{
	const struct bobbin_sframe_fde *fde = &function->fde;
	const struct bobbin_sframe_view *view = &function->table->view;

	json_object(json, NULL);
	json_unsigned(json, "index", function->index);
	json_address(json, "start", fde->start);
	json_unsigned(json, "size", fde->size);
	if (function->target)
		json_target(json, function->target);
	json_unsigned(json, "info", fde->info);
	json_unsigned(json, "info2", fde->info2);
	json_string(json, "pc_type", fde->pcmask ? "PCMASK" : "PCINC");
	json_unsigned(json, "block_size", fde->rep_size);
	json_unsigned(json, "fre_type", fde->fre_type);
	json_bool(json, "flexible", fde->flex);
	json_bool(json, "signal", fde->signal);
	if (view->arch->pac_mask)
		json_string(json, "pauth_key", fde->key_b ? "B" : "A");
	json_unsigned(json, "num_fres", fde->num_fres);
	json_array(json, "rows");
}

static const char *base_of(const struct listing_function *function,
			   const struct bobbin_place *place, char reg[static PLACE_SPELLING_MAX])
{
	switch (place->how) {
	case BOBBIN_HOW_IN_CFA_MEM:
	case BOBBIN_HOW_AT_CFA:
		return "cfa";
	case BOBBIN_HOW_AT_REG:
	case BOBBIN_HOW_IN_REG_MEM:
		register_spell(function->table->view.arch, place->reg, reg);
		return reg;
	default:
		return NULL;
	}
}

/* @text, and the same in parts; no base: unchanged, or undefined. */
static void json_place(struct json_output *json, const char *key, const char *text,
		       const struct listing_function *function, const struct bobbin_place *place)
{
	char reg[PLACE_SPELLING_MAX];
	const char *base = base_of(function, place, reg);

	json_object(json, key);
	json_string(json, "text", text);
	if (!base) {
		json_null(json, "base");
	} else {
		json_string(json, "base", base);
		if (base == reg)
			json_unsigned(json, "register", place->reg);
		json_number(json, "offset", place->off);
		json_bool(json, "deref",
			  place->how == BOBBIN_HOW_IN_CFA_MEM ||
				  place->how == BOBBIN_HOW_IN_REG_MEM);
	}
	json_object_end(json);
}

static void json_row(struct json_output *json, const struct listing_function *function,
		     const struct bobbin_sframe_fre *fre, const struct bobbin_rule *rule)
{
	const struct bobbin_sframe_fde *fde = &function->fde;
	bool undefined = rule->ra.how == BOBBIN_HOW_UNDEFINED;

	json_object(json, NULL);
	json_unsigned(json, "start", fre->start);
	if (!fde->pcmask)
		json_address(json, "pc", fde->start + fre->start);
	json_unsigned(json, "info", fre->info);
	json_bool(json, "undefined", undefined);
	if (!undefined) {
		const struct bobbin_sframe_view *view = &function->table->view;
		struct sframe_spelling spelling = sframe_spell(view, fde, fre, rule);
		struct bobbin_place ra = sframe_named_place(view, &rule->ra);

		json_place(json, "cfa", spelling.cfa, function, &rule->cfa);
		json_place(json, "fp", spelling.fp, function, &rule->fp);
		json_place(json, "ra", spelling.ra, function, &ra);
		json_bool(json, "signed_ra", rule->flags & BOBBIN_RULE_MANGLED);
	}
	json_object_end(json);
}

static void json_defect(struct json_output *json, uint64_t offset, enum bobbin_reason reason)
{
	json_object(json, NULL);
	json_string(json, "defect", bobbin_reason_name(reason));
	json_string(json, "text", bobbin_reason_str(reason));
	json_unsigned(json, "offset", offset);
	json_object_end(json);
}

/* Of the innermost list, and what it belongs to. */
static void json_end_list(struct json_output *json)
{
	json_array_end(json);
	json_object_end(json);
}

static void json_end_section(struct json_output *json, uint64_t padding)
{
	json_array_end(json);
	json_unsigned(json, "padding", padding);
	json_object_end(json);
}

static void json_absence(struct json_output *json, const struct sframe_absence *absence)
{
	json_object(json, NULL);
	json_string(json, "mapped_file", absence->image);
	json_address(json, "address", absence->addr);
	json_object_end(json);
}

/*
 * Functions may share rows, so a small section can claim to have enormously many.
 * No more are printed than if each byte of the rows were shared by so many.
 */
#define MAX_SHARING 16

/**
 * struct dump - a dump on its way
 * @json: where a document is printed to, or NULL for text
 * @first: the first defect of the file, with its offset in the file
 * @defects: of the file
 * @base: offset in the file of the bytes that are being looked at
 * @rows_left: rows of the table that may still be printed
 */
struct dump {
	struct json_output *json;
	struct bobbin_error first;
	uint64_t defects, base, rows_left;
};

static void note_defect(struct dump *dump, const struct bobbin_error *error)
{
	struct bobbin_error found = {dump->base + error->offset, error->reason};

	if (!dump->defects++)
		dump->first = found;
	if (dump->json)
		json_defect(dump->json, found.offset, found.reason);
	else
		text_defect(found.offset, found.reason);
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
	else if (dump->json)
		json_row(dump->json, function, &fre, &rule);
	else
		text_row(function, &fre, &rule);
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
	if (dump->json)
		json_function(dump->json, &function);
	else
		text_function(&function);
	offset = function.fde.fre_off;
	for (uint32_t i = 0; i < function.fde.num_fres; i++)
		if (!dump_row(dump, &function, &offset))
			break;
	if (dump->json)
		json_end_list(dump->json);
	else
		putchar('\n');
}

static void dump_table(struct dump *dump, const struct listing_table *table)
{
	dump->base = table->section->offset + table->at;
	dump->rows_left = (uint64_t)table->view.fre_len * MAX_SHARING;
	if (dump->json)
		json_table(dump->json, table);
	else
		text_table(table);
	for (uint32_t i = 0; i < table->view.num_fdes; i++)
		dump_function(dump, table, i);
	if (dump->json)
		json_end_list(dump->json);
}

static void dump_section(struct dump *dump, const struct sframe_section *section)
{
	struct listing_table table = {.section = section};
	uint64_t pos = 0, padding = section->size;
	struct bobbin_error error;
	int r;

	if (dump->json)
		json_section(dump->json, section);
	else
		text_section(section);
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
	if (dump->json)
		json_end_section(dump->json, padding);
	else if (padding)
		printf("  Padding: %" PRIu64 " zero bytes\n", padding);
}

static void dump_sections(struct dump *dump, const char *path, const struct sframe_file *file)
{
	if (dump->json)
		json_file(dump->json, path, file);
	else
		text_file(path, file);
	for (size_t i = 0; i < file->section_count; i++)
		dump_section(dump, &file->sections[i]);
	if (dump->json) {
		json_array_end(dump->json);
		json_array(dump->json, "absent");
	}
	for (size_t i = 0; i < file->absence_count; i++)
		if (dump->json)
			json_absence(dump->json, &file->absences[i]);
		else
			text_absence(&file->absences[i]);
	if (dump->json)
		json_end_list(dump->json);
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
	struct json_output json = json_output(stdout);
	struct dump dump = {.json = a->json ? &json : NULL};

	return report_files(a, &json, &(struct file_report){dump_file, NULL, &dump, 1});
}
