/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_storm SECONDS - all that changes the map, while all threads walk.
 *
 *	makers    write functions whose frames have another size each time, into the
 *	          same few places; register them through each door in turn, call
 *	          them, walk from inside, unregister them
 *	loaders   dlopen and dlclose libraries, which often take each other's place
 *	forkers   fork; the child walks, registers and walks again
 *	churner   registers and unregisters ranges that nobody runs
 *
 * and in each thread a timer interrupts whatever it does, and walks.  A rule of
 * another function, or of one that was there before, gives a wrong caller: each
 * chain is checked against what can call what.  Only the guesses of a walk, frames
 * by the frame pointer and what follows them, are not.  And each is walked again with and
 * without the rules and the last walk that walks remember: the traces must be equal.
 */
#include "storm.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAKERS 2
#define LOADERS 1
#define FORKERS 1
#define ACTORS (MAKERS + LOADERS + FORKERS)

/* clang's way to ask for sanitizers */
#ifdef __has_feature
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__
#endif
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif

/* As often as the machine can take, with so many threads; sanitizers take their time. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TIMER_NS 2000000
#else
#define TIMER_NS 50000
#endif

/* Comparing takes longer than the timer: the interrupted code must make progress. */
#define COMPARE_EACH 64

struct counters storm_counters;
atomic_bool storm_over;
_Thread_local struct actor *storm_self __attribute__((tls_model("initial-exec")));

static atomic_ulong signals_taken;

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct bobbin_frame frames[64];
	struct bobbin_trace trace = {.frames = frames, .max = 64};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;
	int error = errno;

	if (!storm_self)
		return;
	bobbin_context_regs(context, gpr, &regs);
	/* the thread sanitizer calls handlers later, when the context is out of date */
#ifdef __SANITIZE_THREAD__
	bobbin_backtrace(NULL, &trace);
#else
	bobbin_backtrace(&regs, &trace);
	if (atomic_load_explicit(&signals_taken, memory_order_relaxed) % COMPARE_EACH == 0)
		storm_compare(&regs);
#endif
	storm_check(&trace, "handler");
	atomic_fetch_add_explicit(&signals_taken, 1, memory_order_relaxed);
	errno = error;
}

static void interrupt_often(timer_t *ret)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
	struct itimerspec often = {.it_interval = {.tv_nsec = TIMER_NS},
				   .it_value = {.tv_nsec = TIMER_NS}};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, ret) || timer_settime(*ret, 0, &often, NULL)) {
		perror("code_storm: timer");
		exit(1);
	}
}

/* Outermost of our frames in each thread. */
__attribute__((noinline)) void *actor_main(void *arg)
{
	struct actor *actor = arg;
	timer_t timer;

	storm_self = actor;
	interrupt_often(&timer);
	while (!atomic_load(&storm_over))
		actor->play(actor);
	timer_delete(timer);
	storm_self = NULL;
	return NULL;
}

static void *churn(void *arg)
{
	while (!atomic_load(&storm_over))
		churn_round();
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	int r = pthread_create(thread, NULL, run, arg);

	if (r) {
		fprintf(stderr, "code_storm: thread: %s\n", strerror(r));
		exit(1);
	}
}

static void catch (int number)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(number, &action, NULL);
}

static void run(unsigned int seconds)
{
	static struct actor actors[ACTORS];
	pthread_t threads[ACTORS], churner;

	for (unsigned int i = 0; i < ACTORS; i++) {
		actors[i].number = i;
		actors[i].seed = 88172645463325252ull + i;
		actors[i].play = i < MAKERS             ? maker_round
				 : i < MAKERS + LOADERS ? loader_round
							: forker_round;
		start(&threads[i], actor_main, &actors[i]);
	}
	start(&churner, churn, NULL);
	sleep(seconds);
	atomic_store(&storm_over, true);
	for (unsigned int i = 0; i < ACTORS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(churner, NULL);
}

static int verdict(void)
{
	struct counters *c = &storm_counters;
	unsigned long complete = atomic_load(&c->reasons[BOBBIN_REASON_OUTERMOST]);
	unsigned long traces = atomic_load(&c->traces), behind = atomic_load(&c->behind);
	bool good = !atomic_load(&c->wrong) && !atomic_load(&c->failed);

	printf("# %lu traces, %lu of them in signal handlers; %lu complete, %lu behind a loader; "
	       "%lu functions made, %lu libraries opened, %lu children; "
	       "%lu compared with what is not remembered\n",
	       traces, atomic_load(&signals_taken), complete, behind, atomic_load(&c->made),
	       atomic_load(&c->opened), atomic_load(&c->children), atomic_load(&c->compared));
	for (unsigned int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (atomic_load(&c->reasons[i]))
			printf("# %8lu %s\n", atomic_load(&c->reasons[i]),
			       bobbin_reason_name((enum bobbin_reason)i));
	/* each actor did something, and was interrupted */
	if (!atomic_load(&c->made) || !atomic_load(&c->opened) || !atomic_load(&c->children) ||
	    atomic_load(&signals_taken) < 100) {
		puts("# too little happened");
		good = false;
	}
	if (complete < traces - behind - traces / 1000) {
		puts("# too many traces are incomplete");
		good = false;
	}
	printf("1..1\n%s 1 - walks are right while code comes and goes\n", good ? "ok" : "not ok");
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	int r = bobbin_backtrace_follow();

	if (argc != 4 || r) {
		fprintf(stderr, "usage: code_storm SECONDS LIBRARY LIBRARY\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	chain_init((const void *)actor_main);
	loader_init(argv[2], argv[3]);
	maker_init();
	churn_init();
	catch (SIGPROF);
	run((unsigned int)strtoul(argv[1], NULL, 10));
	return verdict();
}
