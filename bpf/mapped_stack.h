/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapped_stack.h - whether a stack ends at a return address of 0, as core/stack_top.h says.
 */
#ifndef BOBBIN_MAPPED_STACK_H
#define BOBBIN_MAPPED_STACK_H

#include "core/stack_top.h"

struct stack_top {
	uint64_t at, end, word;
	bool has_called; /* it may have */
};

static long take_end(struct task_struct *task, struct vm_area_struct *vma, uint64_t *end)
{
	if (!vma->vm_file)
		*end = vma->vm_end;
	return 0;
}

static long turn_of_top(uint32_t i, void *ctx)
{
	struct stack_top *top = ctx;

	if (top->at >= top->end)
		return 1;
	top->has_called = bpf_probe_read_user(&top->word, sizeof(top->word),
					      (const void *)top->at) ||
			  (top->word - LOWEST_CODE < HIGHEST_CODE - LOWEST_CODE &&
			   code_returns(top->word) != CODE_NO);
	top->at += sizeof(top->word);
	return top->has_called;
}

/* Where a frame's return address is, by the plain rule that was found for it just now; or 0. */
static BOBBIN_ALWAYS_INLINE uint64_t plain_slot(const struct walk_state *s,
						const struct plain_frame *f)
{
	const struct kept_rule *kept = &s->kept[kept_slot(f->pc - !f->exact)];
	uint64_t cfa = 0;

	if (kept->pc != f->pc - !f->exact || kept->list != s->rules ||
	    !plain_cfa(&s->walk.forms, kept->word, f->sp, f->fp, &cfa))
		return 0;
	return cfa > f->sp && !(cfa & 7) ? cfa + (uint64_t)PLAIN_RA_OFF : 0;
}

/* Whether a frame whose return address is 0 has no caller. */
BOBBIN_STAGE int is_stack_top(uint32_t number, const struct plain_frame *f)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	struct stack_top top = {0};
	uint64_t zero;

	if (!s || !f)
		return false;
	top.at = f->sp;
	zero = plain_slot(s, f);
	if (!zero || bpf_find_vma(bpf_get_current_task_btf(), zero, take_end, &top.end, 0) ||
	    top.end - zero > TOP_SIZE || top.end - top.at > TOP_FRAME || top.end & 7 ||
	    !bpf_probe_read_user(&top.word, sizeof(top.word), (const void *)top.end))
		return false;
	bpf_loop(TOP_FRAME / sizeof(top.word) + 1, turn_of_top, &top, 0);
	return !top.has_called && top.at >= top.end;
}

#endif
