/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace_storm SECONDS PLUGIN OTHER - backtraces while everything that could disturb them happens.
 *
 * Threads allocate, throw, load and unload two libraries with other frames in the same place, fork and
 * create threads, and SIGPROF interrupts all of this as often as the system allows.  Each frame of the
 * program in a backtrace must be one of a known function, and its caller one that calls it; outside of
 * handlers the chain must be whole.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <stdexcept>

extern "C" int unw_backtrace2(void **buffer, int size, void *context, int flags);
extern "C" int backtrace(void **buffer, int size);

#define LINK extern "C" __attribute__((visibility("default"), noipa))
#define STAY() __asm__ volatile("" ::: "memory")

typedef void plugin_fn(void (*f)(void));

static const unsigned int MAX = 100, WORKERS = 4, DEPTH = 20;
static const char *plugins[2];
static double seconds;
static std::atomic<bool> stop;
static std::atomic<unsigned long> checked, in_handlers, cut, allocations, loads, exceptions, children, threads;
static std::atomic<unsigned int> faults;

LINK void *work(void *arg);
LINK void allocate(unsigned int depth);
LINK void throw_deep(unsigned int depth);
LINK void catch_one();
LINK void load_one();
LINK void inside();
LINK void fork_one();
LINK void start_one();
LINK void *live_shortly(void *arg);

/* Functions of the program, and which may call them; nobody: the C library, or a library. */
struct function {
	const void *start;
	const void *callers[3];
	size_t size;
};

static struct function functions[] = {
	{(void *)work, {}, 0},
	{(void *)live_shortly, {}, 0},
	{(void *)allocate, {(void *)work, (void *)allocate, (void *)live_shortly}, 0},
	{(void *)catch_one, {(void *)work}, 0},
	{(void *)throw_deep, {(void *)catch_one, (void *)throw_deep}, 0},
	{(void *)load_one, {(void *)work}, 0},
	{(void *)inside, {}, 0},
	{(void *)fork_one, {(void *)work}, 0},
	{(void *)start_one, {(void *)work}, 0},
};

