/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler.bpf.c - walk the user stack of a sample in the kernel, when the sample is taken.
 *
 * This is a world of the core's walk.  Its rules come from compiled tables, its memory is what is
 * resident of the current process.  A stack that is walked to its root goes to user space as a list
 * of addresses, and the kernel's own sample is dropped.  Otherwise the kernel's sample has the
 * registers and a copy of the stack, and user space walks that.
 *
 * Where the sample interrupts another BPF program, or work on a map, the kernel cannot run this
 * program, and drops the sample without a record of it.
 */
#include <bobbin/types.h>

#include <bpf/bpf_helpers.h>

#include "bpfwalk/bpf_abi.h"
#include "core/arch.c"
#include "core/bare_code.h"
#include "core/call_code.h"
#include "core/code_path.c"
#include "core/eh_return.c"
#include "core/plain_frame.h"
#include "core/root_code.c"
#include "core/rule.c"
#include "core/stg_run.c"
#include "core/trampoline.c"
#include "core/x86_bytes.c"
#include "core/x86_path.c"
#include "table/table_lookup.h"

/* linux/sched.h: threads that have no user registers */
#define PF_USER_WORKER 0x00004000
#define PF_KTHREAD 0x00200000
/* asm/segment.h: 64-bit code of users */
#define USER_CS 0x33

/* Words of the stack that are read at once. */
#define WINDOW_WORDS 256
#define WINDOW_SIZE (8 * WINDOW_WORDS)
/* A frame may read that much below the word that it reads first. */
#define WINDOW_BELOW 64

/* In struct walk_state.rules; lists have other numbers.  And of rules that are not to be trusted. */
#define BORROWED (1ull << 62)
#define INFERRED (1ull << 61)
/* Beyond the frames that are given out: how often it is looked how long that takes, and the most. */
#define DEEP_PART 256
#define DEEP_NS 10000000ull
/* A process's list is made anew no more often than this. */
#define RENEW_NS 500000ull
/* The same for a process that has too many mappings. */
#define RENEW_LONG_NS 1000000000ull

struct kept_rule {
	uint64_t pc, list, word;
	uint64_t source;
};

/* The state of one walk at a time: a CPU's program does not interrupt itself. */
struct walk_state {
	struct frame_walk walk; /* first: it is the world */
	/* here and not on the stack, where the verifier would tell each way through a frame apart */
	struct plain_frame frame;
	uint64_t count;
	uint8_t callee; /* source of the last frame's rule */
	uint8_t reason;
	struct kernel_list list;
	uint64_t rules; /* key of this walk's rules in @kept, besides the PC */
	bool borrowed;  /* the list is an ancestor's, whose JIT tables grow on their own */
	bool window_fails;
	uint32_t number;  /* of this state */
	uint64_t busy;    /* a walk uses it; not for the states of CPUs' samples */
	uint64_t missing; /* where the stack, or code, could not be read, or 0 */
	bool code_is_missing;
	bool unmapped;  /* an address was met that the list does not know */
	uint8_t source; /* of the rule that look_up() has found */
	uint32_t next_file;
	uint64_t deep_since; /* when the walk had more frames than are given out, or 0 */
	uint64_t deep_due;   /* when a walk may be that again */
	uint32_t left_out;   /* frames, see KERNEL_HAS_GAP */
	struct table_steps steps;
	uint8_t code[EH_RETURN_SIZE];
	struct x86_bytes insn; /* of code that no table covers */
	uint64_t window[WINDOW_WORDS];
	struct kernel_sample sample;
	uint64_t hashes[KERNEL_SAMPLE_WORDS]; /* see stack_record.h */
	struct kept_rule kept[KERNEL_RULES];
};

/* What the loader finds by name. */
#pragma GCC visibility push(default)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_PROCESSES);
	__type(key, uint32_t);
	__type(value, struct kernel_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KERNEL_MAPPINGS + KERNEL_FRESH_LISTS * KERNEL_FRESH_MAPPINGS);
	__type(key, uint32_t);
	__type(value, struct kernel_mapping);
} mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KERNEL_FILES);
	__type(key, uint32_t);
	__type(value, struct kernel_file);
} files SEC(".maps");

struct table_page {
	uint8_t bytes[KERNEL_PAGE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KERNEL_PAGES);
	__type(key, uint32_t);
	__type(value, struct table_page);
} pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, KERNEL_LATE_BYTES);
} results SEC(".maps");

