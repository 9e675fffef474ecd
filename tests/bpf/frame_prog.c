/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_prog.c - a frame's rule and its caller, found in the kernel.
 *
 * The core's own sources are a part of the program: Debian's bpftool cannot link objects
 * that use functions of the kernel.
 */
#define BOBBIN_BPF_SLEEPABLE

#include "frame_run.h"

#include "core/arch.c"
#include "core/rule.c"
#include "core/rule_step.h"
#include "sframe/fde.c"
#include "sframe/fre.c"
#include "sframe/lookup.c"
#include "sframe/sframe_rule.c"
#include "sframe/view.c"

#define SECTION(name) __attribute__((section(name), visibility("default"), used))

struct frame_run run SECTION(".data.run") = {0};

static struct bobbin_sframe_view section_view;

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct frame_run *frame = world;
	uint64_t offset = addr - frame->stack_addr;
	bool fault = false;

	if (addr < frame->stack_addr)
		return BOBBIN_REASON_NO_MEMORY;
	if (offset > frame->stack_size || sizeof(*ret) > frame->stack_size - offset)
		return BOBBIN_REASON_STACK_END;
	*ret = memory_fetch((const uint8_t *)frame->stack + offset, sizeof(*ret), &fault);
	return fault ? BOBBIN_REASON_NO_MEMORY : BOBBIN_REASON_NONE;
}

BOBBIN_STAGE int view_section(void)
{
	return bobbin_sframe_view((const void *)run.section, run.section_size, run.section_addr,
				  &run.error, &section_view);
}

BOBBIN_STAGE int look_up(void)
{
	return bobbin_sframe_lookup(&section_view, bobbin_regs_lookup_pc(&run.regs), &run.error,
				    &run.row);
}

BOBBIN_STAGE int pack(void)
{
	return bobbin_rule_pack(&run.row.rule, &run.word);
}

BOBBIN_STAGE int step(void)
{
	struct bobbin_regs regs = run.regs;
	enum bobbin_reason reason;

	/* a pointer that comes from elsewhere is a number to the verifier */
	regs.gpr = regs.gpr ? run.gpr : NULL;
	reason = step_by_rule(&run, BOBBIN_NATIVE_ARCH(), &run.row.rule, &regs);
	if (!reason)
		run.regs = regs;
	return reason;
}

SECTION("syscall") int find_caller(void *ctx)
{
	run.status = view_section();
	if (!run.status)
		run.status = look_up();
	if (run.status)
		return 0;
	pack();
	run.reason = (enum bobbin_reason)step();
	return 0;
}

char program_license[] SECTION("license") = "Dual BSD/GPL";
