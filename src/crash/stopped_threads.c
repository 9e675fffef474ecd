/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/stopped_threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "crash/raw_calls.h"
#include "crash/raw_file.h"

/* Threads may begin others until they are stopped: how often the list is read. */
#define ROUNDS 16
/* After so long, those that block the signal are no longer waited for. */
#define LOOK_NS 20000000ull
/* Since the last one has answered, and in all. */
#define PATIENCE_NS 2000000000ull
#define PATIENCE_IN_ALL_NS 10000000000ull
#define NAP_NS 20000000

enum {
	ASKED,
	ANSWERED,
	BLOCKING,
	ENDED,
};

struct stopped_thread {
	int tid;
	_Atomic uint32_t state;
	const void *context;
};

static struct {
	_Atomic uint32_t round;   /* odd: threads are to be stopped */
	_Atomic uint32_t answers; /* in all */
	unsigned int count;
	bool full;
	struct stopped_thread threads[STOPPED_THREADS_MAX];
} stopped;

static void wait_for_change(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	raw_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)timeout);
}

static void wake_all(_Atomic uint32_t *word)
{
	raw_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT32_MAX, 0);
}

/* What the signal brings: the round and the number of the thread. */
static uint64_t token_of(uint32_t round, uint32_t number)
{
	return (uint64_t)round << 32 | number;
}

/* In a thread that is to stop.  Another's signal, or one of an earlier round, means nothing. */
static void on_stop(int number, siginfo_t *info, void *context)
{
	const uint64_t token = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
	const uint32_t round = (uint32_t)(token >> 32);
	struct stopped_thread *t = &stopped.threads[(uint32_t)token % STOPPED_THREADS_MAX];

	(void)number;
	if (info->si_code != SI_QUEUE || info->si_pid != raw_pid() ||
	    atomic_load(&stopped.round) != round || t->tid != raw_tid())
		return;
	t->context = context;
	atomic_store(&t->state, ANSWERED);
	atomic_fetch_add(&stopped.answers, 1);
	wake_all(&stopped.answers);
	while (atomic_load(&stopped.round) == round)
		wait_for_change(&stopped.round, round, NULL);
}

/* 0; -ESRCH: the thread has ended. */
static long ask(uint32_t number)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = STOPPED_THREADS_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = raw_pid();
	info.si_value.sival_ptr = (void *)(uintptr_t)token_of(atomic_load(&stopped.round), number);
	return raw_syscall(SYS_rt_tgsigqueueinfo, info.si_pid, stopped.threads[number].tid,
			   info.si_signo, (long)&info);
}

static bool is_known(int tid)
{
	for (unsigned int i = stopped.count; i > 0; i--)
		if (stopped.threads[i - 1].tid == tid)
			return true;
	return false;
}

static void add_thread(int tid)
{
	struct stopped_thread *t = &stopped.threads[stopped.count];

	if (stopped.count == STOPPED_THREADS_MAX) {
		stopped.full = true;
		return;
	}
	t->tid = tid;
	t->context = NULL;
	atomic_store(&t->state, ASKED);
	if (ask(stopped.count++))
		atomic_store(&t->state, ENDED);
}

/* 0: it is no number. */
static int number_of(const char *name)
{
	int number = 0;

	for (; *name >= '0' && *name <= '9' && number < INT32_MAX / 10; name++)
		number = 10 * number + *name - '0';
	return *name ? 0 : number;
}

/* The names in what getdents64(2) has filled in; how many threads are new. */
static unsigned int take_names(const char *entries, size_t size)
{
	const int self = raw_tid();
	unsigned int added = 0;

	for (size_t at = 0; at < size;) {
		const struct dirent *entry = (const struct dirent *)(entries + at);
		const int tid = number_of(entry->d_name);

		if (tid && tid != self && !is_known(tid)) {
			add_thread(tid);
			added++;
		}
		at += entry->d_reclen;
	}
	return added;
}