/* One for each CPU, and more; as of the next map, the number is set before it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct walk_state);
} states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kernel_counts);
} counts SEC(".maps");

/* Set before the program is loaded: plain_forms_of(), and the rule of a root. */
const volatile uint64_t form_from_sp, form_from_fp, form_record, outermost_word;
/* After the CPUs' states come those of walks that have waited. */
const volatile uint32_t first_late_state;
/* Whether the kernel's sample is kept beside each walk. */
const volatile bool also_copy;
/* Whose samples are wanted, by the number of the user; or of_all_users. */
const volatile uint32_t of_user;
const volatile bool of_all_users = true;

#pragma GCC visibility pop

#include "mapping_lists.h"

#include "stack_record.h"

static BOBBIN_ALWAYS_INLINE const uint8_t *table_piece(const struct compiled_table *t,
						       const uint8_t *at, unsigned int size)
{
	uint64_t offset = (uint64_t)at;
	uint32_t number = (uint32_t)(offset / KERNEL_PAGE);
	const struct table_page *page = bpf_map_lookup_elem(&pages, &number);

	if (!page || offset / KERNEL_PAGE >= KERNEL_PAGES)
		return NULL;
	offset &= KERNEL_PAGE - size;
	__asm__ volatile("" : "+r"(offset));
	return &page->bytes[index_below(offset, KERNEL_PAGE - size + 1)];
}

static BOBBIN_ALWAYS_INLINE const uint8_t *table_pairs(const struct compiled_table *t)
{
	uint32_t number = (uint32_t)((uint64_t)t->pairs / KERNEL_PAGE);
	const struct table_page *page = bpf_map_lookup_elem(&pages, &number);

	return page ? page->bytes + TABLE_HEAD_SIZE : NULL;
}

/* The mapping of a list that ends after an address, or the end of the list. */
BOBBIN_STAGE uint32_t mapping_after(uint32_t first, uint32_t count, uint64_t pc)
{
	for (unsigned int i = 0; i < 17 && count; i++) {
		uint32_t half = count / 2, middle = first + half;
		const struct kernel_mapping *m = bpf_map_lookup_elem(&mappings, &middle);

		if (!m)
			break;
		if (m->end <= pc) {
			first = middle + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

static BOBBIN_ALWAYS_INLINE const struct kernel_mapping *find_mapping(const struct walk_state *s,
								      uint64_t pc)
{
	uint32_t number = mapping_after(s->list.first, s->list.count, pc);
	const struct kernel_mapping *m;

	if (number - s->list.first >= s->list.count)
		return NULL;
	m = bpf_map_lookup_elem(&mappings, &number);
	return m && pc >= m->start && pc < m->end ? m : NULL;
}

static BOBBIN_ALWAYS_INLINE void count_walk(uint64_t frames, bool whole)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct kernel_counts *c = bpf_map_lookup_elem(&counts, &cpu);

	if (!c)
		return;
	c->walks++;
	c->frames += frames;
	c->whole += whole;
}

/* Bytes that are read before an address, and in all. */
#define CODE_BEFORE 8
#define CODE_AROUND 32

/*
 * Code is not in memory, and is to be read in.  A page of the stack that was missed before it comes
 * first: the kernel's copy would lack it.
 */
static BOBBIN_ALWAYS_INLINE void note_code(struct walk_state *s, uint64_t addr)
{
	if (s->missing)
		return;
	s->missing = addr;
	s->code_is_missing = true;
}

/* Whether code around an address is not there, as of callers that are not returned to for long. */
static BOBBIN_ALWAYS_INLINE bool misses_code(struct walk_state *s, uint64_t pc)
{
	uint64_t word;

	for (int32_t i = -CODE_BEFORE; i < CODE_AROUND - CODE_BEFORE; i += (int)sizeof(word))
		if (bpf_probe_read_user(&word, sizeof(word), (const void *)(pc + (uint64_t)i))) {
			note_code(s, pc + (uint64_t)i);
			return true;
		}
	return false;
}

BOBBIN_STAGE int note_missing_code(uint32_t number, uint64_t pc)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	return s && misses_code(s, pc);
}

#include "packed_rules.h"

/* A word outside of what was read; the window moves there. */
BOBBIN_STAGE int far_word(uint32_t number, uint64_t addr, uint64_t *ret)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	uint64_t start = addr - WINDOW_BELOW;

	if (!s || !ret)
		return BOBBIN_REASON_NO_MEMORY;
	if (!(addr & 7) && !s->window_fails) {
		s->window_fails = bpf_probe_read_user(s->window, WINDOW_SIZE, (const void *)start);
		s->walk.near.start = start;
		s->walk.near.size = s->window_fails ? 0 : WINDOW_SIZE;
		if (!s->window_fails) {
			*ret = s->window[WINDOW_BELOW / 8];
			return BOBBIN_REASON_NONE;
		}
	}
	if (!bpf_probe_read_user(ret, sizeof(*ret), (const void *)addr))
		return BOBBIN_REASON_NONE;
	s->missing = addr;
	s->code_is_missing = false;
	return BOBBIN_REASON_NO_MEMORY;
}

