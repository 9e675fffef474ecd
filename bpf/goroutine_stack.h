/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * goroutine_stack.h - go on where Go's runtime.systemstack() has left the stack of a goroutine.
 *
 * The thread's g is g0 then, and its m says which goroutine called.  What was saved of that holds
 * for the innermost switch, so a walk follows one.
 */
#ifndef BOBBIN_GOROUTINE_STACK_H
#define BOBBIN_GOROUTINE_STACK_H

static BOBBIN_ALWAYS_INLINE bool user_word(uint64_t addr, uint64_t *ret)
{
	return !(addr & 7) && !bpf_probe_read_user(ret, sizeof(*ret), (const void *)addr);
}

/* The goroutine that the current thread has left for g0, or 0. */
static BOBBIN_ALWAYS_INLINE uint64_t left_goroutine(const struct stack_switch *how)
{
	const uint64_t base = bpf_get_current_task_btf()->thread.fsbase;
	uint64_t g = 0, m = 0, g0 = 0, curg = 0, of_curg = 0;

	if (!user_word(base + (uint64_t)(int64_t)how->tls, &g) ||
	    !user_word(g + (uint64_t)how->m, &m) || !user_word(m + (uint64_t)how->g0, &g0) ||
	    !user_word(m + (uint64_t)how->curg, &curg) ||
	    !user_word(curg + (uint64_t)how->m, &of_curg))
		return 0;
	return g == g0 && curg != g && of_curg == m ? curg : 0;
}

/* How the code at an address has left a goroutine's stack, or NULL. */
static BOBBIN_ALWAYS_INLINE const struct stack_switch *switch_at(const struct walk_state *s,
								 uint64_t pc)
{
	const struct kernel_mapping *m = find_mapping(s, pc);
	const struct kernel_file *f;
	uint32_t index;
	uint64_t at;

	if (!m)
		return NULL;
	index = kernel_file_index(m->file);
	f = bpf_map_lookup_elem(&files, &index);
	if (!f || f->number != m->file || !f->leaves_at)
		return NULL;
	at = pc - m->bias - f->leaves_at;
	return at >= f->leaves.start && at < f->leaves.end ? &f->leaves : NULL;
}

/* The caller of a function that has left a goroutine's stack; or why it is not known. */
BOBBIN_STAGE int step_goroutine(uint32_t number, struct plain_frame *f)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	const struct stack_switch *how;
	uint64_t g, sp = 0, pc = 0, fp;

	if (!s || !f || s->walk.switches)
		return BOBBIN_REASON_OTHER_STACK;
	how = switch_at(s, f->pc - !f->exact);
	g = how ? left_goroutine(how) : 0;
	if (!g || !user_word(g + (uint64_t)how->sp, &sp))
		return BOBBIN_REASON_OTHER_STACK;
	fp = f->fp;
	if (how->pushed && !user_word(sp, &fp))
		return BOBBIN_REASON_OTHER_STACK;
	sp += how->pushed ? 8 : 0;
	if (!user_word(sp, &pc) || code_returns(pc) != CODE_YES)
		return BOBBIN_REASON_OTHER_STACK;
	s->walk.switches = 1;
	plain_frame_move(f, pc, sp + 8, fp);
	return BOBBIN_REASON_NONE;
}

#endif
