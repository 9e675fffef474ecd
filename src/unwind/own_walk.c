/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of the own stack.  A frame costs a look at what the last walks found; the
 * first time a search of the code map, unless its code is that of the frame before, and of
 * that code's tables.
 */
#include "unwind/own_walk.h"

#include <errno.h>

#include "base/native_arch.h"
#include "core/refusal.h"
#include "unwind/jit_source.h"
#include "unwind/loaded_object.h"
#include "unwind/self_memory.h"
#include "unwind/unkept_code.h"
#include "unwind/unsurveyed_code.h"
#include "unwind/walk_loop.h"
#include "unwind/walk_slot.h"

/*
 * The code at addresses, as one walk finds it.  The map is entered when it is first asked, since
 * many walks need no more than what is remembered.  What was found last is kept: most frames are
 * in the same code as the one before.
 */
struct code_search {
	struct registry *registry;  /* NULL: there is no code */
	struct self_memory *memory; /* to see whether an object is there */
	const struct code_map *map; /* NULL: nobody has asked it yet */
	unsigned int token;         /* of the map's readers */
	struct code_range range;    /* the one that was found last; of no code: none */
	uint64_t generation;        /* of the map, after it was found */
	const struct code *present; /* the last object that was found to be present */
	bool stale;                 /* the map does not know what is loaded */
};

static void code_search_begin(struct code_search *s, struct registry *registry,
			      struct self_memory *memory)
{
	s->registry = registry;
	s->memory = memory;
	s->map = NULL;
	s->range.code = NULL;
	s->present = NULL;
	s->stale = false;
}

static void code_search_end(struct code_search *s)
{
	if (s->map)
		read_leave(code_map_readers(registry_map(s->registry)), s->token);
}

static void enter_map(struct code_search *s)
{
	s->map = registry_map(s->registry);
	s->token = read_enter(code_map_readers(registry_map(s->registry)));
}

/* The code at an address, or NULL; an object may have gone. */
static struct code *code_search_find(struct code_search *s, uint64_t pc)
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

/* The same if it is present; NULL: it is not known, and @why. */
static struct code *code_search_present(struct code_search *s, uint64_t pc, enum bobbin_reason *why)
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

/* Whether code at an address is known and present. */
static bool code_search_has(struct code_search *s, uint64_t addr)
{
	const struct code *code = code_search_find(s, addr);

	return code && is_present(s, code);
}

/* The object at an address, if it has tables, or NULL; it may have gone. */
static const struct loaded_object *code_search_object(struct code_search *s, uint64_t pc)
{
	const struct code *code = code_search_find(s, pc);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;

	return object && object->module ? object : NULL;
}

/* Whether an address is in the object that was last found to be present. */
static BOBBIN_ALWAYS_INLINE bool code_search_is_near(const struct code_search *s, uint64_t pc)
{
	const struct code_range *range = &s->range;

	return range->code && range->code == s->present &&
	       pc - range->start < range->end - range->start;
}

struct own_walk {
	struct frame_walk frames;
	struct self_memory memory;
	struct code_search search;
	struct walk_slot *slot; /* or NULL */
	struct memo_use memo;
};

/* What is above @sp on the thread's own stack can be read from now on. */
static void trust(struct own_walk *w, uint64_t sp)
{
	const struct memory_run run = self_memory_trust(&w->memory, sp);

	w->frames.near = (struct near_memory){run.start, run.size};
}

static BOBBIN_OUT_OF_LINE enum bobbin_reason far_word(struct own_walk *w, uint64_t addr,
						      uint64_t *ret)
{
	/* a signal frame may have led to the thread's own stack */
	trust(w, w->frames.regs.sp);
	return self_memory_read(&w->memory, addr, ret, sizeof(*ret));
}

static BOBBIN_ALWAYS_INLINE void world_load(const struct frame_walk *frames, uint64_t at,
					    uint64_t *ret)
{
	(void)frames;
	self_memory_load(at, ret);
}

static BOBBIN_ALWAYS_INLINE void world_near(struct frame_walk *frames, uint64_t sp)
{
	if (sp - frames->near.start >= frames->near.size)
		trust((struct own_walk *)frames, sp);
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
	world_load(&w->frames, addr, ret);
	return BOBBIN_REASON_NONE;
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	struct own_walk *w = world;

	return !self_memory_read(&w->memory, addr, dst, size);
}

