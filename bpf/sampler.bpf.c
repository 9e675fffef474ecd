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

/* In struct walk_state.rules; lists have other numbers. */
#define BORROWED (1ull << 62)
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

/* Whether the code's bytes contradict its table, or cannot be read. */
BOBBIN_STAGE __attribute__((flatten)) int replaces_frame(uint32_t number, uint64_t pc)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	return !s ||
	       bpf_probe_read_user(s->code, sizeof(s->code),
				   (const void *)(pc - EH_RETURN_BEFORE)) ||
	       eh_return_code(BOBBIN_NATIVE_ARCH(), s->code);
}

BOBBIN_STAGE int returns_to_root(uint64_t pc)
{
	uint8_t code[ROOT_CODE_SIZE];

	return bpf_probe_read_user(code, sizeof(code), (const void *)(pc + 1)) ||
	       root_code(BOBBIN_NATIVE_ARCH(), code);
}

/* Whether user space knows code without a table by its bytes, or they cannot be read. */
BOBBIN_STAGE int is_known_code(uint64_t pc)
{
	uint8_t code[32];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - 8)))
		return true;
	/* syscall: restorers have one, and after one other rules hold */
	for (unsigned int i = 0; i + 1 < sizeof(code); i++)
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return true;
	return returns_to_root(pc);
}

/* No table covers the code: it is a root, or what its bytes and the stack say decides. */
static BOBBIN_ALWAYS_INLINE uint64_t resort_word(struct walk_state *s,
						 const struct kernel_file *file, uint64_t vaddr)
{
	s->source = BOBBIN_SOURCE_NONE;
	if (!file->resort)
		return 0;
	if (file->first && vaddr - file->first < file->first_size) {
		s->source = BOBBIN_SOURCE_ENTRY;
		return outermost_word;
	}
	s->next_file = KERNEL_RECORD;
	return 0;
}

/* Whether a JIT table has more entries than its copy, or cannot be read. */
static BOBBIN_ALWAYS_INLINE bool has_grown(const struct kernel_file *file)
{
	uint64_t end[2]; /* used_len and next of struct code_jit_unwind_table */

	return bpf_probe_read_user(end, sizeof(end), (const void *)(file->tail + 8)) ||
	       end[0] != file->used || end[1];
}

/* The packed rule by a file's table; 0: none, or user space has to look closer. */
static BOBBIN_ALWAYS_INLINE uint64_t table_word(struct walk_state *s,
						const struct kernel_file *file, uint64_t pc,
						uint64_t vaddr)
{
	const bool registered = kernel_is_registered(file->number);
	struct compiled_row row = {0}; /* Linux 6.1 wants to see that all of it is set */
	int r;

	if (file->tail && s->borrowed)
		return 0;
	s->source = file->source;
	r = table_find(&file->table, vaddr, &s->steps, &row);
	if (r == -BOBBIN_ENOENT && file->tail && has_grown(file))
		return 0;
	if (r == -BOBBIN_ENOENT && (registered || file->next != KERNEL_NO_FILE)) {
		s->next_file = registered ? KERNEL_UNDER : file->next;
		return 0;
	}
	if (r == -BOBBIN_ENOENT)
		return resort_word(s, file, vaddr);
	if (r || !row.word)
		return 0;
	if (vaddr - file->entry < file->entry_size && !plain_outermost(row.word)) {
		s->source = BOBBIN_SOURCE_ENTRY;
		return outermost_word;
	}
	if (row.end == vaddr + 1 && !registered && returns_to_root(pc))
		return 0;
	return file->eh_returns && replaces_frame(s->number, pc) ? 0 : row.word;
}

/* The same by a table's number; s->next_file: the one to ask instead, or KERNEL_NO_FILE. */
BOBBIN_STAGE uint64_t file_word(uint32_t number, uint32_t file, uint64_t pc, uint64_t vaddr)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	const uint32_t index = kernel_file_index(file);
	const struct kernel_file *f = bpf_map_lookup_elem(&files, &index);

	if (!s)
		return 0;
	s->next_file = KERNEL_NO_FILE;
	return f && f->number == file ? table_word(s, f, pc, vaddr) : 0;
}

