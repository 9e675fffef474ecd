/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded: the kernel takes long to load the first program that another thread than the first one
 * gives it, as many milliseconds as $PROOF_MS says, or until a signal.
 */
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS 6

typedef long caller(long number, ...);

static void take_long(void)
{
	static int taken;
	const long ms = atol(getenv("PROOF_MS"));
	const struct timespec wait = {ms / 1000, ms % 1000 * 1000000};

	if (!taken++)
		nanosleep(&wait, NULL);
}

long syscall(long number, ...)
{
	caller *real = (caller *)dlsym(RTLD_NEXT, "syscall");
	long a[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && (int)a[0] == BPF_PROG_LOAD && getpid() != gettid())
		take_long();
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