static void measure_functions()
{
	for (function &f : functions) {
		const ElfW(Sym) *symbol = nullptr;
		Dl_info info;

		if (!dladdr1(f.start, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
			abort();
		f.size = symbol->st_size;
	}
}

static const function *function_at(const void *pc)
{
	for (const function &f : functions)
		if ((uintptr_t)pc - (uintptr_t)f.start < f.size)
			return &f;
	return nullptr;
}

static bool may_call(const function *callee, const void *pc)
{
	const function *caller = function_at(pc);

	for (const void *start : callee->callers)
		if (caller && caller->start == start)
			return true;
	return false;
}

/* In any context.  @exact: the first one is a PC. */
static bool is_right(void *const *addresses, int count, bool exact, bool *whole)
{
	*whole = false;
	for (int i = 0; i < count; i++) {
		const char *pc = (const char *)addresses[i] - (exact && !i ? 0 : 1);
		const function *f = function_at(pc);

		if (!f)
			continue;
		if (f->start == (void *)work || f->start == (void *)live_shortly)
			*whole = true;
		if (f->callers[0] && i + 1 < count && !may_call(f, (const char *)addresses[i + 1] - 1))
			return false;
	}
	return true;
}

static void report(const char *what, void *const *addresses, int count)
{
	char line[64];

	if (faults++ > 3)
		return;
	dprintf(1, "# %s\n", what);
	for (int i = 0; i < count; i++) {
		snprintf(line, sizeof(line), "# %p\n", addresses[i]);
		if (write(1, line, strlen(line)) < 0)
			abort();
	}
}

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *arg)
{
	void ***next = static_cast<void ***>(arg);

	if (_Unwind_GetIP(context))
		*(*next)++ = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Not in a handler: the chain leads to the start of the thread. */
static __attribute__((always_inline)) inline void walk_here()
{
	void *addresses[4 * MAX], *again[4 * MAX], **next = again;
	int count = backtrace(addresses, 4 * MAX);
	bool whole;

	_Unwind_Backtrace(take, &next);
	if (next - again != count || memcmp(addresses + 1, again + 1, (count - 1) * sizeof(*again)))
		report("two calls differ", addresses, count);
	if (!is_right(addresses, count, false, &whole))
		report("a wrong frame", addresses, count);
	else if (!whole)
		report("a chain without an end", addresses, count);
	checked++;
}

static void on_signal(int, siginfo_t *, void *context)
{
	void *addresses[4 * MAX];
	int count = unw_backtrace2(addresses, 4 * MAX, context, 1);
	bool whole;

	if (!is_right(addresses, count, true, &whole))
		report("a wrong frame in a handler", addresses, count);
	in_handlers++;
	cut += !whole;
}

void allocate(unsigned int depth)
{
	volatile char room[64];

	room[0] = 1;
	if (depth) {
		allocate(depth - 1);
	} else {
		free(malloc(1000 + (allocations++ & 1023)));
		walk_here();
	}
	STAY();
	room[1] = room[0];
}

void throw_deep(unsigned int depth)
{
	if (!depth)
		throw std::runtime_error("deep");
	throw_deep(depth - 1);
	STAY();
}

void catch_one()
{
	try {
		throw_deep(DEPTH);
	} catch (const std::runtime_error &) {
		exceptions++;
	}
	STAY();
}

void inside()
{
	walk_here();
	STAY();
}

void load_one()
{
	void *handle = dlopen(plugins[loads++ & 1], RTLD_NOW | RTLD_LOCAL);
	plugin_fn *outer = handle ? (plugin_fn *)dlsym(handle, "plugin_outer") : nullptr;

	if (!outer)
		abort();
	outer(inside);
	dlclose(handle);
	STAY();
}

/* A handler must not run in the child, whose other threads are gone. */
void fork_one()
{
	pid_t child = fork();
	int status;

	if (!child) {
		unsigned int before = faults;

		walk_here();
		_exit(faults != before);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	if (status)
		faults++;
	children++;
	STAY();
}

void *live_shortly(void *)
{
	allocate(3);
	STAY();
	return nullptr;
}

void start_one()
{
	pthread_t thread;

	if (!pthread_create(&thread, nullptr, live_shortly, nullptr))
		pthread_join(thread, nullptr);
	threads++;
	STAY();
}

/* The timer's signals go to this thread alone, each has one. */
static void interrupt_this_thread(timer_t *timer)
{
	struct sigevent event = {};
	const struct itimerspec often = {{0, 100000}, {0, 100000}};

	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGPROF;
#ifdef sigev_notify_thread_id
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
#else
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
#endif
	if (timer_create(CLOCK_MONOTONIC, &event, timer) || timer_settime(*timer, 0, &often, nullptr))
		abort();
}

void *work(void *arg)
{
	const uintptr_t number = (uintptr_t)arg;
	timer_t timer;

	interrupt_this_thread(&timer);
	for (unsigned int round = 0; !stop; round++) {
		allocate(round % DEPTH);
		catch_one();
		if (number == 0)
			load_one();
		if (number == 1 && round % 16 == 0)
			fork_one();
		if (number == 2)
			start_one();
		if (number == 3 && round % 4 == 0)
			load_one();
	}
	timer_delete(timer);
	STAY();
	return nullptr;
}

static double now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* So long, and until everything has happened often enough. */
static bool is_enough(double start)
{
	return now() - start >= seconds && allocations > 1000 && loads > 100 && exceptions > 100 &&
	       children > 10 && threads > 50 && in_handlers > 500;
}

int main(int argc, char **argv)
{
	const double start = now();
	struct sigaction action = {};
	pthread_t workers[WORKERS];

	if (argc != 4)
		return 2;
	seconds = atof(argv[1]);
	plugins[0] = argv[2];
	plugins[1] = argv[3];
	measure_functions();
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGPROF, &action, nullptr);
	for (uintptr_t i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], nullptr, work, (void *)i))
			return 2;
	while (!is_enough(start) && !faults)
		usleep(20000);
	stop = true;
	for (pthread_t worker : workers)
		pthread_join(worker, nullptr);
	printf("%lu walks, %lu in handlers, %lu of them cut; %lu allocations, %lu loads, %lu exceptions, "
	       "%lu forks, %lu threads; %u faults\n",
	       checked.load(), in_handlers.load(), cut.load(), allocations.load(), loads.load(),
	       exceptions.load(), children.load(), threads.load(), faults.load());
	return faults != 0;
}
