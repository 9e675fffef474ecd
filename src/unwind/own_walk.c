/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of the own stack.  A frame costs a search of the code map, unless its code is
 * that of the frame before, a search of that code's table, and a step.
 */
#include "unwind/own_walk.h"

#include "core/deps.h"
#include "target/thread.h"
#include "unwind/code_tables.h"
#include "unwind/loaded_object.h"
#include "unwind/loader_link.h"
#include "unwind/self_memory.h"
#include "unwind/walk_loop.h"

struct own_walk {
	struct frame_walk frames;
	const struct own_code *code;
	const struct code_map *map; /* NULL: there is none */
	struct code_range range;    /* the one that the last frame was in; of no code: none */
	const struct code *present; /* the last object that was found to be present */
	struct self_memory memory;
	struct memo_use memo;
	bool stale; /* the map does not know what is loaded */
};

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	struct own_walk *w = world;

	return self_memory_read(&w->memory, addr, ret, sizeof(*ret));
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	struct own_walk *w = world;

	return !self_memory_read(&w->memory, addr, dst, size);
}

/* The code at an address, or NULL. */
static struct code *find_code(struct own_walk *w, uint64_t pc)
{
	struct code_range *range = &w->range;

	if (range->code && pc - range->start < range->end - range->start)
		return range->code;
	range->code = NULL;
	return w->map ? code_map_find(w->map, pc, range) : NULL;
}

/* Whether an object is there; asked once while a walk stays in it. */
static bool is_present(struct own_walk *w, const struct code *code)
{
	if (w->present == code)
		return true;
	if (!loaded_object_present(code->object, &w->memory))
		return false;
	w->present = code;
	return true;
}

static bool loader_may_know(uint64_t pc)
{
	struct loader_link link;

	return !loader_link_usable() || loader_link_find(pc, &link);
}

/* The code that an address is in; NULL: it is not known, and @why. */
static struct code *code_at(struct own_walk *w, uint64_t pc, enum bobbin_reason *why)
{
	struct code *code = find_code(w, pc);

	if (!code) {
		w->stale |= loader_may_know(pc);
		*why = BOBBIN_REASON_NO_MAPPING;
	} else if (code->kind == CODE_OBJECT && !is_present(w, code)) {
		w->stale = true;
		*why = BOBBIN_REASON_UNLOADED;
		return NULL;
	}
	return code;
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	struct own_walk *w = (struct own_walk *)frames;
	const struct code_asker by = {.arch = frames->arch,
				      .registry = w->code->registry,
				      .mem = {self_memory_read, &w->memory},
				      .code = {world_code, w}};
	enum bobbin_reason why = BOBBIN_REASON_NONE;
	struct code *code = code_at(w, pc, &why);
	struct table_answer answer;

	code_tables_rule(&by, code, pc, &answer);
	*ret = answer.row.rule;
	if (why && answer.source == BOBBIN_SOURCE_NONE)
		*ret = bobbin_rule_none(why);
	return answer.source;
}

static uint64_t world_packed(struct frame_walk *frames, uint64_t pc, uint8_t *source)
{
	*source = BOBBIN_SOURCE_NONE;
	return 0;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	struct own_walk *w = (struct own_walk *)frames;
	const struct code *code = find_code(w, addr);

	return code && (code->kind != CODE_OBJECT || is_present(w, code));
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	const struct code *code = find_code((struct own_walk *)frames, addr);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;

	return object && object->module &&
	       table_set_is_entry(&object->module->tables, addr - object->image.bias);
}

static bool world_follow(struct frame_walk *frames, const struct bobbin_arch *arch, uint64_t pc,
			 struct bobbin_rule *ret)
{
	struct own_walk *w = (struct own_walk *)frames;
	const struct code *code = find_code(w, pc);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;

	return object && object->module && is_present(w, code) &&
	       table_set_follow(&object->module->tables, arch, pc - object->image.bias, ret);
}

static void own_walk_init(struct own_walk *w, const struct own_code *code,
			  const struct bobbin_regs *regs)
{
	struct plain_forms forms;

	plain_forms_of(native_arch(), &forms);
	frame_walk_init(&w->frames, native_arch(), &forms, regs);
	w->frames.fiber_start = code->fiber_start;
	w->frames.fiber_end = code->fiber_end;
	w->code = code;
	w->map = code->registry ? registry_map(code->registry) : NULL;
	w->range.code = NULL;
	w->present = NULL;
	w->memo = (struct memo_use){0};
	w->stale = false;
	self_memory_init(&w->memory);
}

/* The first @skip frames are passed over. */
static void walk(struct own_walk *w, uint32_t skip, struct bobbin_trace *trace)
{
	uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;
	struct bobbin_frame frame;
	struct bobbin_trace skipped = {.frames = &frame};

	for (skipped.reason = BOBBIN_REASON_DEPTH; skip && skipped.reason == BOBBIN_REASON_DEPTH;
	     skip--)
		walk_frames(&w->frames, &w->memo, &skipped, 1);
	trace->count = 0;
	trace->left_out = 0;
	trace->reason = skipped.reason;
	if (skipped.reason == BOBBIN_REASON_DEPTH)
		walk_frames(&w->frames, &w->memo, trace, max);
}

bool own_walk(const struct own_code *code, const struct bobbin_regs *regs, uint32_t skip,
	      struct bobbin_trace *trace)
{
	struct read_sections *readers;
	struct own_walk w;
	unsigned int token;

	own_walk_init(&w, code, regs);
	if (!code->registry) {
		walk(&w, skip, trace);
		return w.stale;
	}
	readers = code_map_readers(registry_map(code->registry));
	token = read_enter(readers);
	walk(&w, skip, trace);
	read_leave(readers, token);
	return w.stale;
}
