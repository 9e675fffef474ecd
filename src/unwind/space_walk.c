/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of a space: code that is mapped and registered there, and a copy of a stack,
 * or whatever memory a struct bobbin_mem reads.
 */
#include <stdlib.h>
#include <string.h>

#include "core/stack_top.h"
#include "unwind/code_pages.h"
#include "unwind/made_code.h"
#include "unwind/module.h"
#include "unwind/rule_cache.h"
#include "unwind/space.h"
#include "unwind/start_rule.h"
#include "unwind/unwinder.h"
#include "unwind/walk_loop.h"

#define CACHE_LINE 64
#define PREFETCH_TOP 2048 /* bytes in which the innermost few frames mostly lie */

#define MEMO_STACKS 4

/* A range of a space in which the rule of each address has its key. */
struct rule_range {
	uint64_t start, size;
	uint64_t key; /* rule_cache_key() of @start; 0: there are no tables */
};

struct space_walk {
	struct frame_walk frames;
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	const struct cached_rules *cache;
	const struct bobbin_mem *mem;
	struct bobbin_stack_copy copy; /* what @mem reads, if it is that */
	size_t words;                  /* offsets in it at which a word begins */
	struct rule_range range;       /* the one that the last frame was in */
	struct memo_use memo;
	uint64_t placed, place; /* the address that place_again() was asked for last, and its key */
};

static BOBBIN_ALWAYS_INLINE void world_load(const struct frame_walk *frames, uint64_t at,
					    uint64_t *ret)
{
	(void)frames;
	memcpy(ret, (const void *)(uintptr_t)at, sizeof(*ret));
}

static BOBBIN_ALWAYS_INLINE uint64_t world_shift(const struct frame_walk *frames)
{
	const struct bobbin_stack_copy *copy = &((const struct space_walk *)frames)->copy;

	return (uint64_t)(uintptr_t)copy->data - copy->addr;
}

/* There is one stack. */
static BOBBIN_ALWAYS_INLINE void world_near(struct frame_walk *frames, uint64_t sp)
{
	(void)frames;
	(void)sp;
}

static BOBBIN_OUT_OF_LINE enum bobbin_reason far_word(const struct bobbin_mem *mem, uint64_t addr,
						      uint64_t *ret)
{
	return mem->read(mem->ctx, addr, ret, sizeof(*ret));
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct space_walk *w = world;
	uint64_t offset = addr - w->copy.addr;

	if (offset >= w->words)
		return far_word(w->mem, addr, ret);
	memcpy(ret, w->copy.data + offset, sizeof(*ret));
	return BOBBIN_REASON_NONE;
}

/* In a key: what the code says at an exact PC, or after a call; whether it is a root's.  No file is that large. */
#define EXACT_PLACE (1ull << (KEY_FILE - 1))
#define RETURN_PLACE (1ull << (KEY_FILE - 2))
#define ROOT_PLACE (1ull << (KEY_FILE - 3))
/* Beside one of the first two: by the way from the function's start. */
#define START_PLACE (1ull << (KEY_FILE - 4))
#define PLACES (EXACT_PLACE | RETURN_PLACE | ROOT_PLACE | START_PLACE)

/* The mapping of an address in a file whose bytes can be read; NULL: it is none, or is registered code. */
static const struct mapping *place_in_file(const struct space_walk *w, uint64_t addr)
{
	const struct mapping *m = space_find(w->space, addr);

	if (!m || m->file->kind != FILE_REGULAR || remote_code_find(w->space->remote, addr) ||
	    !unwinder_file_module(w->unwinder, m->file))
		return NULL;
	return m;
}

/* The cache's key of such an address; 0: it has none. */
static uint64_t place_key(const struct space_walk *w, uint64_t addr)
{
	const struct mapping *m = place_in_file(w, addr);

	if (!m || mapping_offset(m, addr) & PLACES)
		return 0;
	return rule_cache_key(m->file->number, mapping_offset(m, addr));
}

