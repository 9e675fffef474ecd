/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * late_walks.h - work on a task's return to user mode: walks that wait for pages, and lists that are
 * made anew.
 *
 * Each has a place in a map, with the kernel's handle.  While a task waits it holds nothing else.
 */
#ifndef BOBBIN_LATE_WALKS_H
#define BOBBIN_LATE_WALKS_H

/* The largest stack whose pages are waited for, and the most pages, those of code, too. */
#define LATE_STACK (64ull << 20)
#define LATE_FAULTS 64
/* A walk that waits longer loses its place; places that are tried at most. */
#define LATE_NS 1000000000ull
#define LATE_TRIES 3

#pragma GCC visibility push(default)

/*
 * A walk that waits for the return to user mode; cookie 0: it is @missing that is read in, or, if that
 * is 0, the list that is made anew.
 */
struct late_walk {
	struct bpf_task_work work;
	uint64_t busy; /* since when, or 0 */
	uint64_t cookie, pc, sp;
	uint64_t missing, word; /* where there is no page yet, and what was read there */
	uint32_t pid, state;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_LATE_WALKS);
	__type(key, uint32_t);
	__type(value, struct late_walk);
} late_walks SEC(".maps");

#pragma GCC visibility pop

/* The loader puts the kernel's function there, see bpfwalk/sampler_program.c. */
static int (*const schedule_resume)(struct task_struct *task, struct bpf_task_work *work, void *map,
				    int (*callback)(struct bpf_map *, void *, void *),
				    void *aux) = (void *)KERNEL_SCHEDULE_RESUME;

/* A free state, or NULL.  A walk gives its state back before it waits. */
static BOBBIN_ALWAYS_INLINE struct walk_state *claim_state(uint32_t *number)
{
	const uint64_t now = bpf_ktime_get_ns();
	struct walk_state *s;

	for (uint32_t i = 0; i < LATE_TRIES; i++) {
		*number = first_late_state + (uint32_t)(now / 64 + i) % KERNEL_LATE_STATES;
		s = bpf_map_lookup_elem(&states, number);
		if (!s || !__sync_val_compare_and_swap(&s->busy, 0, 1))
			return s;
	}
	return NULL;
}

/* Whether a page of the stack, or of code, is not in memory; @pc: of the frame that ended the walk. */
static BOBBIN_ALWAYS_INLINE bool misses_page(struct walk_state *s, uint64_t pc)
{
	return s->missing || note_missing_code(s->number, pc);
}

struct late_loop {
	struct late_walk *late;
};

/* Walk from the leaf on.  The address that it has to wait for, or 0. */
static BOBBIN_ALWAYS_INLINE uint64_t walk_again(struct walk_state *s, struct late_loop *c)
{
	const struct kernel_process *process = newest_process(c->late->pid);
	uint32_t frames;

	if (!process || !code_is_known(process))
		return 0;
	s->number = c->late->state;
	use_list(s, process, c->late->pid);
	/* execve() has put another program there */
	if (!user_frame(s, &s->frame) || s->frame.pc != c->late->pc || s->frame.sp != c->late->sp)
		return 0;
	frames = walk_frames(s);
	if (s->reason != BOBBIN_REASON_OUTERMOST)
		return misses_page(s, s->frame.pc) ? s->missing : 0;
	count_walk(s->count, true);
	if (list_is_current(c->late->pid, s->list.number))
		give_out_late(s, frames, c->late->cookie);
	return 0;
}

/* Hold no state while waiting: the page may never be filled. */
static long wait_and_walk(uint32_t i, void *ctx)
{
	struct late_loop *c = ctx;
	struct late_walk *late = c->late;
	struct walk_state *s;

	if (bpf_copy_from_user(&late->word, sizeof(late->word), (const void *)late->missing))
		return 1;
	s = claim_state(&late->state);
	if (!s)
		return 1;
	late->missing = walk_again(s, c);
	s->busy = 0;
	return !late->missing;
}

/* In the task itself, before it returns to user mode. */
static int on_return(struct bpf_map *map, void *key, void *value)
{
	struct late_walk *late = value;
	struct late_loop loop = {.late = late};

	if (late->cookie)
		bpf_loop(LATE_FAULTS, wait_and_walk, &loop, 0);
	else if (late->missing)
		bpf_copy_from_user(&late->word, sizeof(late->word), (const void *)late->missing);
	else
		make_fresh_list(true);
	late->busy = 0;
	return 0;
}

/* A place for a walk that waits; NULL: there is none.  Tasks that have ended never give theirs back. */
static BOBBIN_ALWAYS_INLINE struct late_walk *claim(uint32_t *slot, uint64_t now)
{
	struct late_walk *late;
	uint64_t before;

	for (uint32_t i = 0; i < LATE_TRIES; i++) {
		*slot = (uint32_t)(now / 64 + i) % KERNEL_LATE_WALKS;
		late = bpf_map_lookup_elem(&late_walks, slot);
		if (!late)
			return NULL;
		before = late->busy;
		if (before && now - before < LATE_NS)
			continue;
		if (__sync_val_compare_and_swap(&late->busy, before, now) == before)
			return late;
	}
	return NULL;
}

/* Walk the stack when its pages can be waited for.  The cookie of that walk, or 0. */
static BOBBIN_ALWAYS_INLINE uint64_t defer(const struct walk_state *s, uint32_t pid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	uint64_t now = bpf_ktime_get_ns(), word;
	struct late_walk *late;
	uint32_t slot;

	if (s->missing - regs->sp >= LATE_STACK)
		return 0;
	/* in execve() these are the registers of a program that is gone */
	if (bpf_probe_read_user(&word, sizeof(word), (const void *)regs->sp))
		return 0;
	late = claim(&slot, now);
	if (!late)
		return 0;
	/* where another task still waits this fails; ours comes to that after this program */
	if (schedule_resume(task, &late->work, &late_walks, on_return, NULL))
		return 0;
	late->cookie = now << KERNEL_LATE_BITS | slot;
	late->pid = pid;
	late->missing = s->missing;
	late->pc = regs->ip;
	late->sp = regs->sp;
	return late->cookie;
}

/* When the current process returns to user mode, read in what is @missing, or make its list anew. */
static BOBBIN_ALWAYS_INLINE void call_late(uint64_t missing)
{
	uint32_t slot;
	struct late_walk *late = claim(&slot, bpf_ktime_get_ns());

	if (!late ||
	    schedule_resume(bpf_get_current_task_btf(), &late->work, &late_walks, on_return, NULL))
		return;
	late->cookie = 0;
	late->missing = missing;
}

static BOBBIN_ALWAYS_INLINE void renew_list(void)
{
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;
	const struct kernel_process *theirs = bpf_map_lookup_elem(&processes, &pid);
	const struct kernel_process *ours = bpf_map_lookup_elem(&fresh, &pid);
	uint64_t now = bpf_ktime_get_ns();

	if ((theirs && (!theirs->list.number || theirs->page)) ||
	    (ours && (now - ours->renewed < RENEW_NS || now < ours->retry)))
		return;
	call_late(0);
}

#endif
