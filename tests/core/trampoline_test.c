/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signal frames, as the kernel of each architecture lays them out: a handler
 * has returned to its trampoline, the stack pointer is at the frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/restorer.h"
#include "core/rule_step.h"

#define BASE 0x7ffc00002000ull
#define SIZE 1024

struct frame {
	uint8_t bytes[SIZE];
	size_t size;
};

/* @world: struct frame */
static inline enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct frame *f = world;

	if (addr < BASE || addr - BASE > f->size - sizeof(*ret))
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(ret, f->bytes + (addr - BASE), sizeof(*ret));
	return BOBBIN_REASON_NONE;
}

struct layout {
	const struct bobbin_arch *arch;
	uint8_t code[RESTORER_SIZE - RESTORER_BEFORE];
	unsigned int code_size;
	uint16_t pc, sp, fp;
	uint32_t known;
	bool plain;
};

/* Offsets by the uapi headers: siginfo is 128 bytes, uc_mcontext 40 or (AArch64) 176 after it. */
static struct layout layout_of(unsigned int i)
{
	const struct layout layouts[] = {
		{.arch = bobbin_arch_amd64(),
		 .code = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
		 .code_size = 9,
		 .pc = 40 + 16 * 8,
		 .sp = 40 + 15 * 8,
		 .fp = 40 + 10 * 8,
		 .known = 0xffff},
		{.arch = bobbin_arch_aarch64(),
		 .code = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4},
		 .code_size = 8,
		 .pc = 128 + 176 + 8 + 32 * 8,
		 .sp = 128 + 176 + 8 + 31 * 8,
		 .fp = 128 + 176 + 8 + 29 * 8,
		 .known = 0xffffffff},
		/* instructions are little-endian in either byte order */
		{.arch = bobbin_arch_aarch64_be(),
		 .code = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4},
		 .code_size = 8,
		 .pc = 128 + 176 + 8 + 32 * 8,
		 .sp = 128 + 176 + 8 + 31 * 8,
		 .fp = 128 + 176 + 8 + 29 * 8,
		 .known = 0xffffffff},
		{.arch = bobbin_arch_s390x(),
		 .code = {0x0a, 0xad},
		 .code_size = 2,
		 .pc = 160 + 8 + 128 + 40 + 8,
		 .sp = 160 + 8 + 128 + 40 + 16 + 15 * 8,
		 .fp = 160 + 8 + 128 + 40 + 16 + 11 * 8,
		 .known = 0xffffffff},
		/* struct sigcontext, with a mask and a pointer, instead of siginfo and ucontext */
		{.arch = bobbin_arch_s390x(),
		 .code = {0x0a, 0x77},
		 .code_size = 2,
		 .pc = 160 + 16 + 8,
		 .sp = 160 + 16 + 16 + 15 * 8,
		 .fp = 160 + 16 + 16 + 11 * 8,
		 .known = 0xffffffff,
		 .plain = true},
	};

	return i < 5 ? layouts[i] : (struct layout){0};
}

static struct bobbin_rule rule_of(const struct layout *l)
{
	struct bobbin_rule rule;

	assert_int_equal(restorer_is_plain(l->arch, l->code), l->plain);
	if (l->plain)
		plain_frame_rule(l->arch, &rule);
	else
		signal_frame_rule(l->arch, &rule);
	return rule;
}

/* Where the restorer begins that @at bytes of the layout's code are before; as restorer_find(). */
static int find(const struct layout *l, int at)
{
	uint8_t code[2 * RESTORER_SIZE] = {0};

	memcpy(code + RESTORER_SIZE, l->code, sizeof(l->code));
	return restorer_find(l->arch, &code[RESTORER_SIZE - RESTORER_BEFORE + at]);
}

static void put(struct frame *f, const struct bobbin_arch *arch, size_t at, uint64_t v)
{
	for (unsigned int i = 0; i < 8; i++)
		f->bytes[at + i] = (uint8_t)(v >> 8 * (arch->big_endian ? 7 - i : i));
}

