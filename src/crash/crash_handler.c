/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The handler of fatal signals, and how it is installed.
 *
 *	signal ──► on_fatal(): report ──► action as before ──► the same signal, queued, blocked
 *							       until the handler returns
 *
 * The signal comes again when the handler has returned: so a core file has the registers of the
 * crash, and a handler that was there before sees them.
 */
#include <bobbin/crash.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/deps.h"
#include "crash/alternate_stack.h"
#include "crash/fatal_signal.h"
#include "crash/raw_calls.h"
#include "crash/report_stack.h"
#include "crash/stack_report.h"
#include "crash/stopped_threads.h"
#include "unwind/object_walk.h"

#define MASK_SIZE 8 /* of the kernel's sigset_t */
#define NAP_NS 50000000
/* What the kernel has stored is no further above a handler's frame, with those of handlers that pass it on. */
#define SIGNAL_FRAME_MAX 32768

static struct {
	pthread_mutex_t lock; /* of installing */
	_Atomic int fd;
	_Atomic unsigned int flags;
	_Atomic int owner;   /* TID of who writes a report; 0: nobody */
	_Atomic bool broken; /* a crash within the report */
	void *stack, *inner; /* of the report, and of handlers of crashes within it */
	struct sigaction before[FATAL_SIGNALS];
} handler = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Block or unblock the signal, in the calling thread. */
static void mask_signal(int how, int number)
{
	const uint64_t set = (uint64_t)1 << (number - 1);

	raw_syscall(SYS_rt_sigprocmask, how, (long)&set, 0, MASK_SIZE);
}

static void set_default(int number)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};

	sigaction(number, &action, NULL);
}

/* The default action, here and now. */
static _Noreturn void end_process(int number)
{
	set_default(number);
	mask_signal(SIG_UNBLOCK, number);
	raw_syscall(SYS_tgkill, raw_pid(), raw_tid(), number, 0);
	for (;;)
		raw_syscall(SYS_exit_group, 128 + number, 0, 0, 0);
}

/* One report at a time.  Whoever had begun one may have been a child of vfork(), and be gone. */
static void begin_report(int self)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	int owner = 0;

	while (!atomic_compare_exchange_strong(&handler.owner, &owner, self)) {
		if (raw_syscall(SYS_tgkill, raw_pid(), owner, 0, 0))
			atomic_compare_exchange_strong(&handler.owner, &owner, 0);
		else
			raw_syscall(SYS_futex, (long)&handler.owner, FUTEX_WAIT_PRIVATE, owner,
				    (long)&nap);
		owner = 0;
	}
}

static void end_report(void)
{
	atomic_store(&handler.owner, 0);
	raw_syscall(SYS_futex, (long)&handler.owner, FUTEX_WAKE_PRIVATE, INT32_MAX, 0);
}

/* Have the signal again, with the same siginfo, when the handler returns. */
static void repeat_signal(int number, siginfo_t *info)
{
	mask_signal(SIG_BLOCK, number);
	if (raw_syscall(SYS_rt_tgsigqueueinfo, raw_pid(), raw_tid(), number, (long)info))
		raw_syscall(SYS_tgkill, raw_pid(), raw_tid(), number, 0);
}

