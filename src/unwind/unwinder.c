/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker.  A frame costs a search of the mappings, which mostly ends where
 * the last one did, a look into the cache of rules, and a step.  Frames in a
 * copy of a stack whose rules are plain and cached go through a short loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/deps.h"
#include "core/plain_step.h"
#include "unwind/file_modules.h"
#include "unwind/frame_step.h"
#include "unwind/last_resort.h"
#include "unwind/module.h"
#include "unwind/remote_update.h"
#include "unwind/rule_cache.h"
#include "unwind/space.h"
#include "unwind/stack_switch.h"
#include "unwind/unwinder_rule.h"
#include "unwind/walk_memo.h"

#define CACHE_LINE 64
#define PREFETCH_TOP 2048 /* bytes in which the innermost few frames mostly lie */

struct bobbin_unwinder {
	struct bobbin_unwinder_options options;
	char *debug_path, *sframe_path;
	struct file_table files;
	struct process_reader *reader; /* NULL: without a deadline */
	struct file_modules modules;
	struct remote_room registered;
	struct rule_cache cache;
};

/* Keep a string of the caller's; NULL stays NULL. */
static int copy_string(const char **string, char **copy)
{
	if (!*string)
		return 0;
	*string = *copy = strdup(*string);
	return *copy ? 0 : -ENOMEM;
}

static int copy_options(const struct bobbin_unwinder_options *options, struct bobbin_unwinder *u)
{
	size_t size = options ? options->size : 0;
	const uint8_t *bytes = (const uint8_t *)options;

	for (size_t i = sizeof(u->options); i < size; i++)
		if (bytes[i])
			return -E2BIG;
	if (options)
		memcpy(&u->options, options, size < sizeof(u->options) ? size : sizeof(u->options));
	return copy_string(&u->options.debug_path, &u->debug_path) ||
			       copy_string(&u->options.sframe_path, &u->sframe_path)
		       ? -ENOMEM
		       : 0;
}

BOBBIN_API int bobbin_unwinder_open(const struct bobbin_unwinder_options *options,
				    struct bobbin_unwinder **ret)
{
	struct bobbin_unwinder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->registered.limit = REMOTE_ALL_BYTES;
	r = copy_options(options, u);
	if (!r && u->options.deadline_ms)
		r = process_reader_open(u->options.deadline_ms, &u->reader);
	if (r)
		bobbin_unwinder_close(u);
	else
		*ret = u;
	return r;
}

BOBBIN_API void bobbin_unwinder_close(struct bobbin_unwinder *unwinder)
{
	if (!unwinder)
		return;
	file_modules_fini(&unwinder->modules);
	free(unwinder->debug_path);
	free(unwinder->sframe_path);
	process_reader_close(unwinder->reader);
	file_table_fini(&unwinder->files);
	free(unwinder);
}

BOBBIN_API int bobbin_space_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
				 struct bobbin_space **ret)
{
	return space_open(&unwinder->files, unwinder->reader, arch, ret);
}

BOBBIN_API void bobbin_unwinder_process_memory(struct bobbin_unwinder *unwinder, int pid,
					       struct bobbin_process_memory *memory)
{
	bobbin_process_memory_init(memory, pid);
	memory->reader = unwinder->reader;
}

struct process_reader *unwinder_reader(struct bobbin_unwinder *unwinder)
{
	return unwinder->reader;
}

int unwinder_update_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space, int pid,
			 unsigned int doors)
{
	return remote_code_update(space, pid, doors, &unwinder->registered);
}

uint64_t unwinder_left_out(const struct bobbin_unwinder *unwinder)
{
	return unwinder->registered.left_out;
}

BOBBIN_API int bobbin_space_update_code(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, int pid)
{
	return unwinder_update_code(unwinder, space, pid, REMOTE_DOORS);
}

static struct module *module_of(struct bobbin_unwinder *u, const struct mapped_file *file)
{
	return file_modules_get(&u->modules, &u->files, file, u->reader, &u->options);
}

struct module *unwinder_file_module(struct bobbin_unwinder *unwinder,
				    const struct mapped_file *file)
{
	return module_of(unwinder, file);
}

struct module *unwinder_module(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			       uint64_t addr)
{
	const struct mapping *m = space_find(space, addr);