/* Near memory is the window: from an address to a place in it. */
static BOBBIN_ALWAYS_INLINE uint64_t world_shift(const struct frame_walk *w)
{
	return -w->near.start;
}

static BOBBIN_ALWAYS_INLINE void world_load(const struct frame_walk *w, uint64_t at, uint64_t *ret)
{
	const struct walk_state *s = (const struct walk_state *)w;

	*ret = s->window[index_below(at / 8, WINDOW_WORDS)];
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	struct walk_state *s = world;
	uint64_t offset = addr - s->walk.near.start;

	if (offset >= s->walk.near.size || offset & 7)
		return (enum bobbin_reason)far_word(s->number, addr, ret);
	world_load(&s->walk, offset, ret);
	return BOBBIN_REASON_NONE;
}

BOBBIN_STAGE int far_pair(uint32_t number, uint64_t cfa, int64_t fp_off, struct frame_words *ret)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	return s && ret && !world_word(&s->walk, cfa + (uint64_t)PLAIN_RA_OFF, &ret->ra) &&
	       (fp_off == PLAIN_RA_OFF || !world_word(&s->walk, cfa + (uint64_t)fp_off, &ret->fp));
}

static BOBBIN_ALWAYS_INLINE bool far_words(struct frame_walk *w, uint64_t cfa, int64_t fp_off,
					   struct frame_words *ret)
{
	return far_pair(((struct walk_state *)w)->number, cfa, fp_off, ret);
}

static bool world_is_code(struct frame_walk *w, uint64_t addr)
{
	return find_mapping((const struct walk_state *)w, addr);
}

#include "bare_frames.h"
#include "goroutine_stack.h"
#include "mapped_stack.h"

struct walk_loop {
	struct walk_state *state;
};

/* By a rule that is not plain, such as that of a signal frame; @word: packed, or 0. */
BOBBIN_STAGE int step_on(uint32_t number, struct plain_frame *f, uint64_t callee, uint64_t word)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	enum bobbin_reason reason;
	struct bobbin_regs regs;
	struct bobbin_rule rule;

	if (!s || !f || !word)
		return BOBBIN_REASON_NO_TABLE;
	regs = (struct bobbin_regs){.pc = f->pc, .sp = f->sp, .fp = f->fp, .exact = f->exact};
	bobbin_rule_unpack(word, &rule);
	if (was_left_by_record((uint8_t)callee))
		skip_shared_record(BOBBIN_NATIVE_ARCH(), &rule);
	reason = step_by_rule(s, BOBBIN_NATIVE_ARCH(), &rule, &regs);
	if (reason)
		return reason;
	plain_frame_move(f, regs.pc, regs.sp, regs.fp);
	f->exact = regs.exact;
	return BOBBIN_REASON_NONE;
}

/*
 * Interrupts wait for a walk, so those of very deep stacks have half of the time at most: beyond
 * that user space walks what was copied.
 */
BOBBIN_STAGE int is_too_deep(uint32_t number, uint32_t i)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	uint64_t now;

	if (!s || i % DEEP_PART)
		return !s;
	now = bpf_ktime_get_ns();
	if (!s->deep_since)
		s->deep_since = now;
	return s->deep_since < s->deep_due || now - s->deep_since > DEEP_NS;
}

/* The place of a frame: the outer ones take turns.  Without a branch, as word_at(). */
static BOBBIN_ALWAYS_INLINE uint64_t frame_place(uint32_t i)
{
	uint64_t outer = KERNEL_INNER_FRAMES + i % KERNEL_OUTER_FRAMES;
	uint64_t is_outer = (KERNEL_FRAMES - 1 - (uint64_t)i) >> 63;

	__asm__ volatile("" : "+r"(is_outer));
	return index_below(i ^ ((i ^ outer) & -is_outer), KERNEL_FRAMES);
}

