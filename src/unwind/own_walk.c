/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The own stack, over the process's code map. */
#include "unwind/own_walk.h"

#include <errno.h>

#include "base/native_arch.h"
#include "codemap/registry.h"
#include "core/refusal.h"
#include "unwind/jit_source.h"
#include "unwind/loaded_object.h"
#include "unwind/registered_table.h"
#include "unwind/self_memory.h"
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
	uint64_t generation;        /* of the map, at first, then after it was found */
	const struct code *present; /* the last object that was found to be present */
	bool stale;                 /* the map does not know what is loaded */
};

static void search_begin(struct code_search *s, const struct own_code *code,
			 struct self_memory *memory, struct walk_slot *slot)
{
	(void)slot;
	s->registry = code->registry;
	s->generation = s->registry ? code_map_generation(registry_map(s->registry)) : 0;
	s->memory = memory;
	s->map = NULL;
	s->range.code = NULL;
	s->present = NULL;
	s->stale = false;
}

static void search_end(struct code_search *s)
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
static void *search_code(struct code_search *s, uint64_t pc, bool certain, enum bobbin_reason *why)
{
	struct code *code = code_search_find(s, pc);

	(void)certain;
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
static bool search_has(struct code_search *s, uint64_t addr)
{
	const struct code *code = code_search_find(s, addr);

	return code && is_present(s, code);
}

/* Of the object at an address, if it has tables, or NULL; it may have gone. */
static struct table_set *search_set(struct code_search *s, uint64_t addr, uint64_t *bias)
{
	const struct code *code = code_search_find(s, addr);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;

	if (!object || !object->module)
		return NULL;
	*bias = object->image.bias;
	return &object->module->tables;
}

static bool search_is_entry(struct code_search *s, uint64_t addr)
{
	uint64_t bias;
	struct table_set *set = search_set(s, addr, &bias);

	return set && table_set_is_entry(set, addr - bias);
}

static BOBBIN_ALWAYS_INLINE uint64_t search_generation(const struct code_search *s)
{
	return s->generation;
}

/* Whether an address is in the object that was last found to be present. */
static BOBBIN_ALWAYS_INLINE bool search_is_near(const struct code_search *s, uint64_t pc)
{
	const struct code_range *range = &s->range;

	return range->code && range->code == s->present &&
	       pc - range->start < range->end - range->start;
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

static void open_registered(struct self_memory *memory, struct code *code,
			    struct registered_set *ret)
{
	table_set_init(native_arch(), &ret->set);
	if (!code || atomic_load_explicit(&code->dropped, memory_order_relaxed))
		return;
	if (code->kind == CODE_SECTION)
		table_set_add(&ret->set, &section_ops, code);
	if (code->kind == CODE_COMPILED)
		table_set_add(&ret->set, &registered_table_ops, &code->compiled);
	if (code->kind != CODE_JIT)
		return;
	ret->jit.info = (struct code_jit_info){code->text_start, code->text_end, code->table};
	ret->jit.mem = (struct bobbin_mem){self_memory_read, memory};
	table_set_add(&ret->set, &jit_table_ops, &ret->jit);
}

/*
 * A loaded object has the set of its file, in the file's addresses; registered code has the
 * section or JIT table that it was registered with.  @code NULL: nothing is known of it.
 */
static void search_ask(struct code_search *s, void *found, uint64_t pc,
		       const struct code_reader *bytes, struct table_answer *ret)
{
	struct code *code = found;
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;
	struct registered_set registered;

	if (object && object->module) {
		table_set_rule(&object->module->tables, pc - object->image.bias, bytes, pc, ret);
	} else {
		open_registered(s->memory, code, &registered);
		table_set_rule(&registered.set, pc, bytes, pc, ret);
	}
	if (ret->dropped.reason)
		registry_drop(s->registry, code, &ret->dropped);
}

/* Until the map changes or, as SOURCE_ONCE, the object is unloaded. */
static bool search_keeps(const struct code_search *s, const void *found, uint8_t *source)
{
	const struct loaded_object *object = loaded_object_of(found);

	(void)s;
	/* bytes of code that is made at run time may change */
	if (!object)
		return *source == BOBBIN_SOURCE_SFRAME || *source == BOBBIN_SOURCE_JIT;
	if (!object->image.stays)
		*source |= SOURCE_ONCE;
	return true;
}

#include "unwind/own_world.h"

bool walk_own_stack(const struct own_code *code, const struct bobbin_regs *regs,
		    const struct bobbin_regs *caller, struct bobbin_trace *trace)
{
	struct own_walk w;

	own_walk_init(&w, code, regs);
	own_walk_run(&w, caller, trace);
	own_walk_fini(&w);
	return w.search.stale;
}