/* The same is asked of a return address several times. */
static uint64_t place_again(struct space_walk *w, uint64_t addr)
{
	if (addr != w->placed)
		w->place = place_key(w, addr);
	w->placed = addr;
	return w->place;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;

	return addr - w->range.start < w->range.size || space_has(w->space, addr);
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	const struct space_walk *w = (struct space_walk *)frames;
	uint64_t vaddr;
	const struct module *module = unwinder_module_in(w->unwinder, space_find(w->space, pc), pc,
							 &vaddr);

	if (!module)
		return BOBBIN_REASON_NO_TABLE;
	step->bias = pc - vaddr;
	return table_set_step(&module->tables, vaddr, w->mem, step);
}

/* What was asked of the code at the place of a key other than 0, if that is remembered. */
static bool is_answered(const struct bobbin_unwinder *u, uint64_t key, enum code_answer *ret)
{
	const uint64_t word = u->returns[rule_cache_set(key, RETURN_BITS)];

	if (word >> RETURN_SHIFT != key)
		return false;
	*ret = (enum code_answer)(word & ((1u << RETURN_SHIFT) - 1));
	return true;
}

static void keep_answer(struct bobbin_unwinder *u, uint64_t key, enum code_answer answer)
{
	u->returns[rule_cache_set(key, RETURN_BITS)] = key << RETURN_SHIFT | answer;
}

/* What the bytes of a file say of an address is remembered. */
static enum code_answer world_returns(struct frame_walk *frames, uint64_t addr)
{
	struct space_walk *w = (struct space_walk *)frames;
	const struct code_reader code = {world_code, frames};
	const uint64_t key = place_again(w, addr);
	enum code_answer answer;

	if (key && is_answered(w->unwinder, key, &answer))
		return answer;
	answer = known_code_return(frames->arch, &code, addr);
	if (key && answer != CODE_UNREADABLE)
		keep_answer(w->unwinder, key, answer);
	return answer;
}

static bool world_is_root(struct frame_walk *frames, uint64_t addr)
{
	struct space_walk *w = (struct space_walk *)frames;
	const struct code_reader code = {world_code, frames};
	const uint64_t place = place_again(w, addr), key = place ? place | ROOT_PLACE : 0;
	enum code_answer answer;
	bool is_root;

	if (key && is_answered(w->unwinder, key, &answer))
		return answer == CODE_YES;
	is_root = known_code_root(frames->arch, &code, addr);
	if (key)
		keep_answer(w->unwinder, key, is_root ? CODE_YES : CODE_NO);
	return is_root;
}

static bool world_is_made(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;

	return unwinder_is_made(w->unwinder, w->space, addr);
}

/* What the process has in its memory, now, or had while it lived. */
static bool live_bytes(const struct space_walk *w, uint64_t addr, void *dst, size_t size)
{
	struct bobbin_unwinder *u = w->unwinder;
	const int pid = w->space->live_pid;

	if (w->mem->read == bobbin_process_memory_read || w->space->whole)
		return !w->mem->read(w->mem->ctx, addr, dst, size);
	return pid && (code_pages_live(&u->pages, u->context.reader, pid, addr, dst, size) ||
		       kept_code_read(u->kept, pid, addr, dst, size));
}

static bool world_slot(struct frame_walk *frames, uint64_t addr, uint64_t *ret)
{
	return live_bytes((const struct space_walk *)frames, addr, ret, sizeof(*ret));
}

/* Whose memory code is read in that is no file's; 0: nobody's. */
static int live_pid(const struct space_walk *w)
{
	if (w->mem->read == bobbin_process_memory_read)
		return ((const struct bobbin_process_memory *)w->mem->ctx)->pid;
	return w->space->live_pid;
}

/* NULL: no memory. */
static struct made_code *made_code_of(struct bobbin_unwinder *u)
{
	if (!u->made)
		u->made = made_code_open();
	return u->made;
}