/* Put the outer frames of a deep stack in their order. */
BOBBIN_STAGE int turn_outer_frames(uint32_t number, uint32_t count)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	if (!s)
		return 0;
	for (uint32_t i = 0; i < KERNEL_OUTER_FRAMES; i++)
		s->hashes[i] =
			s->sample.words[KERNEL_INNER_FRAMES + (count + i) % KERNEL_OUTER_FRAMES];
	for (uint32_t i = 0; i < KERNEL_OUTER_FRAMES; i++)
		s->sample.words[KERNEL_INNER_FRAMES + i] = s->hashes[i];
	return 0;
}

#include "inferred_frames.h"

/*
 * By a rule that is not plain; a switch of stacks must lead to code.  What is looked up here is so
 * since below step_on() there is no stack for that.
 */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_over(struct walk_state *s,
							 struct plain_frame *f,
							 struct plain_frame *caller)
{
	const uint64_t word = world_packed(&s->walk, f->pc - !f->exact, &f->source);
	enum bobbin_reason reason;

	*caller = *f;
	reason = (enum bobbin_reason)step_on(s->number, caller, s->callee, word);
	if (plain_switches(word)) {
		if (reason || s->walk.switches >= MAX_SWITCHES || !find_mapping(s, caller->pc - 1))
			return BOBBIN_REASON_OTHER_STACK;
		s->walk.switches++;
	}
	*f = *caller;
	return reason;
}

static long next_frame(uint32_t i, void *ctx)
{
	struct walk_state *s = ((struct walk_loop *)ctx)->state;
	struct plain_frame *f = &s->frame, caller;
	uint64_t pc = f->pc;
	bool exact = f->exact;
	enum frame_case found;

	s->reason = BOBBIN_REASON_NONE;
	if (i >= KERNEL_FRAMES && is_too_deep(s->number, i))
		return 1;
	found = frame_plain(&s->walk, f, &caller);
	if (found == FRAME_CALLER)
		plain_frame_move(f, caller.pc, caller.sp, caller.fp);
	else if (found == FRAME_OUTERMOST)
		s->reason = BOBBIN_REASON_OUTERMOST;
	else if (f->source == BOBBIN_SOURCE_CODE && !search_stg_run(f->sp))
		s->reason = (uint8_t)step_inferred(s->number, f, s->callee);
	else if (f->source == BOBBIN_SOURCE_FRAME_POINTER || f->source == BOBBIN_SOURCE_CODE)
		s->reason = (uint8_t)step_bare(s->number, f);
	else
		s->reason = (uint8_t)step_over(s, f, &caller);
	BOBBIN_REREAD();
	if (s->reason == BOBBIN_REASON_OTHER_STACK && f->source == BOBBIN_SOURCE_GO)
		s->reason = (uint8_t)step_goroutine(s->number, f);
	else if (s->reason == BOBBIN_REASON_ZERO_RA && is_stack_top(s->number, f))
		s->reason = BOBBIN_REASON_OUTERMOST;
	s->callee = f->source;
	s->sample.words[frame_place(i)] = (pc & KERNEL_PC) | (uint64_t)f->source << KERNEL_PC_BITS |
					  (exact ? KERNEL_EXACT : 0);
	s->count = i + 1ull;
	return s->reason != BOBBIN_REASON_NONE;
}

/* A walk of @count frames is over.  Those that are given out. */
BOBBIN_STAGE uint32_t end_walk(uint32_t number, uint64_t count)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	uint64_t now;

	if (!s)
		return 0;
	if (s->deep_since > s->deep_due) {
		now = bpf_ktime_get_ns();
		s->deep_due = now + (now - s->deep_since);
	}
	s->left_out = 0;
	if (count <= KERNEL_FRAMES)
		return (uint32_t)count;
	s->left_out = (uint32_t)count - KERNEL_FRAMES;
	turn_outer_frames(number, (uint32_t)count);
	return KERNEL_FRAMES;
}

/* Walk to the root, or as far as it goes.  The frames that are given out. */
static BOBBIN_ALWAYS_INLINE uint32_t walk_frames(struct walk_state *s)
{
	struct walk_loop loop = {.state = s};

	s->deep_since = 0;
	s->count = 0;
	s->callee = BOBBIN_SOURCE_NONE;
	bpf_loop(KERNEL_DEEP_FRAMES, next_frame, &loop, 0);
	return end_walk(s->number, s->count);
}

