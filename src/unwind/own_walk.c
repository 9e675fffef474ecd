/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of the own stack.  A frame costs a look at what the last walks found; the
 * first time a search of the code map, unless its code is that of the frame before, and of
 * that code's tables.
 */
#include "unwind/own_walk.h"

#include <stdlib.h>

#include "base/native_arch.h"
#include "core/deps.h"
#include "unwind/code_tables.h"
#include "unwind/loaded_object.h"
#include "unwind/loader_link.h"
#include "unwind/self_memory.h"
#include "unwind/walk_loop.h"
#include "unwind/walk_slot.h"

struct own_walk {
	struct frame_walk frames;
	const struct own_code *code;
	const struct code_map *map; /* NULL: there is none, or nobody has asked it yet */
	unsigned int token;         /* of the map's readers */
	struct code_range range;    /* the one that the last frame was in; of no code: none */
	const struct code *present; /* the last object that was found to be present */
	struct self_memory memory;
	struct walk_slot *slot; /* or NULL */
	struct memo_use memo;
	bool stale; /* the map does not know what is loaded */
};

static BOBBIN_OUT_OF_LINE enum bobbin_reason far_word(struct own_walk *w, uint64_t addr,
						      uint64_t *ret)
{
	/* a signal frame may have led to the thread's own stack */
	self_memory_trust(&w->memory, w->frames.regs.sp);
	return self_memory_read(&w->memory, addr, ret, sizeof(*ret));
}

static BOBBIN_ALWAYS_INLINE void world_load(uint64_t at, uint64_t *ret)
{
	self_memory_load(at, ret);
}

static BOBBIN_ALWAYS_INLINE struct near_memory world_near(struct frame_walk *frames, uint64_t sp)
{
	struct self_memory *memory = &((struct own_walk *)frames)->memory;

	if (!self_memory_near(memory, sp, sizeof(sp)))
		self_memory_trust(memory, sp);
	return (struct near_memory){memory->runs[0].start,
				    memory->runs[0].start + memory->runs[0].size};
}

static BOBBIN_ALWAYS_INLINE uint64_t world_shift(const struct frame_walk *frames)
{
	(void)frames;
	return 0;
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	struct own_walk *w = world;

	if (!self_memory_near(&w->memory, addr, sizeof(*ret)))
		return far_word(w, addr, ret);
	world_load(addr, ret);
	return BOBBIN_REASON_NONE;
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	struct own_walk *w = world;

	return !self_memory_read(&w->memory, addr, dst, size);
}

/* Only now, since many walks need no more than what is remembered. */
static void enter_map(struct own_walk *w)
{
	w->map = registry_map(w->code->registry);
	w->token = read_enter(code_map_readers(registry_map(w->code->registry)));
}

static void leave_map(struct own_walk *w)
{
	if (w->map)
		read_leave(code_map_readers(registry_map(w->code->registry)), w->token);
}

/* The code at an address, or NULL. */
static struct code *find_code(struct own_walk *w, uint64_t pc)
{
	struct code_range *range = &w->range;

