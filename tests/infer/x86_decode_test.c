/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What single instructions do, as the assembler has made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "infer/x86_decode.h"

#define DECODE(ret, text) \
	do { \
		const uint8_t *start, *end; \
		__asm__(".pushsection .rodata\n661:\n\t" text "\n662:\n\t.popsection\n\t" \
			"lea 661b(%%rip), %0\n\tlea 662b(%%rip), %1" \
			: "=r"(start), "=r"(end)); \
		decode(start, (uint64_t)(end - start), ret); \
	} while (0)

#define MASK(reg) (1u << (reg))

static void decode(const uint8_t *code, uint64_t size, struct insn *ret)
{
	struct insn_decoder *decoder = x86_decoder_open();

	assert_non_null(decoder);
	x86_decode(decoder, code, size, 0x1000, ret);
	x86_decoder_close(decoder);
	assert_int_equal(ret->len, size);
}

static void returns_say_what_they_take_off(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "ret");
	assert_int_equal(insn.op, OP_RETURN);
	assert_int_equal(insn.value, 0);
	DECODE(&insn, "ret $0xfff8");
	assert_int_equal(insn.op, OP_RETURN);
	assert_int_equal(insn.value, 0xfff8);
	/* bnd, which newer assemblers do not know any more */
	DECODE(&insn, ".byte 0xf2; ret");
	assert_int_equal(insn.op, OP_RETURN);
}

static void flags_are_pushed_and_popped(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "pushfq");
	assert_int_equal(insn.op, OP_PUSH);
	assert_int_equal(insn.size, 8);
	assert_int_equal(insn.reg, NO_REG);
	DECODE(&insn, "pushfw");
	assert_int_equal(insn.size, 2);
	DECODE(&insn, "popfq");
	assert_int_equal(insn.op, OP_POP);
	assert_int_equal(insn.mask, 0);
}

static void words_are_popped_into_memory(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "popq 16(%%rsp)");
	assert_int_equal(insn.op, OP_POP);
	assert_int_equal(insn.reg, NO_REG);
	assert_int_equal(insn.base, X86_SP);
	assert_int_equal(insn.value, 16);
	assert_int_equal(insn.size, 8);
	assert_int_equal(insn.mask, 0);
	/* the other encoding of pop %rbp */
	DECODE(&insn, ".byte 0x8f, 0xc5");
	assert_int_equal(insn.op, OP_POP);
	assert_int_equal(insn.reg, X86_BP);
	assert_int_equal(insn.base, NO_REG);
}

static void words_are_pushed_from_memory(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "pushq 16(%%rsp, %%rax, 8)");
	assert_int_equal(insn.op, OP_PUSH);
	assert_int_equal(insn.reg, NO_REG);
	assert_int_equal(insn.base, X86_SP);
	assert_int_equal(insn.index, X86_AX);
	assert_int_equal(insn.scale, 8);
	assert_int_equal(insn.value, 16);
	assert_int_equal(insn.size, 8);
	DECODE(&insn, "pushw 16(%%rsp)");
	assert_int_equal(insn.size, 2);
	/* the other encoding of push %rbp */
	DECODE(&insn, ".byte 0xff, 0xf5");
	assert_int_equal(insn.reg, X86_BP);
	assert_int_equal(insn.base, NO_REG);
}

static void a_system_call_changes_three_registers(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "syscall");
	assert_int_equal(insn.op, OP_NOTHING);
	assert_int_equal(insn.mask, MASK(X86_AX) | MASK(X86_CX) | MASK(X86_R11));
}

static void a_breakpoint_is_told_from_what_stops(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "int3");
	assert_int_equal(insn.op, OP_STOP);
	assert_int_equal(insn.value, 1);
	DECODE(&insn, "hlt");
	assert_int_equal(insn.op, OP_STOP);
	assert_int_equal(insn.value, 0);
	DECODE(&insn, "ud2");
	assert_int_equal(insn.op, OP_STOP);
	assert_int_equal(insn.value, 0);
	assert_false(insn_goes_on(&insn));
}

static void calls_are_calls(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "call . + 0x105");
	assert_int_equal(insn.op, OP_CALL);
	assert_int_equal(insn.value, 0x1105);
	assert_true(insn_is_call(&insn));
	DECODE(&insn, "call *0x10(%%rip)");
	assert_int_equal(insn.op, OP_CALL_SLOT);
	assert_int_equal(insn.value, 0x1016);
	assert_true(insn_is_call(&insn));
	DECODE(&insn, "call *(%%rax)");
	assert_int_equal(insn.op, OP_CALL_OTHER);
	assert_true(insn_is_call(&insn) && insn_goes_on(&insn));
}

static void exchanges_and_extensions_stay_what_they_are(void **state)
{
	struct insn insn = {0};

	DECODE(&insn, "xchg %%rax, %%r9");
	assert_int_equal(insn.op, OP_SWAP);
	DECODE(&insn, "nop");
	assert_int_equal(insn.op, OP_NOTHING);
	assert_int_equal(insn.mask, 0);
	DECODE(&insn, "cltq");
	assert_int_equal(insn.op, OP_EXTEND);
	assert_true(insn.reg == X86_AX && insn.base == X86_AX);
	DECODE(&insn, "movslq %%ecx, %%rdx");
	assert_int_equal(insn.op, OP_EXTEND);
	assert_true(insn.reg == X86_DX && insn.base == X86_CX);
	DECODE(&insn, "cwtl");
	assert_int_equal(insn.mask, MASK(X86_AX));
	DECODE(&insn, "mov (%%rdx,%%rax), %%ecx");
	assert_int_equal(insn.op, OP_LOAD_S32);
	DECODE(&insn, "mov (%%rdx,%%rax), %%cx");
	assert_int_equal(insn.mask, MASK(X86_CX));
	DECODE(&insn, "cqto");
	assert_int_equal(insn.mask, MASK(X86_DX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_say_what_they_take_off),
		cmocka_unit_test(flags_are_pushed_and_popped),
		cmocka_unit_test(words_are_popped_into_memory),
		cmocka_unit_test(words_are_pushed_from_memory),
		cmocka_unit_test(a_system_call_changes_three_registers),
		cmocka_unit_test(a_breakpoint_is_told_from_what_stops),
		cmocka_unit_test(calls_are_calls),
		cmocka_unit_test(exchanges_and_extensions_stay_what_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
