/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_search.h"

static void enter_map(struct code_search *s)
{
	s->map = registry_map(s->registry);
	s->token = read_enter(code_map_readers(registry_map(s->registry)));
}

struct code *code_search_find(struct code_search *s, uint64_t pc)
{
	struct code_range *range = &s->range;
	struct code *code;

	if (range->code && pc - range->start < range->end - range->start)
		return range->code;
	range->code = NULL;
	if (!s->registry)
		return NULL;
	if (!s->map)
		enter_map(s);
	code = code_map_find(s->map, pc, range);
	s->generation = code_map_generation(s->map);
	return code;
}

/* Asked once while a walk stays in the object. */
static bool is_present(struct code_search *s, const struct code *code)
{
	if (code->kind != CODE_OBJECT || s->present == code)
		return true;
	if (!loaded_object_present(code->object, s->memory))
		return false;
	s->present = code;
	return true;
}

static bool loader_may_know(uint64_t pc)
{
	struct loader_link link;

	return !loader_link_usable() || loader_link_find(pc, &link);
}

struct code *code_search_present(struct code_search *s, uint64_t pc, enum bobbin_reason *why)
{
	struct code *code = code_search_find(s, pc);

	if (!code) {
		s->stale |= loader_may_know(pc);
		*why = BOBBIN_REASON_NO_MAPPING;
	} else if (!is_present(s, code)) {
		s->stale = true;
		*why = BOBBIN_REASON_UNLOADED;
		return NULL;
	}
	return code;
}

bool code_search_has(struct code_search *s, uint64_t addr)
{
	const struct code *code = code_search_find(s, addr);

	return code && is_present(s, code);
}

const struct loaded_object *code_search_object(struct code_search *s, uint64_t pc)
{
	const struct code *code = code_search_find(s, pc);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;

	return object && object->module ? object : NULL;
}