	return m ? module_of(unwinder, m->file) : NULL;
}

BOBBIN_API void bobbin_unwinder_preload(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t addr)
{
	unwinder_module(unwinder, space, addr);
}

/* Registered code is where it is: it has no file whose space to count in. */
static bool registered_function(const struct bobbin_space *space, uint64_t addr, uint64_t *ret)
{
	const struct remote_range *range = remote_code_find(space->remote, addr);

	return range && range->table && table_set_function(&range->table->tables, addr, ret);
}

BOBBIN_API int bobbin_function_start(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				     uint64_t addr, uint64_t *ret, uint64_t *offset)
{
	const struct mapping *m = space_find(space, addr);
	struct module *module = m ? module_of(unwinder, m->file) : NULL;
	uint64_t vaddr, start;

	if (module && elf_image_vaddr(&module->image, addr - m->start + m->offset, &vaddr) &&
	    table_set_function(&module->tables, vaddr, &start)) {
		*ret = start;
		*offset = vaddr - start;
		return 0;
	}
	if (!registered_function(space, addr, &start))
		return -ENOENT;
	*ret = start;
	*offset = addr - start;
	return 0;
}

/*
 * false: there is more to know, the file cannot be opened now, or registers decide, see
 * step_after_syscall().
 */
static bool ask_file(struct bobbin_unwinder *u, const struct mapping *m, uint64_t offset,
		     struct bobbin_rule *rule, enum bobbin_source *source)
{
	struct module *module = module_of(u, m->file);
	struct table_answer answer;

	*source = BOBBIN_SOURCE_NONE;
	*rule = bobbin_rule_none(BOBBIN_REASON_NO_TABLE);
	if (!module && file_modules_left_out(&u->modules, m->file))
		*rule = bobbin_rule_none(BOBBIN_REASON_NO_ROOM);
	if (!module || !module_rule(module, offset, &answer))
		return module;
	*source = answer.source;
	*rule = answer.row.rule;
	return *source != BOBBIN_SOURCE_NONE || !module_after_syscall(module, offset);
}

/* Not inlined: so the rule is made in its place and not copied, which stalls. */
static __attribute__((noinline)) struct bobbin_rule find_rule(struct bobbin_unwinder *u,
							      const struct bobbin_space *space,
							      const struct mapping *m, uint64_t pc,
							      enum bobbin_source *source)
{
	uint64_t offset = pc - m->start + m->offset;
	uint64_t key = rule_cache_key(m->file->number, offset);
	const struct cached_rule *cached = key ? rule_cache_get(&u->cache, key) : NULL;
	struct bobbin_rule rule;

	if (cached) {
		*source = cached_source(cached);
		bobbin_rule_unpack(cached->word, &rule);
		return rule;
	}
	if (m->file->kind == FILE_VSYSCALL && !space->arch->big_endian) {
		*source = BOBBIN_SOURCE_VSYSCALL;
		return vsyscall_rule(space->arch);
	}
	if (ask_file(u, m, offset, &rule, source))
		rule_cache_put(&u->cache, key, &rule, *source);
	return rule;
}

/*
 * Of registered code; false: its table does not know the address.  That is not
 * kept: a JIT table may know it later.
 */
static __attribute__((noinline)) bool find_registered(struct bobbin_unwinder *u,
						      const struct bobbin_space *space, uint64_t pc,
						      struct bobbin_rule *rule,
						      enum bobbin_source *source)
{
	const struct remote_range *range = remote_code_find(space->remote, pc);
	const struct cached_rule *cached;
	struct table_answer answer;
	uint64_t key = 0;

	if (!range || !remote_range_serves(range))
		return false;
	if (range->place != REMOTE_NOWHERE)
		key = remote_rule_key(range->place + (pc - range->start));
	cached = key ? rule_cache_get(&u->cache, key) : NULL;
	if (cached) {
		*source = cached_source(cached);
		bobbin_rule_unpack(cached->word, rule);
		return true;
	}
	if (!table_set_row(&range->table->tables, pc, &answer))
		return false;
	*source = answer.source;
	*rule = answer.row.rule;
	rule_cache_put(&u->cache, key, rule, *source);
	return true;
}

