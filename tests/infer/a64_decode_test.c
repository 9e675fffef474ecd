/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What single instructions of AArch64 do.  Each is a number, beside what the library writes of it, so
 * that both are seen to be the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "a64_texts.h"
#include "infer/a64_decode.h"

#define PC 0x10000
#define MASK(reg) (1u << (reg))
#define LR A64_LR
#define SP A64_SP

int main(void);

static struct insn_decoder *decoder;

static int open_decoder(void **state)
{
	decoder = a64_decoder_open();
	return decoder ? 0 : -1;
}

static int close_decoder(void **state)
{
	a64_decoder_close(decoder);
	return 0;
}

static void bytes_of(uint32_t word, uint8_t ret[A64_INSN])
{
	for (unsigned int i = 0; i < A64_INSN; i++)
		ret[i] = (uint8_t)(word >> 8 * i);
}

/* @text: NULL for what is younger than some versions of the library */
static struct insn decode(uint32_t word, const char *text)
{
	struct insn insn = {.at = 7};
	char found[INSN_TEXT_MAX];
	uint8_t code[A64_INSN];

	bytes_of(word, code);
	a64_decode(decoder, code, sizeof(code), PC, &insn);
	a64_text(decoder, code, sizeof(code), PC, found);
	assert_text(found, text);
	assert_int_equal(insn.at, 7);
	assert_int_equal(insn.len, A64_INSN);
	return insn;
}

/**
 * struct meaning - an instruction, and what is expected of it; registers that are not named are 0
 */
struct meaning {
	uint32_t word;
	const char *text;
	struct insn insn;
};

static void check(const struct meaning *m, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct insn *want = &m[i].insn, insn = decode(m[i].word, m[i].text);

		if (insn.op != want->op || insn.value != want->value || insn.mask != want->mask ||
		    insn.cond != want->cond)
			fail_msg("%#x %s: op %u value %#lx mask %#x cond %u", m[i].word, m[i].text,
				 insn.op, (long)insn.value, insn.mask, insn.cond);
		if (want->size && insn.size != want->size)
			fail_msg("%#x %s: size %u", m[i].word, m[i].text, insn.size);
		if (want->scale && insn.scale != want->scale)
			fail_msg("%#x %s: scale %u", m[i].word, m[i].text, insn.scale);
		if ((want->reg && insn.reg != want->reg) ||
		    (want->base && insn.base != want->base) ||
		    (want->index && insn.index != want->index))
			fail_msg("%#x %s: reg %u base %u index %u", m[i].word, m[i].text, insn.reg,
				 insn.base, insn.index);
	}
}

#define CHECK(...) \
	do { \
		static const struct meaning meanings[] = {__VA_ARGS__}; \
		check(meanings, sizeof(meanings) / sizeof(*meanings)); \
	} while (0)

static void pairs_may_change_their_base(void **state)
{
	CHECK({0xa9bd7bfd,
	       "stp x29, x30, [sp, #-0x30]!",
	       {.op = OP_STORE_PAIR,
		.value = -0x30,
		.size = 8,
		.reg = A64_FP,
		.index = LR,
		.base = SP,
		.cond = INSN_BEFORE}},
	      {0xa8c37bfd,
	       "ldp x29, x30, [sp], #0x30",
	       {.op = OP_LOAD_PAIR,
		.value = 0x30,
		.size = 8,
		.reg = A64_FP,
		.index = LR,
		.base = SP,
		.cond = INSN_AFTER}},
	      {0xa94153f3,
	       "ldp x19, x20, [sp, #0x10]",
	       {.op = OP_LOAD_PAIR, .value = 0x10, .size = 8, .reg = 19, .index = 20, .base = SP}},
	      {0x29400440,
	       "ldp w0, w1, [x2]",
	       {.op = OP_LOAD_PAIR, .size = 4, .base = 2, .index = 1}},
	      {0x6dbf27e8,
	       "stp d8, d9, [sp, #-0x10]!",
	       {.op = OP_STORE_PAIR,
		.value = -16,
		.size = 8,
		.reg = NO_REG,
		.index = NO_REG,
		.base = SP,
		.cond = INSN_BEFORE}},
	      {0x6cc127e8,
	       "ldp d8, d9, [sp], #0x10",
	       {.op = OP_LEA, .value = 16, .reg = SP, .base = SP}},
	      {0xad410420, "ldp q0, q1, [x1, #0x20]", {.op = OP_NOTHING, .value = 0x20}});
}