static void a_trampoline_leads_to_what_was_interrupted(void **state)
{
	struct layout l;

	for (unsigned int i = 0; (l = layout_of(i)).arch; i++) {
		struct frame f = {.size = SIZE};
		struct bobbin_regs regs = {.pc = 0x1000, .sp = BASE};
		const struct bobbin_rule rule = rule_of(&l);

		put(&f, l.arch, l.pc, 0x401234);
		put(&f, l.arch, l.sp, 0x7fff12345670);
		put(&f, l.arch, l.fp, 0xf0f0);
		assert_int_equal(find(&l, 0), 0);
		assert_int_equal(step_by_rule(&f, l.arch, &rule, &regs), BOBBIN_REASON_NONE);
		assert_true(regs.pc == 0x401234 && regs.exact);
		assert_true(regs.sp == 0x7fff12345670);
		assert_true(regs.fp == 0xf0f0);
	}
}

/* mov to eax instead of rax, and to w8 instead of x8, say the same; so does lghi or lhi. */
static bool is_same_by_meaning(const struct layout *l, unsigned int bit)
{
	if (l->arch == bobbin_arch_amd64())
		return bit >= 1 && bit <= 3; /* REX.X, R and W */
	return (l->arch == bobbin_arch_aarch64() || l->arch == bobbin_arch_aarch64_be()) &&
	       bit == 31;
}