	if (range->code && pc - range->start < range->end - range->start)
		return range->code;
	range->code = NULL;
	if (!w->code->registry)
		return NULL;
	if (!w->map)
		enter_map(w);
	return code_map_find(w->map, pc, range);
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

/* Whether an address is in the object that this walk has found to be present. */
static BOBBIN_ALWAYS_INLINE bool is_near(const struct own_walk *w, uint64_t pc)
{
	const struct code_range *range = &w->range;

	return range->code && range->code == w->present &&
	       pc - range->start < range->end - range->start;
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *frames, uint64_t pc,
						  uint8_t *source)
{
	const struct own_walk *w = (const struct own_walk *)frames;
	const struct cached_rule *cached;

	*source = BOBBIN_SOURCE_NONE;
	if (!w->slot || pc >> SLOT_EPOCH)
		return 0;
	cached = rule_cache_get(w->slot->rules, SLOT_CACHE_BITS, w->slot->tag | pc);
	if (!cached)
		return 0;
	*source = (uint8_t)cached_source(cached);
	if (*source & SOURCE_ONCE && !is_near(w, pc))
		return 0;
	return cached->word;
}

/* What goes without a change of the map is not remembered, or as SOURCE_ONCE. */
static void remember(struct own_walk *w, const struct code *code, uint64_t pc,
		     const struct table_answer *answer)
{
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;
	uint8_t source = (uint8_t)answer->source;

	if (!w->slot || !code || source == BOBBIN_SOURCE_NONE || pc >> SLOT_EPOCH)
		return;
	/* bytes of code that is made at run time may change; a fiber's end is no row's */
	if (!object && source != BOBBIN_SOURCE_SFRAME && source != BOBBIN_SOURCE_JIT)
		return;
	if (pc + 1 - w->frames.fiber_start <= w->frames.fiber_end - w->frames.fiber_start)
		return;
	if (object && !object->image.stays)
		source |= SOURCE_ONCE;
	rule_cache_put(w->slot->rules, SLOT_CACHE_BITS, w->slot->tag | pc, &answer->row.rule,
		       source);
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
	struct table_answer answer;
	struct code *code;
	uint64_t word;
	uint8_t source;

	code = code_at(w, pc, &why);
	word = world_packed(frames, pc, &source);
	if (word) {
		bobbin_rule_unpack(word, ret);
		return (enum bobbin_source)(source & ~SOURCE_ONCE);
	}
	code_tables_rule(&by, code, pc, &answer);
	remember(w, code, pc, &answer);
	*ret = answer.row.rule;
	if (why && answer.source == BOBBIN_SOURCE_NONE)
		*ret = bobbin_rule_none(why);
	return answer.source;
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

struct walk_slots *walk_slots_open(void)
{
	struct walk_slots *slots = calloc(1, sizeof(*slots));

	if (slots)
		plain_forms_of(native_arch(), &slots->forms);
	return slots;
}

/* Rules and the last walk, if a slot is free. */
static void use_slot(struct own_walk *w, struct walk_slots *slots)
{
	w->slot = walk_slot_take(slots);
	if (!w->slot)
		return;
	/* before the map is asked: what it says later is forgotten if it has changed since */
	walk_slot_renew(w->slot, code_map_generation(registry_map(w->code->registry)));
	memo_begin(&w->frames, &w->slot->memo, &w->memo);
}

static void own_walk_init(struct own_walk *w, const struct own_code *code,
			  const struct bobbin_regs *regs)
{
	struct plain_forms forms;

	if (code->slots)
		forms = code->slots->forms;
	else
		plain_forms_of(native_arch(), &forms);
	frame_walk_init(&w->frames, native_arch(), &forms, regs);
	w->frames.fiber_start = code->fiber_start;
	w->frames.fiber_end = code->fiber_end;
	w->code = code;
	w->map = NULL;
	w->range.code = NULL;
	w->present = NULL;
	w->slot = NULL;
	memo_none(&w->memo);
	w->stale = false;
	self_memory_init(&w->memory);
	self_memory_trust(&w->memory, regs->sp);
	if (code->slots && code->registry)
		use_slot(w, code->slots);
}

/* @skip: the first frame is passed over. */
static void walk(struct own_walk *w, bool skip, struct bobbin_trace *trace)
{
	uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;
	struct bobbin_frame frame;
	struct bobbin_trace skipped = {.frames = &frame, .reason = BOBBIN_REASON_DEPTH};

	if (skip)
		walk_frames(&w->frames, &w->memo, &skipped, 1);
	trace->count = 0;
	trace->left_out = 0;
	trace->reason = skipped.reason;
	if (skipped.reason == BOBBIN_REASON_DEPTH)
		walk_frames(&w->frames, &w->memo, trace, max);
}

bool own_walk(const struct own_code *code, const struct bobbin_regs *regs, bool skip,
	      struct bobbin_trace *trace)
{
	struct own_walk w;

	own_walk_init(&w, code, regs);
	walk(&w, skip, trace);
	memo_end(&w.memo);
	if (w.slot)
		walk_slot_give_back(w.slot);
	leave_map(&w);
	return w.stale;
}