/* A question of code that the process has made; false: it is not such. */
static bool ask_made(struct space_walk *w, struct made_query *ret)
{
	const struct bobbin_regs *regs = &w->frames.regs;
	const uint64_t pc = bobbin_regs_lookup_pc(regs);
	const struct mapping *m = space_find(w->space, pc);

	if (!live_pid(w) || w->frames.arch != bobbin_arch_amd64() || !m ||
	    !world_is_made(&w->frames, pc))
		return false;
	*ret = (struct made_query){
		.code = {world_code, w},
		.pid = live_pid(w),
		.start = m->start,
		.end = m->end,
		.regs = regs,
	};
	return made_code_of(w->unwinder);
}

static bool world_ways(struct frame_walk *frames, struct bobbin_rule *ret, bool *doubtful)
{
	struct space_walk *w = (struct space_walk *)frames;
	struct made_query query;

	return ask_made(w, &query) && made_code_rule(w->unwinder->made, &query, ret, doubtful);
}

static bool world_proves(struct frame_walk *frames, uint64_t slot, uint64_t word)
{
	struct space_walk *w = (struct space_walk *)frames;
	struct made_query query;

	return ask_made(w, &query) && made_code_proves(w->unwinder->made, &query, slot, word);
}

/* The key of what the code at the PC says. */
static uint64_t code_key(const struct space_walk *w)
{
	const struct bobbin_regs *regs = &w->frames.regs;
	const uint64_t key = place_key(w, bobbin_regs_lookup_pc(regs));

	return key ? key | (regs->exact ? EXACT_PLACE : RETURN_PLACE) : 0;
}

/* Packed rules have no place for the mark of a likely one: the source says it. */
static void world_keep(struct frame_walk *frames, const struct bobbin_rule *rule)
{
	struct space_walk *w = (struct space_walk *)frames;
	const bool likely = rule->flags & BOBBIN_RULE_LEAF;
	const uint64_t key = code_key(w);
	struct bobbin_rule kept = *rule;

	if (!key)
		return;
	kept.flags &= (uint8_t)~BOBBIN_RULE_LEAF;
	rule_cache_put(w->unwinder->cache, UNWINDER_CACHE_BITS, key, &kept,
		       likely ? BOBBIN_SOURCE_GUESS : BOBBIN_SOURCE_PATH);
}

static bool world_kept(struct frame_walk *frames, struct bobbin_rule *ret)
{
	const struct space_walk *w = (struct space_walk *)frames;
	const uint64_t key = code_key(w);
	const struct cached_rule *cached = key ? rule_cache_get(w->cache, UNWINDER_CACHE_BITS, key)
					       : NULL;

	if (!cached)
		return false;
	bobbin_rule_unpack(cached->word, ret);
	if (cached_source(cached) == BOBBIN_SOURCE_GUESS)
		ret->flags |= BOBBIN_RULE_LEAF;
	return true;
}

/* What the code at the PC says from its function's start on. */
static bool ask_start(struct space_walk *w, struct bobbin_rule *ret)
{
	const struct bobbin_regs *regs = &w->frames.regs;
	const uint64_t pc = bobbin_regs_lookup_pc(regs);
	uint64_t vaddr;
	struct module *module = unwinder_module_in(w->unwinder, space_find(w->space, pc), pc,
						   &vaddr);
	struct made_code *made = made_code_of(w->unwinder);
	struct start_query query;

	if (!module || !made)
		return false;
	query = (struct start_query){
		.code = {world_code, w},
		.tables = &module->tables,
		.bias = pc - vaddr,
		.regs = regs,
	};
	return start_rule(made, &query, ret);
}

/* Of files only, whose bytes stay as they are: the answer is remembered. */
static bool world_start_rule(struct frame_walk *frames, struct bobbin_rule *ret)
{
	struct space_walk *w = (struct space_walk *)frames;
	const uint64_t place = code_key(w), key = place ? place | START_PLACE : 0;
	const struct cached_rule *cached = key ? rule_cache_get(w->cache, UNWINDER_CACHE_BITS, key)
					       : NULL;
	bool found;

	if (!place_in_file(w, bobbin_regs_lookup_pc(&frames->regs)))
		return false;
	if (cached) {
		bobbin_rule_unpack(cached->word, ret);
		return ret->cfa.how != BOBBIN_HOW_NO_RULE;
	}
	found = ask_start(w, ret);
	if (!found)
		*ret = bobbin_rule_none(BOBBIN_REASON_NO_FUNCTION);
	rule_cache_put(w->unwinder->cache, UNWINDER_CACHE_BITS, key, ret, BOBBIN_SOURCE_PATH);
	return found;
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;
	uint64_t vaddr;
	struct module *module = unwinder_module_in(w->unwinder, space_find(w->space, addr), addr,
						   &vaddr);

	return module && table_set_is_entry(&module->tables, vaddr);
}

