/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_json.c - an SFrame dump for programs: one JSON document.
 */
#include "cli/sframe_listing.h"
#include "cli/sframe_spelling.h"

static void print_file(struct json_output *json, const char *path, const struct sframe_file *file)
{
	json_object(json, NULL);
	json_string(json, "file", path);
	if (file->arch)
		json_string(json, "machine", file->arch->name);
	else
		json_null(json, "machine");
	json_array(json, "sections");
}

static void print_section(struct json_output *json, const struct sframe_section *section)
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

static void print_flags(struct json_output *json, uint8_t flags)
{
	json_array(json, "flags");
	for (unsigned int i = 0; i < LISTING_FLAGS; i++)
		if (flags & 1u << i)
			json_string(json, NULL, listing_flags[i]);
	json_array_end(json);
}

static void print_table(struct json_output *json, const struct listing_table *table)
{
	const struct bobbin_sframe_view *view = &table->view;

	json_object(json, NULL);
	json_unsigned(json, "at", table->at);
	json_unsigned(json, "size", view->size);
	json_unsigned(json, "version", view->version);
	print_flags(json, listing_header_flags(view));
	json_string(json, "abi", listing_abi(view));
	json_number(json, "fixed_fp_offset", view->fixed_fp);
	json_number(json, "fixed_ra_offset", view->fixed_ra);
	json_unsigned(json, "num_fdes", view->num_fdes);
	json_unsigned(json, "num_fres", view->num_fres);
	json_unsigned(json, "fre_bytes", view->fre_len);
	json_array(json, "functions");
}

static void print_target(struct json_output *json, const struct sframe_target *target)
{
	if (target->section)
		json_string(json, "section", target->section);
	if (target->symbol)
		json_string(json, "symbol", target->symbol);
}

static void print_function(struct json_output *json, const struct listing_function *function)
{
	const struct bobbin_sframe_fde *fde = &function->fde;
	const struct bobbin_sframe_view *view = &function->table->view;

	json_object(json, NULL);
	json_unsigned(json, "index", function->index);
	json_address(json, "start", fde->start);
	json_unsigned(json, "size", fde->size);
	if (function->target)
		print_target(json, function->target);
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
static void print_place(struct json_output *json, const char *key, const char *text,
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

static void print_row(struct json_output *json, const struct listing_function *function,
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

		print_place(json, "cfa", spelling.cfa, function, &rule->cfa);
		print_place(json, "fp", spelling.fp, function, &rule->fp);
		print_place(json, "ra", spelling.ra, function, &ra);
		json_bool(json, "signed_ra", rule->flags & BOBBIN_RULE_MANGLED);
	}
	json_object_end(json);
}

static void print_defect(struct json_output *json, uint64_t offset, enum bobbin_reason reason)
{
	json_object(json, NULL);
	json_string(json, "defect", bobbin_reason_name(reason));
	json_string(json, "text", bobbin_reason_str(reason));
	json_unsigned(json, "offset", offset);
	json_object_end(json);
}

/* Of the innermost list, and what it belongs to. */
static void end_list(struct json_output *json)
{
	json_array_end(json);
	json_object_end(json);
}

static void end_section(struct json_output *json, uint64_t padding)
{
	json_array_end(json);
	json_unsigned(json, "padding", padding);
	json_object_end(json);
}

static void end_sections(struct json_output *json)
{
	json_array_end(json);
	json_array(json, "absent");
}

static void print_absence(struct json_output *json, const struct sframe_absence *absence)
{
	json_object(json, NULL);
	json_string(json, "mapped_file", absence->image);
	json_address(json, "address", absence->addr);
	json_object_end(json);
}

const struct listing_form sframe_json = {
	.file = print_file,
	.section = print_section,
	.table = print_table,
	.function = print_function,
	.row = print_row,
	.defect = print_defect,
	.function_end = end_list,
	.table_end = end_list,
	.section_end = end_section,
	.sections_end = end_sections,
	.absence = print_absence,
	.file_end = end_list,
};
