/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of a space: code that is mapped and registered there, and a copy of a stack,
 * or whatever memory a struct bobbin_mem reads.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/module.h"
#include "unwind/remote_table.h"
#include "unwind/space.h"
#include "unwind/unwinder_rule.h"
#include "unwind/walk_loop.h"

#define CACHE_LINE 64
#define PREFETCH_TOP 2048 /* bytes in which the innermost few frames mostly lie */

/* Stacks of one space that are remembered: threads take turns. */
#define MEMO_STACKS 4

struct space_memo {
	uint64_t generation; /* of the mappings */
	struct walk_memo stacks[MEMO_STACKS];
};

/* What a walk knows of the mapping that it is in. */
struct walk_mapping {
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
	struct walk_mapping mapping;
	struct memo_use memo;
};

static BOBBIN_ALWAYS_INLINE void world_load(uint64_t at, uint64_t *ret)
{
	memcpy(ret, (const void *)(uintptr_t)at, sizeof(*ret));
}

static BOBBIN_ALWAYS_INLINE struct near_memory world_near(struct frame_walk *frames, uint64_t sp)
{
	const struct bobbin_stack_copy *copy = &((const struct space_walk *)frames)->copy;

	(void)sp;
	return (struct near_memory){copy->addr, copy->addr + copy->size};
}

static BOBBIN_ALWAYS_INLINE uint64_t world_shift(const struct frame_walk *frames)
{
	const struct bobbin_stack_copy *copy = &((const struct space_walk *)frames)->copy;

	return (uint64_t)(uintptr_t)copy->data - copy->addr;
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

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	struct space_walk *w = (struct space_walk *)frames;

	/* a table that turns out to be malformed serves no more */
	w->mapping.size = 0;
	return unwinder_rule(w->unwinder, w->space, pc, ret);
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;

	return addr - w->mapping.start < w->mapping.size || space_has(w->space, addr);
}

/* The tables of the file at an address, and where they speak of it; NULL: none. */
static struct module *module_at(const struct space_walk *w, uint64_t addr, uint64_t *offset,
				uint64_t *vaddr)
{
	const struct mapping *m = space_find(w->space, addr);
	struct module *module = m ? unwinder_file_module(w->unwinder, m->file) : NULL;

	if (!module)
		return NULL;
	*offset = addr - m->start + m->offset;
	return elf_image_vaddr(&module->image, *offset, vaddr) ? module : NULL;
}

static bool world_follow(struct frame_walk *frames, const struct bobbin_arch *arch, uint64_t pc,
			 struct bobbin_rule *ret)
{
	const struct space_walk *w = (struct space_walk *)frames;
	uint64_t offset, vaddr;
	const struct module *module = module_at(w, pc, &offset, &vaddr);

	return module && table_set_follow(&module->tables, arch, vaddr, ret);
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	const struct space_walk *w = (struct space_walk *)frames;
	uint64_t offset, vaddr;
	const struct module *module = module_at(w, addr, &offset, &vaddr);

	return module && table_set_is_entry(&module->tables, vaddr);
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	const struct space_walk *w = world;
	uint64_t offset, vaddr;
	const struct module *module = module_at(w, addr, &offset, &vaddr);

	return module && module_code(module, offset, dst, size);
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
	cut_range(start, end, i ? code->ranges[i - 1].end : 0, next ? next->start : UINT64_MAX);
	return NULL;
}

/* Its size stays 0 where there is no mapping, or none whose rules are cached. */
static BOBBIN_OUT_OF_LINE void enter_mapping(struct space_walk *w, uint64_t addr)
{
	const struct mapping *m = space_find(w->space, addr);
	const struct remote_range *range = NULL;
	uint64_t start = m ? m->start : 0, end = m ? m->end : UINT64_MAX, key = 0;

	if (w->space->remote)
		range = enter_registered(w->space, addr, &start, &end);
	w->mapping.size = 0;
	if (range) {
		start = range->start;
		end = range->end;
		key = remote_rule_key(range->place);
	} else if (m && m->file->kind != FILE_NONE) {
		key = rule_cache_key(m->file->number, m->offset + (start - m->start));
		if (key && (m->offset + (end - m->start)) >> KEY_FILE)
			key = 0;
	}
	if (key || (m && m->file->kind == FILE_NONE && !range))
		w->mapping = (struct walk_mapping){start, end - start, key};
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *frames, uint64_t pc,
						  uint8_t *source)
{
	struct space_walk *w = (struct space_walk *)frames;
	const struct cached_rule *cached;

	*source = BOBBIN_SOURCE_FRAME_POINTER;
	if (!frames->forms.from_sp)
		return 0;
	if (pc - w->mapping.start >= w->mapping.size) {
		enter_mapping(w, pc);
		if (!w->mapping.size)
			return 0;
	}
	if (!w->mapping.key)
		return frames->forms.record;
	cached = rule_cache_get(w->cache, UNWINDER_CACHE_BITS,
				w->mapping.key + (pc - w->mapping.start));
	if (!cached)
		return 0;
	if (cached_source(cached) == BOBBIN_SOURCE_NONE)
		return frames->forms.record;
	*source = (uint8_t)cached_source(cached);
	return cached->word;
}