/* Whether the object at an address is there, and is the one that rules are remembered of. */
static BOBBIN_ALWAYS_INLINE bool is_same_object(const struct own_walk *w, uint64_t pc)
{
	return code_search_is_near(&w->search, pc) && w->search.generation == w->slot->generation;
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *frames, uint64_t pc,
						  uint8_t *source)
{
	const struct own_walk *w = (const struct own_walk *)frames;
	const struct cached_rule *cached = w->slot ? walk_slot_find(w->slot, pc) : NULL;

	*source = BOBBIN_SOURCE_NONE;
	if (!BOBBIN_LIKELY(cached))
		return 0;
	*source = (uint8_t)cached_source(cached);
	if (!BOBBIN_LIKELY(!(*source & SOURCE_ONCE)) && !is_same_object(w, pc))
		return 0;
	return cached->word;
}

/* The map has learned since the walk began: forget what was remembered before. */
static void keep_up(struct own_walk *w)
{
	if (!w->slot || w->search.generation == w->slot->generation)
		return;
	walk_slot_renew(w->slot, w->search.generation);
	memo_none(&w->memo);
}

/* Not in a fiber's first function: its end is no row's. */
static void remember(struct own_walk *w, const struct code *code, uint64_t pc,
		     const struct table_answer *answer)
{
	const struct frame_walk *frames = &w->frames;

	if (w->slot && code && pc + 1 + frames->fiber_negated > frames->fiber_size)
		walk_slot_remember(w->slot, code, pc, answer);
}

/*
 * Whether a section that was empty has been filled.  Who fills it stores the magic
 * number last: half of one is not malformed, and nobody looks for where it may begin.
 */
static bool is_filled(const struct code *code)
{
	const volatile uint8_t *magic = (const volatile uint8_t *)code->table;
	bool filled = code->table_size >= 2 && magic[0] && magic[1];

	BOBBIN_READ_FENCE();
	return filled;
}

static int section_lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
			  struct bobbin_error *err, struct table_answer *ret)
{
	const struct code *code = table;
	const struct bobbin_sframe_view *view = &code->sframe;
	struct bobbin_sframe_view later;

	if (!view->data) {
		int r;

		if (!is_filled(code))
			return -ENOENT;
		r = bobbin_sframe_view((const void *)code->table, code->table_size, code->table,
				       err, &later);
		if (r)
			return r;
		view = &later;
	}
	if (view->arch != arch)
		return refuse(err, 0, BOBBIN_REASON_SFRAME_ABI);
	return bobbin_sframe_lookup(view, pc, err, &ret->row);
}

/* Of a struct code. */
static const struct table_ops section_ops = {
	.kind = TABLE_REGISTERED,
	.sources = {BOBBIN_SOURCE_SFRAME},
	.drops = true,
	.lookup = section_lookup,
};

/* The set of registered code, as long as a lookup takes. */
struct registered_set {
	struct table_set set;
	struct jit_source jit;
};

static void open_registered(struct own_walk *w, struct code *code, struct registered_set *ret)
{
	table_set_init(w->frames.arch, &ret->set);
	if (!code || atomic_load_explicit(&code->dropped, memory_order_relaxed))
		return;
	if (code->kind == CODE_SECTION)
		table_set_add(&ret->set, &section_ops, code);
	if (code->kind != CODE_JIT)
		return;
	ret->jit.info = (struct code_jit_info){code->text_start, code->text_end, code->table};
	ret->jit.mem = (struct bobbin_mem){self_memory_read, &w->memory};
	table_set_add(&ret->set, &jit_table_ops, &ret->jit);
}

/*
 * A loaded object has the set of its file, in the file's addresses; registered code has the
 * section or JIT table that it was registered with.  @code NULL: nothing is known of it.
 */