static bool was_handled(const struct sigaction *before)
{
	return before->sa_flags & SA_SIGINFO ||
	       (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
}

/* Whether the signal would have had no effect without the handler. */
static bool was_ignored(const struct sigaction *before, const siginfo_t *info)
{
	return !(before->sa_flags & SA_SIGINFO) && before->sa_handler == SIG_IGN &&
	       info->si_code <= 0;
}

/* Whether the process may live on: the first one of a container gets no signal that it does not handle. */
static bool may_go_on(const struct sigaction *before, const siginfo_t *info)
{
	return was_handled(before) || (raw_pid() == 1 && info->si_code <= 0);
}

/* After the report: what the program had set for the signal, or the default action. */
static void hand_on(int number, siginfo_t *info, const struct sigaction *before)
{
	if (atomic_load(&handler.broken))
		end_process(number);
	if (was_handled(before))
		sigaction(number, before, NULL);
	else
		set_default(number);
	if (may_go_on(before, info)) {
		stopped_threads_release();
		end_report();
	}
	repeat_signal(number, info);
}

/*
 * What may come within a report is a crash, and the signal that stops a thread which waits to report
 * another.
 */
static void report_mask(sigset_t *ret)
{
	sigfillset(ret);
	sigdelset(ret, STOPPED_THREADS_SIGNAL);
	sigdelset(ret, SIGABRT);
	for (unsigned int i = 0; i < FATAL_SIGNALS; i++)
		if (fatal_signal_is_fault(fatal_signals[i]))
			sigdelset(ret, fatal_signals[i]);
}

/* @ctx: the crash.  The return from the handler sets the alternate stack that was there before. */
static void write_report(void *ctx)
{
	sigset_t mask, before;

	/* a handler that calls this one has a mask of its own */
	report_mask(&mask);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, MASK_SIZE);
	alternate_stack_set(handler.inner);
	stack_report_write(atomic_load(&handler.fd), atomic_load(&handler.flags), ctx);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, MASK_SIZE);
}

/* Some handlers pass on the number alone to the one that was there before them. */
static bool is_told_by_kernel(int number, const siginfo_t *info, const void *context)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return (uintptr_t)info - here < SIGNAL_FRAME_MAX &&
	       (uintptr_t)context - here < SIGNAL_FRAME_MAX && info->si_signo == number;
}

static void set_ours(int number);

static void on_fatal(int number, siginfo_t *info, void *context)
{
	struct crash crash = {number, info, context};
	const struct sigaction *before = &handler.before[fatal_signal_index(number)];
	const int self = raw_tid(), error = errno;

	if (atomic_load(&handler.owner) == self) {
		atomic_store(&handler.broken, true);
		stack_report_recover(&crash);
		end_process(number);
	}
	if (!is_told_by_kernel(number, info, context)) {
		/* then the kernel shall tell, and this frame is where it comes */
		set_ours(number);
		mask_signal(SIG_UNBLOCK, number);
		raw_syscall(SYS_tgkill, raw_pid(), self, number, 0);
		errno = error;
		return;
	}
	if (was_ignored(before, info))
		return;
	begin_report(self);
	report_stack_call(write_report, &crash, alternate_stack_top(handler.stack));
	hand_on(number, info, before);
	errno = error;
}

static void set_ours(int number)
{
	struct sigaction ours = {.sa_sigaction = on_fatal,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	report_mask(&ours.sa_mask);
	sigaction(number, &ours, NULL);
}

static bool is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fatal;
}

static void install(unsigned int i)
{
	struct sigaction now;
	const int number = fatal_signals[i];

	if (sigaction(number, NULL, &now) || is_ours(&now))
		return;
	if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN &&
	    !fatal_signal_is_fault(number))
		return;
	handler.before[i] = now;
	set_ours(number);
}

BOBBIN_API int bobbin_crash_stack(void)
{
	return alternate_stack_give();
}

/* Once, for good. */
static int make_stacks(void)
{
	if (!handler.stack)
		handler.stack = alternate_stack_map();
	if (!handler.inner)
		handler.inner = alternate_stack_map();
	return handler.stack && handler.inner ? 0 : -ENOMEM;
}

BOBBIN_API int bobbin_install_crash_handler(int fd, unsigned int flags)
{
	int r;

	if (flags & ~(BOBBIN_CRASH_ONE_THREAD | BOBBIN_CRASH_SOURCES))
		return -EINVAL;
	if (fcntl(fd, F_GETFD) < 0)
		return -EBADF;
	r = alternate_stack_give();
	if (r)
		return r;
	object_walk_prepare();
	pthread_mutex_lock(&handler.lock);
	r = make_stacks();
	if (!r) {
		atomic_store(&handler.fd, fd);
		atomic_store(&handler.flags, flags);
	}
	for (unsigned int i = 0; i < FATAL_SIGNALS && !r; i++)
		install(i);
	pthread_mutex_unlock(&handler.lock);
	return r;
}