/* Whether the user's registers are there, and of 64-bit code. */
static BOBBIN_ALWAYS_INLINE bool user_frame(struct walk_state *s, struct plain_frame *ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (task->flags & (PF_KTHREAD | PF_USER_WORKER) || (uint16_t)regs->cs != USER_CS)
		return false;
	*ret = (struct plain_frame){.pc = regs->ip, .sp = regs->sp, .fp = regs->bp, .exact = true};
	s->walk.forms.from_sp = form_from_sp;
	s->walk.forms.from_fp = form_from_fp;
	s->walk.forms.record = form_record;
	s->missing = 0;
	s->code_is_missing = s->unmapped = false;
	s->walk.searched = s->walk.switches = 0;
	s->walk.near.start = ret->sp & ~7ull;
	s->window_fails = bpf_probe_read_user(s->window, WINDOW_SIZE,
					      (const void *)s->walk.near.start);
	s->walk.near.size = s->window_fails ? 0 : WINDOW_SIZE;
	return true;
}

/* Of process @pid, which is the current one or an ancestor. */
static BOBBIN_ALWAYS_INLINE void use_list(struct walk_state *s,
					  const struct kernel_process *process, uint32_t pid)
{
	s->list = process->list;
	s->borrowed = pid != (uint32_t)(bpf_get_current_pid_tgid() >> 32);
	s->rules = s->list.number ^ (s->borrowed ? BORROWED : 0);
}

#include "late_walks.h"

/* What became of a walk; @cookie: of the one that follows, or 0. */
struct walk_end {
	uint64_t count, cookie;
};

/* Of code it is for the next walk: of this stack the kernel can make a copy. */
static BOBBIN_ALWAYS_INLINE void have_page(const struct walk_state *s, uint32_t pid,
					   struct walk_end *end)
{
	if (s->code_is_missing)
		call_late(s->missing);
	else if (!also_copy)
		end->cookie = defer(s, pid);
}

/* The stack of the current task.  false: it is user space that walks it. */
static BOBBIN_ALWAYS_INLINE bool walk_current(struct walk_state *s, uint32_t number, bool may_defer,
					      struct walk_end *end)
{
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;
	const struct kernel_process *process = find_process(&pid);
	bool whole;

	end->cookie = 0;
	if (!process && may_defer)
		renew_list();
	if (!process || !code_is_known(process))
		return false;
	s->number = number;
	use_list(s, process, pid);
	if (!user_frame(s, &s->frame))
		return false;
	end->count = walk_frames(s);
	whole = s->reason == BOBBIN_REASON_OUTERMOST && list_is_current(pid, s->list.number);
	count_walk(s->count, whole);
	if (may_defer && s->unmapped)
		renew_list();
	else if (may_defer && !whole && misses_page(s, s->frame.pc))
		have_page(s, pid, end);
	return whole || end->cookie;
}

static BOBBIN_ALWAYS_INLINE bool is_of_user(void)
{
	return of_all_users || (uint32_t)bpf_get_current_uid_gid() == of_user;
}

/* Threads of the kernel never return to user mode, and would keep places for late walks. */
static BOBBIN_ALWAYS_INLINE bool has_user_mode(void)
{
	return !(bpf_get_current_task_btf()->flags & (PF_KTHREAD | PF_USER_WORKER));
}

/* 0: the stack was walked and given out, will be, or is not wanted; 1: the kernel's sample is. */
static BOBBIN_ALWAYS_INLINE int walk(struct bpf_perf_event_data *ctx, bool may_defer)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct walk_state *s = bpf_map_lookup_elem(&states, &cpu);
	struct sample_facts facts;
	struct walk_end end;

	if (!is_of_user())
		return 0;
	if (!has_user_mode() || !s || !walk_current(s, cpu, may_defer, &end))
		return 1;
	facts = facts_of(ctx);
	return give_out(ctx, s, &facts, end.count, end.cookie) ? also_copy : 1;
}

SEC("perf_event")
__attribute__((visibility("default"))) int walk_stack(struct bpf_perf_event_data *ctx)
{
	return walk(ctx, false);
}

/* Where the kernel has bpf_task_work. */
SEC("perf_event")
__attribute__((visibility("default"))) int walk_or_defer(struct bpf_perf_event_data *ctx)
{
	return walk(ctx, true);
}

#include "hit_walks.h"

/* Only of processes that are sampled, or may be. */
SEC("tp_btf/sched_process_exec")
__attribute__((visibility("default"))) int on_exec(uint64_t *args)
{
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;

	if (nearest_known(&pid, false) && is_known(pid))
		make_fresh_list(false);
	return 0;
}

/* Another process may get its number before the recorder reads of that. */
SEC("tp_btf/sched_process_exit")
__attribute__((visibility("default"))) int on_exit(uint64_t *args)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;

	/* the last thread */
	if (!task->signal->live.counter && is_known(pid))
		drop_lists(pid);
	return 0;
}

char program_license[] SEC("license") = "GPL";