/* Threads' stacks are megabytes apart. */
static unsigned int memo_stack(uint64_t sp)
{
	return (unsigned int)((sp >> 20) * 0x9e3779b97f4a7c15ull >> 62);
}

/* Without memory for a memo the walk is slower, nothing else. */
static void open_memo(struct space_walk *w, unsigned int stack)
{
	struct space_memo *memo = w->space->memo;

	if (!memo)
		memo = w->space->memo = calloc(1, sizeof(*memo));
	if (!memo)
		return;
	if (memo->generation != w->space->generation) {
		for (unsigned int i = 0; i < MEMO_STACKS; i++)
			memo_forget(&memo->stacks[i]);
		memo->generation = w->space->generation;
	}
	memo_begin(&w->frames, &memo->stacks[stack], &w->memo);
}

/*
 * A copy of a stack has often left the processor's cache, and a walk reads it
 * word after word, each of which tells where the next one is.  So its top and
 * what the last walk read are asked for at once.
 */
static void prefetch(const struct space_walk *w)
{
	const struct memo_walk *last = w->memo.memo ? w->memo.last : NULL;
	const struct bobbin_stack_copy *copy = &w->copy;
	size_t top = copy->size < PREFETCH_TOP ? copy->size : PREFETCH_TOP;

	for (size_t i = 0; i < top; i += CACHE_LINE)
		__builtin_prefetch(copy->data + i);
	for (uint32_t i = 0; last && i < last->count; i++) {
		uint64_t offset = last->frames[i].sp - copy->addr;

		if (offset - top < copy->size - top)
			__builtin_prefetch(copy->data + offset - 1);
	}
}

static void reverse(struct bobbin_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		struct bobbin_frame frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

/* On to the end: of the frames that follow, the last @outer stay, in order. */
static void walk_outer(struct space_walk *w, struct bobbin_trace *trace, uint32_t outer)
{
	struct bobbin_trace ring = {.frames = trace->frames + trace->count};
	uint32_t rounds = 0;

	/* a memo has no room for what is so far out */
	memo_end(&w->memo);
	memo_none(&w->memo);
	for (walk_frames(&w->frames, &w->memo, &ring, outer); ring.reason == BOBBIN_REASON_DEPTH;
	     walk_frames(&w->frames, &w->memo, &ring, outer))
		if (++rounds >= BOBBIN_MAX_VISITS / outer)
			break;
	trace->reason = ring.reason;
	if (ring.count < outer && rounds) {
		reverse(ring.frames, ring.count);
		reverse(ring.frames + ring.count, outer - ring.count);
		reverse(ring.frames, outer);
	}
	trace->left_out = rounds ? (rounds - 1) * outer + ring.count : 0;
	if (ring.reason == BOBBIN_REASON_DEPTH)
		trace->left_out -= outer;
	trace->count += rounds ? outer : ring.count;
}

static void use_copy(struct space_walk *w, const struct bobbin_stack_copy *copy)
{
	w->copy = *copy;
	w->words = copy->size < sizeof(uint64_t) ? 0 : copy->size - sizeof(uint64_t) + 1;
	w->frames.is_copy = true;
	w->frames.copy_start = copy->addr;
	w->frames.copy_size = copy->size;
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
	w.mapping = (struct walk_mapping){0};
	memo_none(&w.memo);
	if (mem->read == bobbin_stack_copy_read) {
		use_copy(&w, mem->ctx);
		/* elsewhere the words of the last walk cost as much as a walk */
		open_memo(&w, memo_stack(regs->sp));
		if (w.words)
			prefetch(&w);
	}
	trace->left_out = 0;
	walk_frames(&w.frames, &w.memo, trace, max - outer);
	if (outer && trace->reason == BOBBIN_REASON_DEPTH)
		walk_outer(&w, trace, outer);
	memo_end(&w.memo);
}