static void other_code_is_no_trampoline(void **state)
{
	struct layout l;

	for (unsigned int i = 0; (l = layout_of(i)).arch; i++)
		for (unsigned int bit = 0; bit < 8 * l.code_size; bit++) {
			struct layout other = l;

			if (is_same_by_meaning(&l, bit))
				continue;
			other.code[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(find(&other, 0), 0);
		}
}

/* By what they do, not by their bytes. */
static void restorers_of_all_kinds_are_known(void **state)
{
	static const struct {
		unsigned int size;
		uint8_t code[24];
	} kinds[] = {
		{7, {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{11, {0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{13, {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{6, {0x31, 0xc0, 0xb0, 0x0f, 0x0f, 0x05}},
		{5, {0x6a, 0x0f, 0x58, 0x0f, 0x05}},
		/* sub %eax,%eax; mov $15,%al.  xor; add $15.  xor; or $15,%al */
		{6, {0x29, 0xc0, 0xb0, 0x0f, 0x0f, 0x05}},
		{7, {0x31, 0xc0, 0x83, 0xc0, 0x0f, 0x0f, 0x05}},
		{6, {0x31, 0xc0, 0x0c, 0x0f, 0x0f, 0x05}},
		/* lea 15,%eax.  xor; lea 15(%rax),%eax */
		{9, {0x8d, 0x04, 0x25, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{7, {0x31, 0xc0, 0x8d, 0x40, 0x0f, 0x0f, 0x05}},
		/* movabs $15,%rax */
		{12, {0x48, 0xb8, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0x0f, 0x05}},
		/* xor %edi,%edi; cld; lfence */
		{9, {0x31, 0xff, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{8, {0xfc, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{10, {0x0f, 0xae, 0xe8, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
		{10, {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x1f, 0x00, 0x0f, 0x05}},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct layout l = {.arch = bobbin_arch_amd64()};

		memcpy(l.code, kinds[i].code, sizeof(kinds[i].code));
		assert_int_equal(find(&l, 0), 0);
		/* looked up before it, at its system call, and after it */
		assert_int_equal(find(&l, -1), 1);
		assert_true(find(&l, (int)kinds[i].size - 2) < 0);
		assert_true(find(&l, (int)kinds[i].size) < 0);
		/* another system call */
		for (unsigned int k = 0; k < kinds[i].size; k++)
			if (l.code[k] == 0x0f && !l.code[k + 1])
				l.code[k] = 0x0e;
		if (memcmp(l.code, kinds[i].code, sizeof(kinds[i].code)))
			assert_int_equal(find(&l, 0), RESTORER_NONE);
	}
}

static void registers_of_the_interrupted_code_are_in_the_frame(void **state)
{
	struct layout l;

	for (unsigned int i = 0; (l = layout_of(i)).arch; i++) {
		struct frame f = {.size = SIZE};
		uint64_t gpr[BOBBIN_REG_COUNT] = {0};
		const struct bobbin_rule rule = rule_of(&l);

		put(&f, l.arch, l.sp, 0x1122334455667788);
		put(&f, l.arch, l.fp, 0xf0f0);
		assert_int_equal(
			step_interrupted(&f, l.arch, signal_frame_at(l.arch, &rule, BASE), gpr),
			l.known);
		assert_true(gpr[l.arch->sp] == 0x1122334455667788);
		assert_true(gpr[l.arch->fp] == 0xf0f0);
	}
}

/* x0 to x30 in a row; r0 to r15, and f0 to f15 64 access-register bytes and fpc later */
static void each_register_is_where_the_kernel_saves_it(void **state)
{
	static const uint8_t dwarf_of_f[] = {16, 20, 17, 21, 18, 22, 19, 23,
					     24, 28, 25, 29, 26, 30, 27, 31};
	/* r8..r15 rdi rsi rbp rbx rdx rax rcx rsp */
	static const uint8_t dwarf_of_greg[] = {8, 9, 10, 11, 12, 13, 14, 15,
						5, 4, 6,  3,  1,  0,  2,  7};
	struct frame f = {.size = SIZE};
	uint64_t gpr[BOBBIN_REG_COUNT];

	for (unsigned int i = 0; i < 16; i++)
		put(&f, bobbin_arch_amd64(), 40 + 8 * i, 300 + i);
	step_interrupted(&f, bobbin_arch_amd64(), BASE, gpr);
	for (unsigned int i = 0; i < 16; i++)
		assert_true(gpr[dwarf_of_greg[i]] == 300 + i);

	for (unsigned int i = 0; i < 32; i++)
		put(&f, bobbin_arch_aarch64(), 312 + 8 * i, 100 + i);
	step_interrupted(&f, bobbin_arch_aarch64(), BASE, gpr);
	for (unsigned int i = 0; i < 32; i++)
		assert_true(gpr[i] == 100 + i);

	for (unsigned int i = 0; i < 16; i++) {
		put(&f, bobbin_arch_s390x(), 352 + 8 * i, 100 + i);
		put(&f, bobbin_arch_s390x(), 352 + 128 + 64 + 8 + 8 * i, 200 + i);
	}
	step_interrupted(&f, bobbin_arch_s390x(), BASE, gpr);
	for (unsigned int i = 0; i < 16; i++) {
		assert_true(gpr[i] == 100 + i);
		assert_true(gpr[dwarf_of_f[i]] == 200 + i);
	}
}

static void registers_that_cannot_be_read_are_not_known(void **state)
{
	struct frame f = {.size = 312 + 8 * 10};
	uint64_t gpr[BOBBIN_REG_COUNT];

	assert_int_equal(step_interrupted(&f, bobbin_arch_aarch64(), BASE, gpr), 0x3ff);
}

/* A return is looked up before its address; in a system call the PC is after it. */
static void a_thread_in_a_trampoline_is_found_wherever_it_is(void **state)
{
	(void)state;
	for (unsigned int i = 0; layout_of(i).arch; i++) {
		const struct layout l = layout_of(i);

		assert_int_equal(find(&l, -1), 1);
		assert_int_equal(find(&l, 0), 0);
		assert_in_range(-find(&l, (int)l.code_size), 2, l.code_size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trampoline_leads_to_what_was_interrupted),
		cmocka_unit_test(other_code_is_no_trampoline),
		cmocka_unit_test(restorers_of_all_kinds_are_known),
		cmocka_unit_test(registers_of_the_interrupted_code_are_in_the_frame),
		cmocka_unit_test(each_register_is_where_the_kernel_saves_it),
		cmocka_unit_test(registers_that_cannot_be_read_are_not_known),
		cmocka_unit_test(a_thread_in_a_trampoline_is_found_wherever_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