/* Whether code is to be read from memory, though its tables are known: of an image there is no file. */
static bool is_only_in_memory(const struct space_walk *w, const struct module *module)
{
	return module->fd < 0 && w->space->whole;
}

/* Of the file, if there is one; else what the process has there now. */
static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	const struct space_walk *w = world;
	const struct mapping *m = space_find(w->space, addr);
	uint64_t vaddr;
	const struct module *module = unwinder_module_in(w->unwinder, m, addr, &vaddr);

	if (module && !is_only_in_memory(w, module))
		return code_pages_file(&w->unwinder->pages, module, mapping_offset(m, addr), dst,
				       size);
	if (!m && !remote_code_find(w->space->remote, addr))
		return false;
	return live_bytes(w, addr, dst, size);
}

/* In a system call that is the last instruction of its function, the PC is the next one's. */
static bool is_next_function(const struct space_walk *w, uint64_t pc)
{
	const struct bobbin_regs *regs = &w->frames.regs;
	const struct code_reader code = {world_code, (void *)(uintptr_t)w};

	return regs->exact && regs->pc == pc && known_code_syscall(w->frames.arch, &code, pc);
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	struct space_walk *w = (struct space_walk *)frames;
	enum bobbin_source source;

	/* a table that turns out to be malformed serves no more */
	w->range.size = 0;
	source = unwinder_rule(w->unwinder, w->space, pc, ret);
	if (source != BOBBIN_SOURCE_CODE || !is_next_function(w, pc))
		return source;
	*ret = bobbin_rule_none(BOBBIN_REASON_NO_FUNCTION);
	return BOBBIN_SOURCE_NONE;
}

/* Cut [@start, @end) at what begins or ends in it. */
static void cut_range(uint64_t *start, uint64_t *end, uint64_t low, uint64_t high)
{
	if (low > *start)
		*start = low;
	if (high < *end)
		*end = high;
}

/*
 * The registered code at @addr that has a table; NULL: none, then [@start, @end) is
 * cut to where that holds.
 */
static const struct remote_range *enter_registered(struct bobbin_space *space, uint64_t addr,
						   uint64_t *start, uint64_t *end)
{
	const struct remote_code *code = space->remote;
	size_t i = remote_code_after_again(code, addr, &space->remote_last);
	const struct remote_range *next = i < code->count ? &code->ranges[i] : NULL;

	if (next && addr >= next->start) {
		if (remote_range_serves(next))
			return next;
		cut_range(start, end, next->start, next->end);
		return NULL;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): where i is not 0 there are ranges */
	cut_range(start, end, i ? code->ranges[i - 1].end : 0, next ? next->start : UINT64_MAX);
	return NULL;
}

/* The one at an address; its size is 0 where nothing is mapped, or rules are not cached. */
static BOBBIN_OUT_OF_LINE void find_range(struct bobbin_space *space, uint64_t addr,
					  struct rule_range *ret)
{
	const struct mapping *m = space_find(space, addr);
	const struct remote_range *range = NULL;
	uint64_t start = m ? m->start : 0, end = m ? m->end : UINT64_MAX, key = 0;

