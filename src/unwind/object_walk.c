/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The own stack, over the loaded objects.  What rules are remembered of an object that may be
 * unloaded is used once a walk has seen that the same object is still there.
 */
#include "unwind/object_walk.h"

#include <pthread.h>

#include "base/native_arch.h"
#include "unwind/fiber_start.h"
#include "unwind/own_code.h"
#include "unwind/process_objects.h"
#include "unwind/self_memory.h"
#include "unwind/walk_slot.h"

/* Of a slot; beyond these it forgets one, and all rules with it. */
#define PASSING_MAX 64
#define PROOF_MAX 40
/* Without a build ID: e_type to e_shstrndx, entry, places and numbers of headers. */
#define HEADER_PROOF 16
#define HEADER_PROOF_SIZE 40

/* An object that may be unloaded, as it was when rules of it were remembered. */
struct passing_object {
	struct loader_link link; /* of no map: free */
	const uint8_t *proof;    /* its build ID or ELF header, in its memory */
	uint8_t proof_bytes[PROOF_MAX], proof_size;
};

/* Those of a slot.  @changes: how often one has been replaced. */
struct passing_set {
	struct passing_object objects[PASSING_MAX];
	uint64_t changes;
};

static struct {
	struct walk_slots slots;
	struct passing_set passing[WALK_SLOTS];
	_Atomic bool prepared;
	pthread_once_t forks;
	uint64_t fiber_negated, fiber_size; /* as in struct frame_walk; set before @prepared */
} own = {.forks = PTHREAD_ONCE_INIT};

/* The code at addresses, as one walk finds it. */
struct code_search {
	struct passing_set *passing; /* of the slot, or NULL */
	struct self_memory *memory;
	struct bobbin_range near;       /* the code that was found last; or empty */
	struct mapped_tables *found;    /* its tables; NULL: not looked for yet */
	bool is_passing;                /* it may be unloaded */
	bool certain;                   /* it is a frame's */
	struct program_headers headers; /* of that, if it may be unloaded */
	const void *object; /* where the last one that may be unloaded starts, or NULL */
	struct mapped_tables room;
};

static void search_begin(struct code_search *s, const struct own_code *code,
			 struct self_memory *memory, struct walk_slot *slot)
{
	s->passing = slot ? &own.passing[slot - code->slots->slots] : NULL;
	s->memory = memory;
	s->near = (struct bobbin_range){0, 0};
	s->found = NULL;
	s->is_passing = s->certain = false;
	s->object = NULL;
}

static void search_end(struct code_search *s)
{
	(void)s;
}

/* Objects are added, but those that stay are not taken away. */
static uint64_t search_generation(const struct code_search *s)
{
	return (s->passing ? s->passing->changes << 32 : 0) + process_objects_count();
}

static BOBBIN_ALWAYS_INLINE bool search_is_near(const struct code_search *s, uint64_t pc)
{
	return pc - s->near.start < s->near.end - s->near.start;
}

/* Whether an object that stays has code at an address: that is near now. */
static bool find_staying(struct code_search *s, uint64_t pc)
{
	struct mapped_tables *tables = process_objects_find(pc);

	if (!tables || !mapped_segment(&tables->headers, pc, &s->near))
		return false;
	s->found = tables;
	s->is_passing = false;
	return true;
}

/* By what an object is told from another that is loaded in its place. */
static const uint8_t *proof_of(const struct program_headers *headers,
			       const struct loader_link *link, uint8_t *size)
{
	const uint8_t *proof = mapped_build_id(headers, size);

	if (proof)
		return proof;
	*size = HEADER_PROOF_SIZE;
	return (const uint8_t *)link->start + HEADER_PROOF;
}

static bool overlap(const struct loader_link *a, const struct loader_link *b)
{
	return a->start < b->end && b->start < a->end;
}

/* A place for an object that is not known; others that it replaces are forgotten with their rules. */
static struct passing_object *make_place(struct passing_set *set, const struct loader_link *link)
{
	struct passing_object *place = NULL;

	for (unsigned int i = 0; i < PASSING_MAX; i++) {
		struct passing_object *o = &set->objects[i];

		if (o->link.map && overlap(&o->link, link)) {
			o->link.map = NULL;
			set->changes++;
		}
		if (!o->link.map)
			place = o;
	}
	if (place)
		return place;
	place = &set->objects[set->changes++ % PASSING_MAX];
	return place;
}

static void keep_passing(struct code_search *s, const struct loader_link *link,
			 const uint8_t *proof, uint8_t size)
{
	struct passing_object *o;

	if (!s->passing)
		return;
	o = make_place(s->passing, link);
	*o = (struct passing_object){.link = *link, .proof = proof, .proof_size = size};
	memcpy(o->proof_bytes, proof, size);
}

/* Whether the object is one that is remembered. */
static bool is_kept(const struct code_search *s, const struct loader_link *link,
		    const uint8_t *proof, uint8_t size)
{
	for (unsigned int i = 0; s->passing && i < PASSING_MAX; i++) {
		const struct passing_object *o = &s->passing->objects[i];

		if (o->link.map && loader_link_same(&o->link, link) && o->proof == proof &&
		    o->proof_size == size && !memcmp(o->proof_bytes, proof, size))
			return true;
	}
	return false;
}

