/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbobbin-sampler.so: samples the program that it is loaded into, where the kernel does not.
 *
 *	timer of a thread's CPU time ──► signal ──► registers and stack ──► a slot of the area
 *
 * 'bobbin record --in-process' preloads it into a command, and walks the stacks.  It needs nothing
 * but the C library.  Threads get a timer when they begin, by pthread_create(), or when the library
 * is loaded.  Children of fork() have their own; a program that is started by exec loads the library
 * again.
 *
 * Linux drops what such timers have sent, and the timers, at exec.
 *
 * The kernel looks at such timers once a tick, when a thread runs, and says how often the time has
 * come since.  What a thread takes after its last sample is never counted; so its first one, at a
 * tick that chance chooses, stands for a whole period, as if it came from a thread without a start
 * and an end.  Then threads of any length have, on average, the weight of the time that they take.
 */
#include <bobbin/backtrace.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/deps.h"
#include "shim/area_writer.h"
#include "shim/signal_guard.h"
#include "shim/told_objects.h"
#include "unwind/assembly.h"

/* The kernel's number of a thread's CPU clock: see CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED there. */
#define THREAD_CLOCK(tid) ((int)(~(tid) << 3 | 6))

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define NO_TIMER -1

static struct {
	struct sample_area *area; /* NULL: nobody samples */
	pthread_key_t ending;     /* of threads with a timer */
} sampler;

/* The kernel's number of the thread's timer; of threads that were there before, nobody needs it. */
static _Thread_local int timer __attribute__((tls_model("initial-exec"))) = NO_TIMER;

/* Whether the thread has had a sample. */
static _Thread_local bool is_sampled __attribute__((tls_model("initial-exec")));

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* Right after one of the ticks of a period. */
static uint64_t first_expiry(uint32_t tid)
{
	const struct sample_area *area = sampler.area;
	uint64_t ticks = area->period_ns / area->tick_ns;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (ticks < 2)
		return 1;
	return 1 + area->tick_ns *
			   ((((uint64_t)now.tv_nsec + tid) * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
			    ticks);
}

/* The number of a new timer of a thread, or NO_TIMER. */
static int arm(uint32_t tid)
{
	const struct itimerspec spec = {.it_interval = time_of(sampler.area->period_ns),
					.it_value = time_of(first_expiry(tid))};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = GUARDED_SIGNAL};
	int made = NO_TIMER;

	/* by which the handler knows the sampler's signals */
	event.sigev_value.sival_ptr = &sampler;
	event.sigev_notify_thread_id = (pid_t)tid;
	if (raw_syscall(SYS_timer_create, THREAD_CLOCK(tid), (long)&event, (long)&made, 0) < 0) {
		atomic_fetch_add(&sampler.area->unsampled, 1);
		return NO_TIMER;
	}
	raw_syscall(SYS_timer_settime, made, 0, (long)&spec, 0);
	return made;
}

/* Libraries that have been loaded are told before the first sample that leads to them. */
static void tell_objects(struct sample_slot *slot)
{
	static _Atomic bool untold;
	uint64_t time;

	if (told_objects_find_new(slot->pc, slot->data, slot->size))
		atomic_store_explicit(&untold, true, memory_order_relaxed);
	if (!atomic_load_explicit(&untold, memory_order_relaxed))
		return;
	time = area_tell_maps(sampler.area);
	if (!time)
		return;
	atomic_store_explicit(&untold, false, memory_order_relaxed);
	slot->time = time + 1;
}

static void take_sample(uint64_t weight, const void *ucontext)
{
	struct sample_slot *slot;
	struct bobbin_regs regs;

	slot = area_claim(sampler.area, SAMPLE_SLOT_STACK);
	if (!slot) {
		if (atomic_load_explicit(&sampler.area->running, memory_order_relaxed))
			atomic_fetch_add(&sampler.area->lost, 1);
		return;
	}
	slot->weight = weight;
	bobbin_context_regs(ucontext, slot->gpr, &regs);
	area_put_stack(sampler.area, slot, &regs);
	tell_objects(slot);
	area_publish(sampler.area, slot);
}

/* What the next sample of the thread stands for. */
static uint64_t next_weight(int overrun)
{
	const struct sample_area *area = sampler.area;

	if (is_sampled)
		return (1 + (uint64_t)(overrun > 0 ? overrun : 0)) * area->period_ns;
	is_sampled = true;
	return area->period_ns > area->tick_ns ? area->period_ns : area->tick_ns;
}

static void on_signal(int signal, siginfo_t *info, void *ucontext)
{
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &sampler) {
		signal_guard_forward(signal, info, ucontext);
		return;
	}
	take_sample(next_weight(info->si_overrun), ucontext);
}

/* The calling thread begins. */
static void begin_thread(void)
{
	signal_guard_unblock();
	timer = arm(own_tid());
	/* any value but NULL: the destructor is called for it */
	pthread_setspecific(sampler.ending, &sampler);
}

/* The kernel would keep it as long as the process. */
static void end_thread(void *value)
{
	(void)value;
	if (timer != NO_TIMER)
		raw_syscall(SYS_timer_delete, timer, 0, 0, 0);
	timer = NO_TIMER;
}

struct start {
	void *(*routine)(void *argument);
	void *argument;
};

/* Its last call is a jump, so that stacks begin as without it. */
static void *run(void *argument)
{
	struct start *start = argument;
	void *(*routine)(void *) = start->routine;
	void *given = start->argument;

	free(start);
	begin_thread();
	return routine(given);
}

BOBBIN_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			      void *(*routine)(void *), void *argument)
{
	static _Atomic(void *) next;
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *start = sampler.area ? malloc(sizeof(*start)) : NULL;
	int r;

	if (!atomic_load(&next))
		atomic_store(&next, next_function("pthread_create"));
	create = (__typeof__(create))atomic_load(&next);
	if (!start)
		return create(thread, attributes, routine, argument);
	*start = (struct start){routine, argument};
	r = create(thread, attributes, run, start);
	if (r)
		free(start);
	return r;
}

/* Who forks: the child's only thread has a copy. */
static _Thread_local struct {
	uint32_t process, thread;
} forking __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	forking.process = own_pid();
	forking.thread = own_tid();
}

static void in_child(void)
{
	area_tell_fork(sampler.area, forking.process, forking.thread);
	is_sampled = false;
	begin_thread();
}

/* Those that other libraries have started. */
static void arm_others(void)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;

	while (threads && (entry = readdir(threads))) {
		uint32_t tid = (uint32_t)atoi(entry->d_name);

		if (tid && tid != own_tid())
			arm(tid);
	}
	if (threads)
		closedir(threads);
}

static int begin_process(void)
{
	int r = pthread_key_create(&sampler.ending, end_thread);

	if (!r)
		r = pthread_atfork(before_fork, NULL, in_child);
	return r ? -r : signal_guard_open(on_signal);
}

__attribute__((constructor)) static void begin(void)
{
	int before = errno;
	struct sample_area *area = area_writer_open();

	if (area && !area->block_bytes && !begin_process()) {
		sampler.area = area;
		told_objects_begin();
		area_tell_start(area);
		begin_thread();
		arm_others();
	}
	errno = before;
}