	if (space->remote)
		range = enter_registered(space, addr, &start, &end);
	ret->size = 0;
	if (range) {
		start = range->start;
		end = range->end;
		key = remote_rule_key(range->place);
	} else if (m && m->file->kind != FILE_NONE) {
		key = rule_cache_key(m->file->number, mapping_offset(m, start));
		if (key && mapping_offset(m, end) >> KEY_FILE)
			key = 0;
	}
	if (key || (m && m->file->kind == FILE_NONE && !range))
		*ret = (struct rule_range){start, end - start, key};
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *frames, uint64_t pc,
						  uint8_t *source)
{
	struct space_walk *w = (struct space_walk *)frames;
	const struct cached_rule *cached;

	*source = BOBBIN_SOURCE_NONE;
	if (!frames->forms.from_sp)
		return 0;
	if (pc - w->range.start >= w->range.size) {
		find_range(w->space, pc, &w->range);
		if (!w->range.size)
			return 0;
	}
	if (!w->range.key)
		return 0;
	cached = rule_cache_get(w->cache, UNWINDER_CACHE_BITS,
				w->range.key + (pc - w->range.start));
	if (!cached || cached_source(cached) == BOBBIN_SOURCE_NONE)
		return 0;
	*source = (uint8_t)cached_source(cached);
	return cached->word;
}

struct space_stacks {
	uint64_t generation; /* of the mappings */
	struct walk_memo stacks[MEMO_STACKS];
};

/* Threads' stacks are megabytes apart. */
static unsigned int stack_number(uint64_t sp)
{
	return (unsigned int)((sp >> 20) * 0x9e3779b97f4a7c15ull >> 62);
}