/* The same of an object that may be unloaded, and is not as long as the frame at @pc is. */
static bool find_passing(struct code_search *s, uint64_t pc)
{
	struct program_headers headers;
	struct loader_link link;
	struct bobbin_range text;
	const uint8_t *proof;
	uint8_t size;

	if (!loader_link_find(pc, &link) || !mapped_headers(link.start, &headers))
		return false;
	s->object = link.start;
	s->headers = headers;
	s->near = (struct bobbin_range){0, 0};
	s->found = NULL;
	if (!mapped_segment(&headers, pc, &text))
		return false;
	s->near = text;
	s->is_passing = true;
	proof = proof_of(&headers, &link, &size);
	if (!is_kept(s, &link, proof, size))
		keep_passing(s, &link, proof, size);
	return true;
}

/* The search itself stands for the code. */
static void *search_code(struct code_search *s, uint64_t pc, bool certain, enum bobbin_reason *why)
{
	s->certain = certain;
	if (search_is_near(s, pc) || find_staying(s, pc) || (certain && find_passing(s, pc)))
		return s;
	*why = BOBBIN_REASON_NO_MAPPING;
	return NULL;
}

/*
 * Data of an object are no code.  But nothing of one is read that may be unloaded at this moment: of
 * those, only where a frame is what segments there are is known.
 */
static bool search_has(struct code_search *s, uint64_t addr)
{
	struct loader_link link;
	struct bobbin_range text;

	if (search_is_near(s, addr) || find_staying(s, addr))
		return true;
	if (process_objects_find(addr) || !loader_link_find(addr, &link))
		return false;
	return link.start != s->object || mapped_segment(&s->headers, addr, &text);
}

static struct mapped_tables *tables_of(struct code_search *s)
{
	if (s->found)
		return s->found;
	mapped_tables_init(&s->headers, &s->room);
	s->found = &s->room;
	return s->found;
}

static struct table_set *search_set(struct code_search *s, uint64_t addr, uint64_t *bias)
{
	enum bobbin_reason why;

	*bias = 0;
	return search_code(s, addr, s->certain, &why) ? &tables_of(s)->set : NULL;
}

/* Such objects stay. */
static bool search_is_entry(struct code_search *s, uint64_t addr)
{
	(void)s;
	return process_objects_is_entry(addr);
}

static void search_ask(struct code_search *s, void *found, uint64_t pc,
		       const struct code_reader *bytes, struct table_answer *ret)
{
	struct table_set none;

	if (found) {
		table_set_rule(&tables_of(s)->set, pc, bytes, pc, ret);
		return;
	}
	table_set_init(native_arch(), &none);
	table_set_rule(&none, pc, bytes, pc, ret);
}

/* Until its object is unloaded. */
static bool search_keeps(const struct code_search *s, const void *found, uint8_t *source)
{
	(void)found;
	if (s->is_passing)
		*source |= SOURCE_ONCE;
	return true;
}

#include "unwind/own_world.h"

static void forked(void)
{
	process_objects_forked();
	walk_slots_forked(&own.slots);
}

static void learn_of_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

/* The function that fibers return to, from start to end as its table says. */
static void learn_of_fibers(void)
{
	const uint64_t after = after_fiber_start();
	struct mapped_tables *tables = after ? process_objects_find(after) : NULL;
	struct table_answer answer;

	if (!tables)
		return;
	table_set_row(&tables->set, after - 1, &answer);
	if (answer.row.function == after - 1) {
		own.fiber_negated = 1 - after;
		own.fiber_size = answer.row.end - answer.row.function;
	}
}

void object_walk_prepare(void)
{
	process_objects_learn();
	if (atomic_load(&own.prepared))
		return;
	pthread_once(&own.forks, learn_of_forks);
	plain_forms_of(native_arch(), &own.slots.forms);
	learn_of_fibers();
	atomic_store(&own.prepared, true);
}

static struct own_code known_code(void)
{
	struct own_code code = {0};

	if (!atomic_load_explicit(&own.prepared, memory_order_acquire))
		return code;
	code.slots = &own.slots;
	code.fiber_negated = own.fiber_negated;
	code.fiber_size = own.fiber_size;
	return code;
}

uint64_t bobbin_frame_register(const struct bobbin_regs *regs, int number)
{
	const struct bobbin_arch *arch = native_arch();

	if (number == arch->sp)
		return regs->sp;
	return number == arch->fp ? regs->fp : 0;
}

uint64_t bobbin_process_function(uint64_t pc)
{
	struct mapped_tables room, *tables = process_tables(pc, &room);
	uint64_t start;

	return tables && table_set_function(&tables->set, pc, &start) ? start : 0;
}

void bobbin_object_walk(struct walk_place *place, const struct bobbin_regs *caller,
			struct bobbin_trace *trace)
{
	const struct own_code code = known_code();
	struct own_walk w;

	own_walk_init(&w, &code, &place->regs);
	w.frames.callee = place->callee;
	w.frames.likely = place->likely;
	own_walk_run(&w, caller, trace);
	*place = (struct walk_place){
		.regs = w.frames.regs, .callee = w.frames.callee, .likely = w.frames.likely};
	place->regs.gpr = NULL;
	place->regs.gpr_known = 0;
	own_walk_fini(&w);
}