enum bobbin_source unwinder_rule(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				 uint64_t pc, struct bobbin_rule *ret)
{
	enum bobbin_source source = BOBBIN_SOURCE_NONE;
	const struct mapping *m;

	if (space->remote && find_registered(unwinder, space, pc, ret, &source))
		return source;
	m = space_find(space, pc);
	*ret = m ? find_rule(unwinder, space, m, pc, &source)
		 : bobbin_rule_none(BOBBIN_REASON_NO_MAPPING);
	return source;
}

struct walk {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	const struct bobbin_mem *mem;
	const struct bobbin_stack_copy *copy; /* what @mem reads, if it is that, or NULL */
	const struct memo_walk *last;         /* the last walk over this stack, or NULL */
	struct memo_walk *next;               /* this walk, for the next time, or NULL */
	uint32_t last_at;                     /* entry of @last that may come next */
	struct stack_in_use stack;
	enum bobbin_source callee; /* who gave the rule of the frame before */
	struct bobbin_regs regs;
	uint64_t gpr[BOBBIN_REG_COUNT]; /* filled when a signal frame is met */
};

static bool walk_is_code(void *ctx, uint64_t addr)
{
	const struct walk *w = ctx;

	return space_has(w->space, addr);
}

static bool walk_is_entry(void *ctx, uint64_t addr)
{
	const struct walk *w = ctx;
	const struct mapping *m = space_find(w->space, addr);
	struct module *module = m ? module_of(w->unwinder, m->file) : NULL;
	uint64_t vaddr;

	return module && elf_image_vaddr(&module->image, addr - m->start + m->offset, &vaddr) &&
	       table_set_is_entry(&module->tables, vaddr);
}

static bool walk_code(void *ctx, uint64_t addr, void *dst, size_t size)
{
	const struct walk *w = ctx;
	const struct mapping *m = space_find(w->space, addr);
	struct module *module = m ? module_of(w->unwinder, m->file) : NULL;

	return module && module_code(module, addr - m->start + m->offset, dst, size);
}

static struct bobbin_rule walk_rule(void *ctx, uint64_t pc, enum bobbin_source *source)
{
	const struct walk *w = ctx;
	struct bobbin_rule rule;

	*source = unwinder_rule(w->unwinder, w->space, pc, &rule);
	return rule;
}

/* To a frame on another stack, if what is found there looks like one. */
static enum bobbin_reason switch_stacks(struct walk *w, const struct bobbin_rule *rule)
{
	struct bobbin_rule across = across_stacks(rule);
	struct bobbin_regs caller = w->regs;

	if (w->stack.switches == MAX_SWITCHES ||
	    step_by_rule(w->space->arch, &across, w->mem, w->gpr, &caller) ||
	    !space_has(w->space, caller.pc - 1))
		return BOBBIN_REASON_OTHER_STACK;
	w->regs = caller;
	w->stack.bottom = caller.sp;
	w->stack.switches++;
	return BOBBIN_REASON_NONE;
}

/* Whether an address is on another stack than the copied one. */
static bool is_beyond_copy(const struct walk *w, uint64_t cfa)
{
	if (cfa <= w->regs.sp)
		return is_other_stack(&w->stack, cfa);
	return cfa - w->regs.sp > LARGEST_FRAME;
}

/* The caller's frame was not found: @reason, or it is on another stack. */
static BOBBIN_NEVER_INLINE enum bobbin_reason leave_stack(struct walk *w,
							  const struct bobbin_rule *rule,
							  enum bobbin_reason reason)
{
	uint64_t cfa;

	/* the code that a signal interrupted was not on the stack of the handler */
	if (w->copy && w->copy->size && w->regs.sp - w->copy->addr > w->copy->size)
		return BOBBIN_REASON_OTHER_STACK;
	if (!cfa_anywhere(w->space->arch, rule, w->mem, &w->regs, &cfa))
		return reason;
	if (w->copy)
		return is_beyond_copy(w, cfa) ? BOBBIN_REASON_OTHER_STACK : reason;
	if (reason != BOBBIN_REASON_STUCK || !is_other_stack(&w->stack, cfa))
		return reason;
	return switch_stacks(w, rule);
}

static enum bobbin_reason walk_by(struct walk *w, const struct bobbin_rule *rule)
{
	enum bobbin_reason reason;