static struct space_stacks *new_stacks(uint64_t generation)
{
	struct space_stacks *stacks = malloc(sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->generation = generation;
	for (unsigned int i = 0; i < MEMO_STACKS; i++)
		memo_init(&stacks->stacks[i]);
	return stacks;
}

/* The last walk over the stack that @sp is on; NULL: no memory, the walk is only slower. */
static BOBBIN_OUT_OF_LINE struct walk_memo *find_memo(struct bobbin_space *space, uint64_t sp)
{
	struct space_stacks *memo = space->memo;

	if (!memo)
		memo = space->memo = new_stacks(space->generation);
	if (!memo)
		return NULL;
	if (memo->generation != space->generation) {
		for (unsigned int i = 0; i < MEMO_STACKS; i++)
			memo_forget(&memo->stacks[i]);
		memo->generation = space->generation;
	}
	return &memo->stacks[stack_number(sp)];
}

/*
 * A copy of a stack has often left the processor's cache, and a walk reads it
 * word after word, each of which tells where the next one is.  So its top and
 * what the last walk read are asked for at once.  @memo: may be NULL.  Always inlined: GCC drops
 * calls of functions that do nothing else.
 */
static BOBBIN_ALWAYS_INLINE void copy_prefetch(const struct bobbin_stack_copy *copy,
					       const struct walk_memo *memo)
{
	const struct memo_walk *last = memo ? &memo->walks[memo->newest] : NULL;
	size_t top = copy->size < PREFETCH_TOP ? copy->size : PREFETCH_TOP;

	for (size_t i = 0; i < top; i += CACHE_LINE)
		__builtin_prefetch(copy->data + i);
	for (uint32_t i = 0; last && i < last->count; i++) {
		uint64_t offset = last->links[i].sp - copy->addr;

		if (offset - top < copy->size - top)
			__builtin_prefetch(copy->data + offset - 1);
	}
}

static void use_copy(struct space_walk *w, const struct bobbin_stack_copy *copy)
{
	struct walk_memo *stack = find_memo(w->space, w->frames.regs.sp);

	w->copy = *copy;
	w->words = copy->size < sizeof(uint64_t) ? 0 : copy->size - sizeof(uint64_t) + 1;
	w->frames.is_copy = true;
	w->frames.copy_start = copy->addr;
	w->frames.copy_size = copy->size;
	w->frames.near = (struct near_memory){copy->addr, copy->size};
	if (stack)
		memo_begin(&w->frames, stack, &w->memo);
	if (w->words)
		copy_prefetch(copy, stack);
}

/*
 * Where the return of a function is probed, the kernel has replaced the return address by the
 * address of its page "[uprobes]", of which this is used.
 */
#define PROBE_CODE_SIZE 4096

/* The page is no caller, but may be where a thread is; what a walk finds after it is guessed. */
static void end_at_probe_return(const struct bobbin_space *space, struct bobbin_trace *trace)
{
	for (uint32_t i = 0; space->maps.probes && i < trace->count; i++) {
		uint64_t offset = trace->frames[i].pc - space->maps.probes;
		bool exact = trace->frames[i].exact;

		if (exact ? offset >= PROBE_CODE_SIZE : offset)
			continue;
		if (trace->left_out && i <= trace->count - trace->outer)
			trace->left_out = 0;
		trace->count = exact ? i + 1 : i;
		trace->reason = BOBBIN_REASON_PROBED;
	}
}

/* Where the return address of the frame is, of which a rule says that it is 0; 0: that is not known. */
static uint64_t zero_slot(struct space_walk *w)
{
	struct frame_walk *frames = &w->frames;
	struct bobbin_rule rule;
	struct rule_step s = {frames, frames->arch, &rule, &frames->regs, 0};

	if (frame_rule(frames, bobbin_regs_lookup_pc(&frames->regs), &rule) == BOBBIN_SOURCE_NONE ||
	    rule.ra.how != BOBBIN_HOW_IN_CFA_MEM || step_cfa(&s, &s.cfa))
		return 0;
	return s.cfa + (uint64_t)(int64_t)rule.ra.off;
}

/* Whether a word of the stack may be where somebody has called from. */
static bool may_be_caller(struct space_walk *w, uint64_t at)
{
	const struct rule_step s = {.world = &w->frames, .arch = w->frames.arch};
	uint64_t word = 0;

	return step_load(&s, at, &word) || (word - LOWEST_CODE < HIGHEST_CODE - LOWEST_CODE &&
					    world_returns(&w->frames, word) != CODE_NO);
}

/* Nobody has called the last frame if its stack ends there, see core/stack_top.h. */
static void end_at_stack_top(struct space_walk *w, struct bobbin_trace *trace)
{
	const struct bobbin_regs *regs = &w->frames.regs;
	const struct remote_process process = {w->unwinder->context.reader, live_pid(w)};
	uint64_t zero, end;

	if (trace->reason != BOBBIN_REASON_ZERO_RA || !process.pid || regs->sp % 8 ||
	    may_be_new_stack(&w->frames) || w->frames.arch != bobbin_arch_amd64() ||
	    !trace->count || regs->pc != trace->frames[trace->count - 1].pc)
		return;
	zero = zero_slot(w);
	end = zero < regs->sp ? 0 : stack_top_end(&w->unwinder->tops, &process, zero);
	if (!end || end - regs->sp > TOP_FRAME)
		return;
	for (uint64_t at = regs->sp; at < end; at += 8)
		if (may_be_caller(w, at))
			return;
	trace->reason = frame_walk_end(&w->frames, BOBBIN_REASON_OUTERMOST);
}

void unwind_copied(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		   const struct bobbin_regs *regs, const struct bobbin_mem *mem,
		   const struct bobbin_stack_copy *copy, struct bobbin_trace *trace)
{
	struct space_walk w;

	frame_walk_init(&w.frames, space->arch, &space->forms, regs);
	w.unwinder = unwinder;
	w.space = space;
	w.cache = unwinder->cache;
	w.mem = mem;
	w.copy = (struct bobbin_stack_copy){0};
	w.words = 0;
	w.range = (struct rule_range){0};
	w.placed = w.place = 0;
	memo_none(&w.memo);
	/* elsewhere the words of the last walk cost as much as a walk */
	if (copy)
		use_copy(&w, copy);
	walk_stack(&w.frames, &w.memo, trace);
	end_at_stack_top(&w, trace);
	memo_end(&w.memo);
	end_at_probe_return(space, trace);
}

BOBBIN_API void bobbin_unwind(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			      const struct bobbin_regs *regs, const struct bobbin_mem *mem,
			      struct bobbin_trace *trace)
{
	unwind_copied(unwinder, space, regs, mem,
		      mem->read == bobbin_stack_copy_read ? mem->ctx : NULL, trace);
}