static void single_loads_and_stores(void **state)
{
	CHECK({0xf81f0ffe,
	       "str x30, [sp, #-0x10]!",
	       {.op = OP_STORE,
		.value = -16,
		.size = 8,
		.reg = LR,
		.base = SP,
		.cond = INSN_BEFORE}},
	      {0xf84107fe,
	       "ldr x30, [sp], #0x10",
	       {.op = OP_LOAD, .value = 16, .size = 8, .reg = LR, .base = SP, .cond = INSN_AFTER}},
	      {0xb81fc3bf,
	       "stur wzr, [x29, #-4]",
	       {.op = OP_STORE, .value = -4, .size = 4, .reg = NO_REG, .base = A64_FP}},
	      {0x39400020, "ldrb w0, [x1]", {.op = OP_LOAD, .size = 1, .base = 1}},
	      {0x3cc107e0,
	       "ldr q0, [sp], #0x10",
	       {.op = OP_LEA, .value = 16, .reg = SP, .base = SP}},
	      {0xf9800000, "prfm pldl1keep, [x0]", {.op = OP_NOTHING}},
	      {0x78625820,
	       "ldrh w0, [x1, w2, uxtw #1]",
	       {.op = OP_LOAD_ENTRY, .size = 2, .scale = 2, .base = 1, .index = 2}},
	      {0xb8a27820,
	       "ldrsw x0, [x1, x2, lsl #2]",
	       {.op = OP_LOAD_ENTRY,
		.size = 4,
		.scale = 4,
		.base = 1,
		.index = 2,
		.cond = INSN_SIGNED}},
	      {0xc8017c40,
	       "stxr w1, x0, [x2]",
	       {.op = OP_STORE, .size = 16, .base = 2, .mask = MASK(1)}},
	      {0xf8210040, NULL /* ldadd x1, x0, [x2] */, {.op = OP_NOTHING, .mask = MASK(0)}},
	      {0x0c8373e0, "st1 {v0.8b}, [sp], x3", {.op = OP_STORE, .size = 8, .mask = MASK(SP)}});
}

static void sums_are_followed_where_they_are_wide(void **state)
{
	CHECK({0x910003fd, "mov x29, sp", {.op = OP_LEA, .reg = A64_FP, .base = SP}},
	      {0xd14043ff,
	       "sub sp, sp, #0x10, lsl #12",
	       {.op = OP_LEA, .value = -0x10000, .reg = SP, .base = SP}},
	      {0x510043ff, "sub wsp, wsp, #0x10", {.op = OP_NOTHING, .mask = MASK(SP)}},
	      {0xb1000420, "adds x0, x1, #1", {.op = OP_NOTHING, .mask = MASK(0)}},
	      {0x7100247f, "cmp w3, #9", {.op = OP_COMPARE, .value = 9, .reg = 3}},
	      {0xeb2c63ff, "cmp sp, x12", {.op = OP_COMPARE_SP, .base = 12}},
	      {0xcb3063ff, "sub sp, sp, x16", {.op = OP_SUB, .reg = SP, .base = SP, .index = 16}},
	      {0x8b218861,
	       "add x1, x3, w1, sxtb #2",
	       {.op = OP_ADD_NARROW,
		.reg = 1,
		.base = 3,
		.index = 1,
		.scale = 4,
		.size = 1,
		.cond = INSN_SIGNED}},
	      {0x8b020820,
	       "add x0, x1, x2, lsl #2",
	       {.op = OP_LEA, .base = 1, .index = 2, .scale = 4}},
	      {0x8b420820, "add x0, x1, x2, lsr #2", {.op = OP_NOTHING, .mask = MASK(0)}});
}

static void numbers_and_addresses(void **state)
{
	CHECK({0xd2824610,
	       "movz x16, #0x1230|mov x16, #0x1230",
	       {.op = OP_CONSTANT, .value = 0x1230, .reg = 16}},
	      {0xf2a00050,
	       "movk x16, #0x2, lsl #16",
	       {.op = OP_INSERT, .value = 0x20000, .reg = 16, .scale = 16}},
	      {0x12800002,
	       "movn w2, #0|mov w2, #-1",
	       {.op = OP_CONSTANT, .value = 0xffffffff, .reg = 2}},
	      {0x10000803,
	       "adr x3, #0x10100",
	       {.op = OP_LEA, .value = 0x10100, .reg = 3, .base = NO_REG}},
	      {0xf0ffffe0, "adrp x0, #0xf000", {.op = OP_CONSTANT, .value = 0xf000}},
	      {0xaa1e03e1, "mov x1, x30", {.op = OP_MOVE, .reg = 1, .base = LR}},
	      {0xaa1f03e1, "mov x1, xzr", {.op = OP_CONSTANT, .reg = 1}},
	      {0x927ced3f, "and sp, x9, #0xfffffffffffffff0", {.op = OP_NOTHING, .mask = MASK(SP)}},
	      {0xf240001f, "tst x0, #1", {.op = OP_NOTHING}},
	      {0x93407c41, "sxtw x1, w2", {.op = OP_EXTEND, .reg = 1, .base = 2, .size = 4}});
}