	if (rule->flags & BOBBIN_RULE_SWITCH)
		return switch_stacks(w, rule);
	reason = step_by_rule(w->space->arch, rule, w->mem, w->gpr, &w->regs);
	if (stack_has_ended(reason))
		return leave_stack(w, rule, reason);
	if (rule->flags & BOBBIN_RULE_SIGNAL)
		w->stack.bottom = w->regs.sp;
	return reason;
}

static enum bobbin_reason walk_step(void *ctx, const struct bobbin_rule *rule)
{
	return walk_by(ctx, rule);
}

static enum bobbin_reason walk_without_rule(struct walk *w, struct bobbin_frame *frame,
					    enum bobbin_reason without)
{
	const struct last_resort resort = {
		.arch = w->space->arch,
		.mem = w->mem,
		.code = {walk_code, w},
		.is_code = walk_is_code,
		.is_entry = walk_is_entry,
		.rule = walk_rule,
		.step = walk_step,
	};

	return step_without_rule(&resort, &w->regs, frame, without);
}

static enum bobbin_reason walk_on(struct walk *w, struct bobbin_frame *frame)
{
	struct bobbin_rule rule;
	enum bobbin_source source = unwinder_rule(w->unwinder, w->space,
						  bobbin_regs_lookup_pc(&w->regs), &rule);

	frame->source = (uint8_t)source;
	if (source == BOBBIN_SOURCE_NONE)
		return walk_without_rule(w, frame, (enum bobbin_reason)rule.reason);
	skip_shared_record(w->space->arch, w->callee, &rule);
	return walk_by(w, &rule);
}

/* A word of the copy; false: it is not there. */
static BOBBIN_ALWAYS_INLINE bool copied_word(const struct bobbin_stack_copy *copy, uint64_t addr,
					     uint64_t *ret)
{
	uint64_t offset = addr - copy->addr;

	if (copy->size < sizeof(*ret) || offset > copy->size - sizeof(*ret))
		return false;
	memcpy(ret, copy->data + offset, sizeof(*ret));
	return true;
}

static void note_frame(struct walk *w, uint64_t pc, uint64_t sp, uint64_t fp, uint8_t source,
		       bool plain, int64_t fp_off)
{
	if (w->next)
		w->next->frames[w->next->count++] = (struct memo_frame){
			.pc = pc,
			.sp = sp,
			.fp = fp,
			.fp_off = (int32_t)fp_off,
			.source = source,
			.plain = plain,
		};
}

/* Whether the caller is the same as last time: every word that told is. */
static BOBBIN_ALWAYS_INLINE bool caller_unchanged(const struct bobbin_stack_copy *copy,
						  const struct memo_frame *frame)
{
	const struct memo_frame *caller = frame + 1;
	uint64_t word;

	if (!copied_word(copy, caller->sp - sizeof(word), &word) || word != caller->pc)
		return false;
	return !frame->fp_off ||
	       (copied_word(copy, caller->sp + (uint64_t)(int64_t)frame->fp_off, &word) &&
		word == caller->fp);
}

/* To the next frame out, of which nothing but these is known. */
static BOBBIN_ALWAYS_INLINE void go_on(struct walk *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	if (w->regs.exact)
		w->regs = (struct bobbin_regs){0};
	w->regs.pc = pc;
	w->regs.sp = sp;
	w->regs.fp = fp;
}

/* Frames that are as they were in the last walk. */
static BOBBIN_ALWAYS_INLINE void walk_memo(struct walk *w, struct bobbin_trace *trace, uint32_t max)
{
	const struct memo_frame *f, *end, *first;
	uint32_t count;

	if (!w->last || w->regs.exact)
		return;
	f = &w->last->frames[w->last_at];
	end = &w->last->frames[w->last->count];
	while (f < end && f->sp < w->regs.sp)
		f++;
	w->last_at = (uint32_t)(f - w->last->frames);
	if (f == end || f->pc != w->regs.pc || f->sp != w->regs.sp || f->fp != w->regs.fp)
		return;

	for (first = f; f + 1 < end && f->plain && trace->count < max; f++) {
		if (!caller_unchanged(w->copy, f))
			break;
		trace->frames[trace->count++] = (struct bobbin_frame){.pc = f->pc,
								      .source = f->source};
	}
	count = (uint32_t)(f - first);
	if (!count)
		return;
	memcpy(&w->next->frames[w->next->count], first, count * sizeof(*f));
	w->next->count += count;
	w->last_at += count;
	go_on(w, f->pc, f->sp, f->fp);
}

