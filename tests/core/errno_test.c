/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The core's errno numbers are those of <errno.h>.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/deps.h"

static void numbers_of_the_core_are_those_of_the_system(void **state)
{
	assert_int_equal(BOBBIN_ENOENT, ENOENT);
	assert_int_equal(BOBBIN_E2BIG, E2BIG);
	assert_int_equal(BOBBIN_EFAULT, EFAULT);
	assert_int_equal(BOBBIN_EEXIST, EEXIST);
	assert_int_equal(BOBBIN_EINVAL, EINVAL);
	assert_int_equal(BOBBIN_ERANGE, ERANGE);
	assert_int_equal(BOBBIN_ENODATA, ENODATA);
	assert_int_equal(BOBBIN_EBADMSG, EBADMSG);
	assert_int_equal(BOBBIN_ENOBUFS, ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_the_core_are_those_of_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
