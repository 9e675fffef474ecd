/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* abseil_stacks - abseil's stack traces by libbobbin-backtrace. */
#include <absl/debugging/stacktrace.h>
#include <absl/debugging/symbolize.h>
#include <bobbin/backtrace.h>
#include <stdio.h>

extern "C" __attribute__((noinline)) void print_stack()
{
	void *stack[32];
	char name[256];
	int dropped, count = absl::GetStackTrace(stack, 32, 0);

	for (int i = 0; i < count; i++)
		puts(absl::Symbolize(static_cast<char *>(stack[i]) - 1, name, sizeof(name)) ? name : "?");
	count = absl::GetStackTraceWithContext(stack, 1, 0, nullptr, &dropped);
	printf("%d of %d\n", count, count + dropped);
}

extern "C" __attribute__((noinline)) void outer()
{
	print_stack();
	puts("end");
}

int main(int, char **argv)
{
	absl::InitializeSymbolizer(argv[0]);
	absl::SetStackUnwinder(bobbin_stack_unwinder);
	outer();
	return 0;
}
