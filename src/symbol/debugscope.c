/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugscope.h"

#include <dwarf.h>

#define MAX_DEPTH 256
/* Namespaces and nested functions do not go deep. */
#define MAX_FUNCTION_DEPTH 16
#define MAX_ATTRIBUTES 256
#define FIND_BUDGET (1u << 16)

bool scope_next_range(Dwarf_Die *die, struct scope_range *range, uint64_t *budget)
{
	while (*budget) {
		--*budget;
		range->next = dwarf_ranges(die, range->next, &range->base, &range->start,
					   &range->end);
		if (range->next <= 0)
			return false;
		/* Linkers leave 0 or 1 where they dropped a function. */
		if (range->start > 1 && range->end > range->start)
			return true;
	}
	return false;
}

bool scope_unit_is_sane(Dwarf_Die *unit, uint64_t *budget)
{
	size_t offset = 0, length, count;
	Dwarf_Abbrev *abbrev;

	while ((abbrev = dwarf_getabbrev(unit, offset, &length)) != DWARF_END_ABBREV) {
		if (!abbrev || dwarf_getattrcnt(abbrev, &count) || count > MAX_ATTRIBUTES ||
		    !*budget)
			return false;
		--*budget;
		offset += length;
	}
	return true;
}

/* The next DIE of a walk; false at its end. */
static bool pass(Dwarf_Die *open, unsigned int *depth)
{
	while (*depth && dwarf_siblingof(&open[*depth - 1], &open[*depth - 1]))
		--*depth;
	return *depth;
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module;
}

int scope_walk_functions(Dwarf_Die *unit, uint64_t *budget, int (*fn)(void *ctx, Dwarf_Die *die),
			 void *ctx)
{
	Dwarf_Die open[MAX_FUNCTION_DEPTH];
	unsigned int depth = 1;
	int err = 0;

	if (dwarf_child(unit, &open[0]))
		return 0;
	while (!err && *budget) {
		Dwarf_Die *die = &open[depth - 1];
		int tag = dwarf_tag(die);

		--*budget;
		if (tag == DW_TAG_subprogram)
			err = fn(ctx, die);
		if (holds_functions(tag) && depth < MAX_FUNCTION_DEPTH &&
		    !dwarf_child(die, &open[depth]))
			depth++;
		else if (!pass(open, &depth))
			break;
	}
	return err;
}

/* A block without ranges may hold calls that have some. */
static bool is_around(Dwarf_Die *die, int tag, uint64_t address, uint64_t *budget,
		      struct interval_gap *same)
{
	struct scope_range range = {0};
	bool has_ranges = false;

	if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
	    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
		return false;
	while (scope_next_range(die, &range, budget)) {
		struct interval_gap gap = {range.start, range.end};
		bool holds = address >= range.start && address < range.end;

		has_ranges = true;
		if (!holds)
			gap = address < range.start ? (struct interval_gap){0, range.start}
						    : (struct interval_gap){range.end, UINT64_MAX};
		*same = interval_gap_cut(*same, gap);
		if (holds)
			return true;
	}
	return !has_ranges && tag != DW_TAG_inlined_subroutine;
}

size_t scope_find(Dwarf_Die *function, uint64_t address, Dwarf_Die *ret, size_t max,
		  struct interval_gap *same)
{
	uint64_t budget = FIND_BUDGET;
	Dwarf_Die open[MAX_DEPTH];
	unsigned int depth = 1;
	size_t count = 1;

	ret[0] = *function;
	if (dwarf_child(function, &open[0]))
		return count;
	while (budget && count < max) {
		Dwarf_Die *die = &open[depth - 1], child;
		int tag = dwarf_tag(die);
		bool enter = is_around(die, tag, address, &budget, same);

		budget -= budget > 0;
		if (enter && tag == DW_TAG_inlined_subroutine) {
			ret[count++] = *die;
			depth = 0; /* all the rest is in there */
		}
		if (enter && depth < MAX_DEPTH && !dwarf_child(die, &child))
			open[depth++] = child;
		else if (!depth || !pass(open, &depth))
			break;
	}
	if (!budget)
		same->end = same->start;
	return count;
}

const char *scope_name(Dwarf_Die *die)
{
	static const unsigned int kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, kinds[i], &attribute));

		if (name)
			return name;
	}
	return NULL;
}