static void control_goes_where_fields_say(void **state)
{
	CHECK({0x54000208,
	       "b.hi #0x10040",
	       {.op = OP_BRANCH, .value = 0x10040, .cond = COND_ABOVE}},
	      {0x54000203,
	       "b.lo #0x10040",
	       {.op = OP_BRANCH, .value = 0x10040, .cond = COND_BELOW}},
	      {0xb4000040, "cbz x0, #0x10008", {.op = OP_BRANCH, .value = 0x10008}},
	      {0x37180040, "tbnz w0, #3, #0x10008", {.op = OP_BRANCH, .value = 0x10008}},
	      {0x17ffffff, "b #0xfffc", {.op = OP_JUMP, .value = 0xfffc}},
	      {0x94000040, "bl #0x10100", {.op = OP_CALL, .value = 0x10100}},
	      {0xd63f0100, "blr x8", {.op = OP_CALL_OTHER, .reg = 8}},
	      {0xd61f0220, "br x17", {.op = OP_JUMP_REG, .reg = 17}},
	      {0xd65f03c0, "ret", {.op = OP_RETURN, .reg = LR}},
	      {0xd65f0120, "ret x9", {.op = OP_RETURN, .reg = 9}},
	      {0xd65f0bff, NULL /* retaa */, {.op = OP_RETURN, .reg = LR, .cond = INSN_KEY_A}},
	      {0xd4207d00, "brk #0x3e8", {.op = OP_STOP}},
	      {0xd4200000, "brk #0", {.op = OP_STOP, .value = 1}});
}

static void signatures_have_a_key(void **state)
{
	CHECK({0xd503233f, "hint #0x19|paciasp", {.op = OP_SIGN, .reg = LR, .cond = INSN_KEY_A}},
	      {0xd503237f, "hint #0x1b|pacibsp", {.op = OP_SIGN, .reg = LR, .cond = INSN_KEY_B}},
	      {0xd50323bf,
	       "hint #0x1d|autiasp",
	       {.op = OP_AUTHENTICATE, .reg = LR, .cond = INSN_KEY_A}},
	      {0xd50323ff,
	       "hint #0x1f|autibsp",
	       {.op = OP_AUTHENTICATE, .reg = LR, .cond = INSN_KEY_B}},
	      {0xd50320ff, "hint #0x7|xpaclri", {.op = OP_AUTHENTICATE, .reg = LR}},
	      {0xd503245f, "hint #0x22|bti c", {.op = OP_NOTHING}},
	      {0xd503201f, "nop", {.op = OP_NOTHING}});
}

static void the_rest_changes_what_it_writes(void **state)
{
	CHECK({0xd4000001, "svc #0", {.mask = MASK(0)}},
	      {0x9e660020, "fmov x0, d1", {.mask = MASK(0)}},
	      {0x9e67001e, "fmov d30, x0", {.mask = 0}},
	      {0x0e0c3c20, "mov w0, v1.s[1]", {.mask = MASK(0)}},
	      {0x1e62283d, "fadd d29, d1, d2", {.mask = 0}},
	      {0xd53bd040, "mrs x0, tpidr_el0", {.mask = MASK(0)}},
	      {0x9a820020, "csel x0, x1, x2, eq", {.mask = MASK(0)}},
	      {0xfa410800, "ccmp x0, #1, #0, eq", {.mask = 0}},
	      {0x043f57ff, NULL /* addvl sp, sp, #-1 */, {.mask = MASK(SP)}});
}

/* Or as many as there are. */
static void what_is_none_has_four_bytes(void **state)
{
	static const uint32_t none[] = {0, 0xffffffff, 0x123, 0xd61f03e0};
	struct insn insn = {0};
	uint8_t nop[A64_INSN];

	for (unsigned int i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(decode(none[i], NULL).op, OP_BAD);
	bytes_of(A64_NOP, nop);
	a64_decode(decoder, nop, 3, PC, &insn);
	assert_int_equal(insn.op, OP_BAD);
	assert_int_equal(insn.len, 3);
	assert_false(machine_aarch64.is_padding(nop, insn.len));
	a64_decode(decoder, nop, 4, PC + 2, &insn);
	assert_int_equal(insn.op, OP_BAD);
	a64_decode(decoder, nop, 4, PC, &insn);
	assert_int_equal(insn.op, OP_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_may_change_their_base),
		cmocka_unit_test(single_loads_and_stores),
		cmocka_unit_test(sums_are_followed_where_they_are_wide),
		cmocka_unit_test(numbers_and_addresses),
		cmocka_unit_test(control_goes_where_fields_say),
		cmocka_unit_test(signatures_have_a_key),
		cmocka_unit_test(the_rest_changes_what_it_writes),
		cmocka_unit_test(what_is_none_has_four_bytes),
	};

	return cmocka_run_group_tests(tests, open_decoder, close_decoder);
}