/* The packed rule for an address that this CPU has not kept, or 0. */
BOBBIN_STAGE uint64_t look_up(uint32_t number, uint64_t pc, uint64_t slot)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	const struct kernel_mapping *m;
	uint64_t word = 0, bias;

	if (!s)
		return 0;
	s->source = BOBBIN_SOURCE_NONE;
	m = find_mapping(s, pc);
	if (!m) {
		s->unmapped = true;
		return 0;
	}
	s->next_file = m->file;
	bias = m->bias;
	for (unsigned int i = 0; i < 1 + KERNEL_SECTIONS && !word; i++) {
		if (s->next_file == KERNEL_UNDER) {
			s->next_file = m->under;
			bias = m->under_bias;
		}
		if (s->next_file == KERNEL_BARE) {
			s->next_file = KERNEL_RECORD;
			break;
		}
		if (s->next_file == KERNEL_NO_FILE)
			return 0;
		if (s->next_file == KERNEL_RECORD)
			break;
		word = file_word(number, s->next_file, pc, pc - bias);
	}
	if (s->next_file == KERNEL_RECORD)
		s->source = is_known_code(pc) ? BOBBIN_SOURCE_NONE : BOBBIN_SOURCE_FRAME_POINTER;
	if (word)
		s->kept[index_below(slot, KERNEL_RULES)] = (struct kept_rule){pc, s->rules, word,
									      s->source};
	return word;
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *w, uint64_t pc,
						  uint8_t *source)
{
	struct walk_state *s = (struct walk_state *)w;
	uint64_t slot = index_below((pc * 0x9e3779b97f4a7c15ull) >> 52, KERNEL_RULES);
	const struct kept_rule *kept = &s->kept[slot];
	uint64_t word;

	if (kept->pc == pc && kept->list == s->rules) {
		*source = (uint8_t)kept->source;
		return kept->word;
	}
	word = look_up(s->number, pc, slot);
	*source = s->source;
	return word;
}

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

static bool world_is_code(struct frame_walk *w, uint64_t addr)
{
	return find_mapping((const struct walk_state *)w, addr);
}

#include "bare_frames.h"

struct walk_loop {
	struct walk_state *state;
	struct plain_frame frame;
	uint64_t count;
	uint64_t callee; /* source of the last frame's rule */
	uint64_t reason;
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

static long next_frame(uint32_t i, void *ctx)
{
	struct walk_loop *c = ctx;
	struct walk_state *s = c->state;
	struct plain_frame *f = &c->frame, caller;
	uint64_t pc = f->pc;
	bool exact = f->exact;
	enum frame_case found = frame_plain(&s->walk, f, &caller);

	c->reason = BOBBIN_REASON_NONE;
	if (found == FRAME_CALLER)
		plain_frame_move(f, caller.pc, caller.sp, caller.fp);
	else if (found == FRAME_OUTERMOST)
		c->reason = BOBBIN_REASON_OUTERMOST;
	else if (f->source == BOBBIN_SOURCE_FRAME_POINTER)
		c->reason = step_bare(s->number, f);
	else
		/* looked up again here: below step_on() there is no stack for that */
		c->reason = step_on(s->number, f, c->callee,
				    world_packed(&s->walk, f->pc - !f->exact, &f->source));
	c->callee = f->source;
	s->sample.words[index_below(i, KERNEL_FRAMES)] = (pc & KERNEL_PC) |
							 (uint64_t)f->source << KERNEL_PC_BITS |
							 (exact ? KERNEL_EXACT : 0);
	c->count = i + 1ull;
	return c->reason != BOBBIN_REASON_NONE;
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
	s->walk.searched = 0;
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
	struct walk_loop loop = {.state = s};
	bool whole;

	end->cookie = 0;
	if (!process && may_defer)
		renew_list();
	if (!process || !code_is_known(process))
		return false;
	s->number = number;
	use_list(s, process, pid);
	if (!user_frame(s, &loop.frame))
		return false;
	bpf_loop(KERNEL_FRAMES, next_frame, &loop, 0);
	end->count = loop.count;
	whole = loop.reason == BOBBIN_REASON_OUTERMOST && list_is_current(pid, s->list.number);
	count_walk(loop.count, whole);
	if (may_defer && s->unmapped)
		renew_list();
	else if (may_defer && !whole && misses_page(s, loop.frame.pc))
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
