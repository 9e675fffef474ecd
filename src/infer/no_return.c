// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/no_return.h"

#include <string.h>

static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"g_assertion_message",
	"g_assertion_message_expr",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
	"xalloc_die",
	"xexit",
};

/* std::__throw_length_error(char const*) and its like. */
static bool is_std_throw(const char *name)
{
	const char *throw = strncmp(name, "_ZSt", 4) ? NULL : strstr(name, "__throw_");

	return throw &&throw -name <= 6;
}

bool name_ends_control(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_std_throw(name);
}