/* What the loop below knows of the mapping that it is in. */
struct copy_mapping {
	uint64_t start, size;
	uint64_t key; /* rule_cache_key() of @start; 0: there are no tables */
};

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

/* false: there is no mapping, or none whose rules are cached. */
static bool enter_mapping(struct walk *w, uint64_t addr, struct copy_mapping *ret)
{
	const struct mapping *m = space_find(w->space, addr);
	const struct remote_range *range = NULL;
	uint64_t start = m ? m->start : 0, end = m ? m->end : UINT64_MAX, offset;

	if (w->space->remote)
		range = enter_registered(w->space, addr, &start, &end);
	if (range) {
		*ret = (struct copy_mapping){range->start, range->end - range->start, 0};
		ret->key = remote_rule_key(range->place);
		return ret->key;
	}
	if (!m)
		return false;
	*ret = (struct copy_mapping){start, end - start, 0};
	if (m->file->kind == FILE_NONE)
		return true;
	offset = m->offset + (start - m->start);
	ret->key = rule_cache_key(m->file->number, offset);
	return ret->key && !((offset + ret->size) >> KEY_FILE);
}

/*
 * The packed rule for an address, a frame record's where there is none; 0: it
 * is not cached.
 */
static BOBBIN_ALWAYS_INLINE uint64_t word_at(struct walk *w, const struct copy_mapping *mapping,
					     uint64_t addr, uint8_t *source)
{
	const struct cached_rule *cached;

	*source = BOBBIN_SOURCE_FRAME_POINTER;
	if (!mapping->key)
		return w->space->forms.record;
	cached = rule_cache_get(&w->unwinder->cache, mapping->key + (addr - mapping->start));
	if (!cached)
		return 0;
	if (cached_source(cached) == BOBBIN_SOURCE_NONE)
		return w->space->forms.record;
	*source = (uint8_t)cached_source(cached);
	return cached->word;
}

/* A frame record may be anything at all: what it names must be code. */
static bool is_code(struct walk *w, const struct copy_mapping *mapping, uint64_t ra)
{
	return ra - 1 - mapping->start < mapping->size || space_has(w->space, ra - 1);
}

/*
 * Frames while rules are cached and plain and the copy has what they need; the
 * first frame that wants more is left for walk_on(), which finds out what.
 * BOBBIN_REASON_OUTERMOST, or BOBBIN_REASON_NONE: go on there.
 */
static enum bobbin_reason walk_copy(struct walk *w, struct bobbin_trace *trace, uint32_t max)
{
	const struct plain_forms forms = w->space->forms;
	struct copy_mapping mapping = {.start = 1};

	for (walk_memo(w, trace, max); trace->count < max; walk_memo(w, trace, max)) {
		uint64_t pc = w->regs.pc, sp = w->regs.sp, fp = w->regs.fp;
		uint64_t at = bobbin_regs_lookup_pc(&w->regs), word, cfa, ra, caller_fp = fp;
		struct bobbin_frame frame = {.pc = pc, .exact = w->regs.exact};
		int64_t fp_off;

		if (at - mapping.start >= mapping.size && !enter_mapping(w, at, &mapping))
			break;
		word = word_at(w, &mapping, at, &frame.source);
		if (plain_outermost(word)) {
			trace->frames[trace->count++] = frame;
			return BOBBIN_REASON_OUTERMOST;
		}
		if (!plain_cfa(&forms, word, sp, fp, &cfa) || cfa <= sp || cfa % sizeof(ra))
			break;
		if (!copied_word(w->copy, cfa - sizeof(ra), &ra) || !ra)
			break;
		if (frame.source == BOBBIN_SOURCE_FRAME_POINTER && !is_code(w, &mapping, ra))
			break;
		if (!plain_fp_saved(word, &fp_off))
			fp_off = 0;
		else if (!fp_off || !copied_word(w->copy, cfa + (uint64_t)fp_off, &caller_fp))
			break;
		trace->frames[trace->count++] = frame;
		note_frame(w, pc, sp, fp, frame.source, true, fp_off);
		go_on(w, ra, cfa, caller_fp);
	}
	return BOBBIN_REASON_NONE;
}