/* How many threads are new; -ENOENT: there is no list. */
static int ask_new_threads(void)
{
	_Alignas(struct dirent) static char entries[4096];
	int added = 0, fd = raw_file_open("/proc/self/task", O_DIRECTORY);
	long n;

	if (fd < 0)
		return -ENOENT;
	while ((n = raw_syscall(SYS_getdents64, fd, (long)entries, sizeof(entries), 0)) > 0)
		added += (int)take_names(entries, (size_t)n);
	raw_file_close(fd);
	return n < 0 ? -ENOENT : added;
}

/* Whether a thread blocks the signal, by "SigBlk:" and 16 digits of its status. */
static bool is_blocking(int tid)
{
	static char text[4096];
	static const char field[] = "\nSigBlk:\t";
	const unsigned int bit = STOPPED_THREADS_SIGNAL - 1;
	char path[RAW_FILE_PATH];
	const char *at;

	if (!raw_file_text(raw_file_path(path, "/proc/self/task/", (unsigned int)tid, "/status"),
			   text, sizeof(text)))
		return false;
	at = strstr(text, field);
	if (!at || strnlen(at + sizeof(field) - 1, 16) < 16)
		return false;
	at += sizeof(field) - 1 + 15 - bit / 4;
	return (*at <= '9' ? *at - '0' : *at - 'a' + 10) >> bit % 4 & 1;
}

/* Unless the thread has answered meanwhile. */
static void settle(struct stopped_thread *t, uint32_t state)
{
	uint32_t asked = ASKED;

	atomic_compare_exchange_strong(&t->state, &asked, state);
}

/* Whether the thread is still to answer; @look: look for a reason why it does not. */
static bool is_awaited(struct stopped_thread *t, bool look)
{
	if (atomic_load(&t->state) != ASKED)
		return false;
	if (!look)
		return true;
	if (raw_syscall(SYS_tgkill, raw_pid(), t->tid, 0, 0))
		settle(t, ENDED);
	else if (is_blocking(t->tid))
		settle(t, BLOCKING);
	else
		return true;
	return false;
}

static bool are_awaited(bool look)
{
	bool awaited = false;

	for (unsigned int i = 0; i < stopped.count; i++)
		awaited |= is_awaited(&stopped.threads[i], look);
	return awaited;
}

static void wait_for_answers(void)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const uint64_t begin = raw_clock_ns();
	uint32_t seen = atomic_load(&stopped.answers), last = seen;
	uint64_t now = begin, progress = begin;

	while (are_awaited(now - begin >= LOOK_NS)) {
		wait_for_change(&stopped.answers, seen, &nap);
		now = raw_clock_ns();
		seen = atomic_load(&stopped.answers);
		if (seen != last)
			progress = now;
		last = seen;
		if (now - progress > PATIENCE_NS || now - begin > PATIENCE_IN_ALL_NS)
			break;
	}
}

int stopped_threads_stop(void)
{
	struct sigaction action = {.sa_sigaction = on_stop,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	int added = 1;

	stopped.count = 0;
	stopped.full = false;
	sigfillset(&action.sa_mask);
	if (sigaction(STOPPED_THREADS_SIGNAL, &action, NULL))
		return -errno;
	if (!(atomic_load(&stopped.round) & 1))
		atomic_fetch_add(&stopped.round, 1);
	for (unsigned int i = 0; i < ROUNDS && added > 0; i++) {
		added = ask_new_threads();
		if (added > 0)
			wait_for_answers();
	}
	return added < 0 ? added : 0;
}

unsigned int stopped_threads_count(void)
{
	return stopped.count;
}

bool stopped_threads_are_all(void)
{
	return !stopped.full;
}

enum thread_state stopped_threads_state(unsigned int number, int *tid, const void **context)
{
	struct stopped_thread *t = &stopped.threads[number];

	*tid = t->tid;
	is_awaited(t, true);
	switch (atomic_load(&t->state)) {
	case ANSWERED:
		*context = t->context;
		return THREAD_STOPPED;
	case BLOCKING:
		return THREAD_BLOCKING;
	case ENDED:
		return THREAD_ENDED;
	default:
		return THREAD_SILENT;
	}
}

void stopped_threads_release(void)
{
	if (!(atomic_load(&stopped.round) & 1))
		return;
	atomic_fetch_add(&stopped.round, 1);
	wake_all(&stopped.round);
}
