/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crash_stack - print the own call chain in a signal handler.
 *
 * The program crashes three calls deep, on purpose.  The handler runs on a stack of its own,
 * since the usual one may be what overflowed, and calls async-signal-safe functions only.
 */
#include <bobbin/backtrace.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(2);
}

static void print_address(uint64_t addr)
{
	char text[] = "0x0000000000000000 ";

	for (int i = 17; addr; i--, addr /= 16)
		text[i] = "0123456789abcdef"[addr % 16];
	print(text);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	struct bobbin_frame frames[64];
	struct bobbin_trace trace = {.frames = frames, .max = 64};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	(void)number;
	(void)info;
	bobbin_context_regs(context, gpr, &regs);
	bobbin_backtrace(&regs, &trace);
	for (uint32_t i = 0; i < trace.count; i++) {
		print_address(frames[i].pc);
		print(bobbin_source_str(frames[i].source));
		print("\n");
	}
	print(bobbin_reason_str(trace.reason));
	print("\n");
	_exit(1);
}

static __attribute__((noinline)) int read_word(volatile const int *address)
{
	return *address + 1;
}

static __attribute__((noinline)) int read_twice(const int *address)
{
	return read_word(address) + read_word(address);
}

int main(void)
{
	static char stack[1 << 16];
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (bobbin_backtrace_prepare() || sigaltstack(&alternative, NULL) ||
	    sigaction(SIGSEGV, &action, NULL))
		return 2;
	return read_twice(NULL);
}