/* Threads' stacks are megabytes apart. */
static unsigned int memo_stack(uint64_t sp)
{
	return (unsigned int)((sp >> 20) * 0x9e3779b97f4a7c15ull >> 62);
}

/* Without memory for a memo the walk is slower, nothing else. */
static void open_memo(struct walk *w, unsigned int stack)
{
	struct walk_memo *memo = w->space->memo;
	uint32_t newest;

	if (!memo)
		memo = w->space->memo = calloc(1, sizeof(*memo));
	if (!memo)
		return;
	if (memo->generation != w->space->generation) {
		for (unsigned int i = 0; i < MEMO_STACKS; i++)
			memo->walks[i][memo->newest[i]].count = 0;
		memo->generation = w->space->generation;
	}
	newest = memo->newest[stack];
	w->last = &memo->walks[stack][newest];
	w->next = &memo->walks[stack][!newest];
	w->next->count = 0;
	memo->newest[stack] = !newest;
}

/*
 * A copy of a stack has often left the processor's cache, and a walk reads it
 * word after word, each of which tells where the next one is.  So its top and
 * what the last walk read are asked for at once.
 */
static void prefetch(const struct walk *w)
{
	const struct bobbin_stack_copy *copy = w->copy;
	size_t top = copy->size < PREFETCH_TOP ? copy->size : PREFETCH_TOP;

	for (size_t i = 0; i < top; i += CACHE_LINE)
		__builtin_prefetch(copy->data + i);
	for (uint32_t i = 0; w->last && i < w->last->count; i++) {
		uint64_t offset = w->last->frames[i].sp - copy->addr;

		if (offset - top < copy->size - top)
			__builtin_prefetch(copy->data + offset - 1);
	}
}

static void walk(struct walk *w, struct bobbin_trace *trace, uint32_t max)
{
	bool plain = w->copy && w->space->forms.from_sp;

	for (trace->count = 0; trace->count < max;) {
		struct bobbin_regs regs;
		struct bobbin_frame *frame;

		if (plain) {
			trace->reason = walk_copy(w, trace, max);
			if (trace->reason)
				return;
			if (trace->count == max)
				break;
		}
		if (trace->count)
			w->callee = trace->frames[trace->count - 1].source;
		regs = w->regs;
		frame = &trace->frames[trace->count++];
		*frame = (struct bobbin_frame){.pc = regs.pc, .exact = regs.exact};
		trace->reason = walk_on(w, frame);
		note_frame(w, regs.pc, regs.sp, regs.fp, frame->source, false, 0);
		if (trace->reason)
			return;
	}
	/* the walk may go on */
	if (max)
		w->callee = trace->frames[max - 1].source;
	trace->reason = BOBBIN_REASON_DEPTH;
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
static void walk_outer(struct walk *w, struct bobbin_trace *trace, uint32_t outer)
{
	struct bobbin_trace ring = {.frames = trace->frames + trace->count};
	uint32_t rounds = 0;

	/* a memo has no room for what is so far out */
	w->last = w->next = NULL;
	for (walk(w, &ring, outer); ring.reason == BOBBIN_REASON_DEPTH; walk(w, &ring, outer))
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

BOBBIN_API void bobbin_unwind(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			      const struct bobbin_regs *regs, const struct bobbin_mem *mem,
			      struct bobbin_trace *trace)
{
	uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;
	uint32_t outer = trace->outer < max ? trace->outer : 0;
	struct walk w;

	/* not the registers behind, which are many and rarely used */
	memset(&w, 0, offsetof(struct walk, regs));
	w.unwinder = unwinder;
	w.space = space;
	w.mem = mem;
	w.regs = *regs;
	w.stack.bottom = regs->sp;
	if (mem->read == bobbin_stack_copy_read) {
		w.copy = mem->ctx;
		open_memo(&w, memo_stack(regs->sp));
		prefetch(&w);
	}
	trace->left_out = 0;
	walk(&w, trace, max - outer);
	if (outer && trace->reason == BOBBIN_REASON_DEPTH)
		walk_outer(&w, trace, outer);
}
