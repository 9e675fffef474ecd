/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inferred_frames.h - step by a rule that was inferred from code.
 *
 * As frame_by_source() of core/unwind_frame.h: rules of code that may be Haskell's mean nothing, and
 * a return address is after a call.
 */
#ifndef BOBBIN_INFERRED_FRAMES_H
#define BOBBIN_INFERRED_FRAMES_H

/* Whether a PC is after a system call: its rule is that of the instruction before it. */
BOBBIN_STAGE int is_after_syscall(uint64_t pc)
{
	uint8_t code[2];

	return bpf_probe_read_user(code, sizeof(code), (const void *)(pc - sizeof(code))) ||
	       is_syscall(code);
}

/* Step to the caller, or the reason why it is not certain. */
BOBBIN_STAGE int step_inferred(uint32_t number, struct plain_frame *f, uint64_t callee)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	uint64_t pc, word;
	int reason;

	if (!s || !f)
		return BOBBIN_REASON_NO_TABLE;
	pc = f->pc - 1;
	if (f->exact && !is_after_syscall(f->pc))
		pc = f->pc;
	word = unchecked_packed(&s->walk, pc, &f->source);
	reason = step_on(number, f, callee, word);
	if (reason || f->source != BOBBIN_SOURCE_CODE)
		return reason;
	return code_returns(f->pc) == CODE_YES ? BOBBIN_REASON_NONE : BOBBIN_REASON_NO_CALL;
}

#endif
