/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/signal_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "core/deps.h"
#include "shim/area_writer.h"
#include "unwind/assembly.h"

#define MASK_SIZE 8 /* of the kernel's sigset_t */

static struct {
	_Atomic bool open;
	pthread_mutex_t lock;     /* of the next */
	struct sigaction program; /* what the program has set; zero: the default */
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *next_function(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Threads that come first at the same time find the same. */
#define NEXT(call) \
	({ \
		static _Atomic(void *) found; \
		void *function = atomic_load_explicit(&found, memory_order_relaxed); \
		if (!function) { \
			function = next_function(#call); \
			atomic_store_explicit(&found, function, memory_order_relaxed); \
		} \
		(__typeof__(&call))function; \
	})

int signal_guard_open(signal_guard_fn *handler)
{
	struct sigaction action = {.sa_sigaction = handler,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	/* another handler must not interrupt one that has a slot */
	sigfillset(&action.sa_mask);
	if (NEXT(sigaction)(GUARDED_SIGNAL, &action, &guard.program))
		return -errno;
	atomic_store(&guard.open, true);
	return 0;
}

void signal_guard_unblock(void)
{
	uint64_t mask = UINT64_C(1) << (GUARDED_SIGNAL - 1);

	raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, MASK_SIZE);
}

static bool is_guarded(int signal)
{
	return atomic_load_explicit(&guard.open, memory_order_relaxed) && signal == GUARDED_SIGNAL;
}

/* A set without the signal: *@room, or @set itself. */
static const sigset_t *without(const sigset_t *set, sigset_t *room)
{
	if (!set || !is_guarded(GUARDED_SIGNAL) || sigismember(set, GUARDED_SIGNAL) != 1)
		return set;
	*room = *set;
	sigdelset(room, GUARDED_SIGNAL);
	return room;
}

/* As if the program had no handler of it. */
static void act_by_default(int signal)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	NEXT(sigaction)(signal, &action, NULL);
	raw_syscall(SYS_tgkill, own_pid(), own_tid(), signal, 0);
}

void signal_guard_forward(int signal, siginfo_t *info, void *ucontext)
{
	const struct sigaction *program = &guard.program;

	if (program->sa_flags & SA_SIGINFO)
		program->sa_sigaction(signal, info, ucontext);
	else if (program->sa_handler == SIG_DFL)
		act_by_default(signal);
	else if (program->sa_handler != SIG_IGN)
		program->sa_handler(signal);
}

/* What the program has set, and what it sets now. */
static void exchange(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction new = {0};

	if (action)
		new = *action;
	pthread_mutex_lock(&guard.lock);
	if (before)
		*before = guard.program;
	if (action)
		guard.program = new;
	pthread_mutex_unlock(&guard.lock);
}

BOBBIN_API int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	struct sigaction own;

	if (is_guarded(signal)) {
		exchange(action, before);
		return 0;
	}
	if (!action || !is_guarded(GUARDED_SIGNAL))
		return NEXT(sigaction)(signal, action, before);
	/* a long handler is sampled, too */
	own = *action;
	sigdelset(&own.sa_mask, GUARDED_SIGNAL);
	return NEXT(sigaction)(signal, &own, before);
}

BOBBIN_API void (*signal(int signal_, void (*handler)(int)))(int)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;

	if (!is_guarded(signal_))
		return NEXT(signal)(signal_, handler);
	exchange(&action, &before);
	return before.sa_handler;
}

BOBBIN_API int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t room;

	return NEXT(sigprocmask)(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

BOBBIN_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t room;

	return NEXT(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

BOBBIN_API int sigwait(const sigset_t *set, int *signal)
{
	sigset_t room;

	return NEXT(sigwait)(without(set, &room), signal);
}

BOBBIN_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	return NEXT(sigwaitinfo)(without(set, &room), info);
}

BOBBIN_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t room;

	return NEXT(sigtimedwait)(without(set, &room), info, timeout);
}

BOBBIN_API int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return NEXT(signalfd)(fd, without(set, &room), flags);
}