static void ask_tables(struct own_walk *w, struct code *code, uint64_t pc, struct table_answer *ret)
{
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;
	const struct code_reader bytes = {world_code, w};
	struct registered_set registered;

	if (object && object->module) {
		table_set_rule(&object->module->tables, pc - object->image.bias, &bytes, pc, ret);
	} else {
		open_registered(w, code, &registered);
		table_set_rule(&registered.set, pc, &bytes, pc, ret);
	}
	if (ret->dropped.reason)
		registry_drop(w->search.registry, code, &ret->dropped);
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	struct own_walk *w = (struct own_walk *)frames;
	enum bobbin_reason why = BOBBIN_REASON_NONE;
	struct code *code = code_search_present(&w->search, pc, &why);
	struct table_answer answer;
	uint8_t source;
	uint64_t word;

	keep_up(w);
	word = world_packed(frames, pc, &source);
	if (word) {
		bobbin_rule_unpack(word, ret);
		return (enum bobbin_source)(source & ~SOURCE_ONCE);
	}
	ask_tables(w, code, pc, &answer);
	remember(w, code, pc, &answer);
	*ret = answer.row.rule;
	if (why && answer.source == BOBBIN_SOURCE_NONE)
		*ret = bobbin_rule_none(why);
	return answer.source;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	return code_search_has(&((struct own_walk *)frames)->search, addr);
}

static bool world_is_root(struct frame_walk *frames, uint64_t addr)
{
	const struct code_reader code = {world_code, frames};

	return known_code_root(frames->arch, &code, addr);
}

/* Who makes code in its own process registers it. */
static bool world_is_made(struct frame_walk *frames, uint64_t addr)
{
	(void)frames;
	(void)addr;
	return false;
}

static bool world_slot(struct frame_walk *frames, uint64_t addr, uint64_t *ret)
{
	(void)frames;
	(void)addr;
	(void)ret;
	return false;
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	const struct loaded_object *object =
		code_search_object(&((struct own_walk *)frames)->search, addr);

	return object && table_set_is_entry(&object->module->tables, addr - object->image.bias);
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	struct own_walk *w = (struct own_walk *)frames;
	const struct bobbin_mem mem = {self_memory_read, &w->memory};
	const struct loaded_object *object = code_search_object(&w->search, pc);

	if (!object || !code_search_has(&w->search, pc))
		return BOBBIN_REASON_NO_TABLE;
	step->bias = object->image.bias;
	return table_set_step(&object->module->tables, pc - step->bias, &mem, step);
}

static void own_walk_init(struct own_walk *w, const struct own_code *code,
			  const struct bobbin_regs *regs)
{
	struct plain_forms forms;

	/* first: @regs have just been written, one by one, and may now be read two at a time */
	w->slot = code->slots && code->registry ? walk_slot_take(code->slots) : NULL;
	if (code->slots)
		forms = code->slots->forms;
	else
		plain_forms_of(native_arch(), &forms);
	frame_walk_init(&w->frames, native_arch(), &forms, regs);
	/* compilers that do not register their code */
	w->frames.some_code = true;
	w->frames.fiber_negated = code->fiber_negated;
	w->frames.fiber_size = code->fiber_size;
	self_memory_init(&w->memory);
	trust(w, regs->sp);
	code_search_begin(&w->search, code->registry, &w->memory);
	memo_none(&w->memo);
	if (w->slot)
		walk_slot_renew(w->slot, code_map_generation(registry_map(code->registry)));
}

/* To the caller of the first frame, which is no part of the trace. */
static enum bobbin_reason pass_over(struct own_walk *w, const struct bobbin_regs *caller)
{
	struct bobbin_frame frame;
	enum bobbin_reason reason;

	if (caller->pc) {
		w->frames.regs.pc = caller->pc;
		w->frames.regs.sp = caller->sp;
		w->frames.regs.fp = caller->fp;
		w->frames.regs.gpr = NULL;
		w->frames.regs.gpr_known = 0;
		w->frames.regs.exact = false;
		return BOBBIN_REASON_NONE;
	}
	reason = walk_on(&w->frames, &w->memo, &frame);
	w->frames.callee = frame.source;
	return reason;
}

bool walk_own_stack(const struct own_code *code, const struct bobbin_regs *regs,
		    const struct bobbin_regs *caller, struct bobbin_trace *trace)
{
	struct own_walk w;

	own_walk_init(&w, code, regs);
	trace->count = 0;
	trace->left_out = 0;
	trace->reason = caller ? pass_over(&w, caller) : BOBBIN_REASON_NONE;
	if (!trace->reason) {
		if (w.slot)
			memo_begin(&w.frames, &w.slot->memo, &w.memo);
		walk_frames(&w.frames, &w.memo, trace,
			    trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH);
		memo_end(&w.memo);
	}
	if (w.slot)
		walk_slot_give_back(w.slot);
	code_search_end(&w.search);
	return w.search.stale;
}
