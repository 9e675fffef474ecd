/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of a space: code that is mapped and registered there, and a copy of a stack,
 * or whatever memory a struct bobbin_mem reads.
 */
#include <string.h>

#include "unwind/module.h"
#include "unwind/outer_frames.h"
#include "unwind/probe_return.h"
#include "unwind/rule_range.h"
#include "unwind/space_memo.h"
#include "unwind/unwinder_rule.h"

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

/* In a key: what the code says at an exact PC, or after a call.  No file is that large. */
#define EXACT_PLACE (1ull << (KEY_FILE - 1))
#define RETURN_PLACE (1ull << (KEY_FILE - 2))

/* The cache's key of an address in a file whose bytes can be read; 0: it is none, or is registered code. */
static uint64_t place_key(const struct space_walk *w, uint64_t addr)
{
	const struct mapping *m = space_find(w->space, addr);

	if (!m || m->file->kind != FILE_REGULAR || remote_code_find(w->space->remote, addr) ||
	    !unwinder_file_module(w->unwinder, m->file))
		return 0;
	if ((addr - m->start + m->offset) & (EXACT_PLACE | RETURN_PLACE))
		return 0;
	return rule_cache_key(m->file->number, addr - m->start + m->offset);
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;

	return addr - w->range.start < w->range.size || space_has(w->space, addr);
}

/* The tables of the file of @m at an address in it, and where they speak of it; NULL: none. */
static struct module *module_of(const struct space_walk *w, const struct mapping *m, uint64_t addr,
				uint64_t *offset, uint64_t *vaddr)
{
	*offset = addr - m->start + m->offset;
	return unwinder_module_at(w->unwinder, m->file, m->offset, *offset, vaddr);
}

/* The same of what is mapped at an address; NULL also if that is nothing. */
static struct module *module_at(const struct space_walk *w, uint64_t addr, uint64_t *offset,
				uint64_t *vaddr)
{
	const struct mapping *m = space_find(w->space, addr);

	return m ? module_of(w, m, addr, offset, vaddr) : NULL;
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	const struct space_walk *w = (struct space_walk *)frames;
	uint64_t offset, vaddr;
	const struct module *module = module_at(w, pc, &offset, &vaddr);

	if (!module)
		return BOBBIN_REASON_NO_TABLE;
	step->bias = pc - vaddr;
	return table_set_step(&module->tables, vaddr, w->mem, step);
}

/* What the bytes of a file say of an address is remembered. */
static enum code_answer world_returns(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;
	const struct code_reader code = {world_code, frames};
	const uint64_t key = place_key(w, addr);
	enum code_answer answer;

	if (key && unwinder_return_known(w->unwinder, key, &answer))
		return answer;
	answer = known_code_return(frames->arch, &code, addr);
	if (key && answer != CODE_UNREADABLE)
		unwinder_return_keep(w->unwinder, key, answer);
	return answer;
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
	unwinder_keep_rule(w->unwinder, key, &kept,
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

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;
	uint64_t offset, vaddr;
	struct module *module = module_at(w, addr, &offset, &vaddr);

	return module && table_set_is_entry(&module->tables, vaddr);
}

/* Of the file, if there is one; else what the process has there now. */
static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	const struct space_walk *w = world;
	const struct mapping *m = space_find(w->space, addr);
	const struct module *module;
	uint64_t offset, vaddr;

	module = m ? module_of(w, m, addr, &offset, &vaddr) : NULL;
	if (module)
		return unwinder_file_code(w->unwinder, module, offset, dst, size);
	if (!m && !remote_code_find(w->space->remote, addr))
		return false;
	if (w->mem->read == bobbin_process_memory_read)
		return !w->mem->read(w->mem->ctx, addr, dst, size);
	return w->space->live_pid &&
	       unwinder_live_code(w->unwinder, w->space->live_pid, addr, dst, size);
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

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *frames, uint64_t pc,
						  uint8_t *source)
{
	struct space_walk *w = (struct space_walk *)frames;
	const struct cached_rule *cached;

	*source = BOBBIN_SOURCE_NONE;
	if (!frames->forms.from_sp)
		return 0;
	if (pc - w->range.start >= w->range.size) {
		rule_range_find(w->space, pc, &w->range);
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

static void use_copy(struct space_walk *w, const struct bobbin_stack_copy *copy)
{
	struct walk_memo *stack = space_memo(w->space, w->frames.regs.sp);

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

BOBBIN_API void bobbin_unwind(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			      const struct bobbin_regs *regs, const struct bobbin_mem *mem,
			      struct bobbin_trace *trace)
{
	uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;
	uint32_t outer = trace->outer < max ? trace->outer : 0;
	struct space_walk w;

	frame_walk_init(&w.frames, space->arch, &space->forms, regs);
	w.unwinder = unwinder;
	w.space = space;
	w.cache = unwinder_cache(unwinder);
	w.mem = mem;
	w.copy = (struct bobbin_stack_copy){0};
	w.words = 0;
	w.range = (struct rule_range){0};
	memo_none(&w.memo);
	/* elsewhere the words of the last walk cost as much as a walk */
	if (mem->read == bobbin_stack_copy_read)
		use_copy(&w, mem->ctx);
	trace->left_out = 0;
	walk_frames(&w.frames, &w.memo, trace, max - outer);
	if (outer && trace->reason == BOBBIN_REASON_DEPTH)
		walk_outer_frames(&w.frames, &w.memo, trace, outer);
	memo_end(&w.memo);
	end_at_probe_return(space, trace);
}
