/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/fatal_signal.h"

const int fatal_signals[FATAL_SIGNALS] = {SIGABRT, SIGBUS, SIGFPE,  SIGILL,  SIGQUIT,
					  SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};

static const char *const names[FATAL_SIGNALS] = {"SIGABRT", "SIGBUS",  "SIGFPE", "SIGILL",
						 "SIGQUIT", "SIGSEGV", "SIGSYS", "SIGTRAP",
						 "SIGXCPU", "SIGXFSZ"};

/* What sigaction(2) says of si_code. */
struct signal_cause {
	int number, code;
	const char *words;
};

static const struct signal_cause causes[] = {
	{SIGSEGV, SEGV_MAPERR, "nothing is mapped there"},
	{SIGSEGV, SEGV_ACCERR, "the mapping does not permit it"},
	{SIGSEGV, SI_KERNEL, "no address, or one that is not canonical"},
	{SIGBUS, BUS_ADRALN, "the address is not aligned"},
	{SIGBUS, BUS_ADRERR, "the mapped file ends before"},
	{SIGBUS, BUS_OBJERR, "a hardware error"},
	{SIGFPE, FPE_INTDIV, "an integer was divided by zero"},
	{SIGFPE, FPE_INTOVF, "an integer overflowed"},
	{SIGFPE, FPE_FLTDIV, "a number was divided by zero"},
	{SIGFPE, FPE_FLTOVF, "a number overflowed"},
	{SIGFPE, FPE_FLTUND, "a number underflowed"},
	{SIGFPE, FPE_FLTRES, "a result is not exact"},
	{SIGFPE, FPE_FLTINV, "an operation is not valid"},
	{SIGILL, ILL_ILLOPC, "an illegal instruction"},
	{SIGILL, ILL_ILLOPN, "an illegal operand"},
	{SIGILL, ILL_PRVOPC, "a privileged instruction"},
};

unsigned int fatal_signal_index(int number)
{
	unsigned int i = 0;

	while (i < FATAL_SIGNALS && fatal_signals[i] != number)
		i++;
	return i;
}

bool fatal_signal_is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGTRAP || number == SIGSYS;
}

static bool has_address(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

static void print_cause(struct report_text *text, int number, const siginfo_t *info)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].number != number || causes[i].code != info->si_code)
			continue;
		report_text_put(text, ": ");
		report_text_put(text, causes[i].words);
	}
}

void fatal_signal_print(struct report_text *text, int number, const siginfo_t *info)
{
	const unsigned int i = fatal_signal_index(number);

	report_text_put(text, i < FATAL_SIGNALS ? names[i] : "a signal");
	if (info->si_code <= 0) {
		report_text_put(text, " by PID ");
		report_text_number(text, (uint64_t)info->si_pid, 0);
		return;
	}
	if (number == SIGSYS) {
		report_text_put(text, ": system call ");
		report_text_number(text, (uint64_t)info->si_syscall, 0);
	}
	if (!has_address(number))
		return;
	report_text_put(text, " at 0x");
	report_text_hex(text, (uint64_t)(uintptr_t)info->si_addr, 16);
	print_cause(text, number, info);
}
