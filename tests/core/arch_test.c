/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of architectures against <elf.h> and against itself.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/arch.h>

static const struct bobbin_arch *all(unsigned int i)
{
	const struct bobbin_arch *(*const get[])(void) = {
		bobbin_arch_amd64, bobbin_arch_aarch64, bobbin_arch_aarch64_be, bobbin_arch_s390x};

	return i < sizeof(get) / sizeof(get[0]) ? get[i]() : NULL;
}

static void elf_machines_find_their_architecture(void **state)
{
	assert_ptr_equal(bobbin_arch_of_elf(EM_X86_64, false), bobbin_arch_amd64());
	assert_ptr_equal(bobbin_arch_of_elf(EM_AARCH64, false), bobbin_arch_aarch64());
	assert_ptr_equal(bobbin_arch_of_elf(EM_AARCH64, true), bobbin_arch_aarch64_be());
	assert_ptr_equal(bobbin_arch_of_elf(EM_S390, true), bobbin_arch_s390x());
}

static void foreign_machines_and_byte_orders_have_none(void **state)
{
	assert_null(bobbin_arch_of_elf(EM_X86_64, true));
	assert_null(bobbin_arch_of_elf(EM_S390, false));
	assert_null(bobbin_arch_of_elf(EM_386, false));
	assert_null(bobbin_arch_of_elf(EM_NONE, false));
}

static void machine_and_byte_order_agree_with_the_look_up(void **state)
{
	const struct bobbin_arch *arch;

	for (unsigned int i = 0; (arch = all(i)); i++)
		assert_ptr_equal(bobbin_arch_of_elf(arch->elf_machine, arch->big_endian), arch);
}

static void registers_are_distinct_and_in_range(void **state)
{
	const struct bobbin_arch *arch;

	for (unsigned int i = 0; (arch = all(i)); i++) {
		assert_true(arch->sp < BOBBIN_REG_COUNT);
		assert_true(arch->fp < BOBBIN_REG_COUNT);
		assert_true(arch->ra < BOBBIN_REG_COUNT);
		assert_int_not_equal(arch->sp, arch->fp);
		assert_int_not_equal(arch->sp, arch->ra);
		assert_int_not_equal(arch->fp, arch->ra);
	}
}

static void alignments_are_powers_of_two(void **state)
{
	const struct bobbin_arch *arch;

	for (unsigned int i = 0; (arch = all(i)); i++) {
		assert_true(arch->sp_align);
		assert_int_equal(arch->sp_align & (arch->sp_align - 1), 0);
		assert_int_equal(arch->cfa_bias % arch->sp_align, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elf_machines_find_their_architecture),
		cmocka_unit_test(foreign_machines_and_byte_orders_have_none),
		cmocka_unit_test(machine_and_byte_order_agree_with_the_look_up),
		cmocka_unit_test(registers_are_distinct_and_in_range),
		cmocka_unit_test(alignments_are_powers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
