/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaving - stacks are left by exceptions, by cancellation and by the end of a thread.
 *
 * All unwinding but that of backtraces is libgcc's.  "well", and 0; or what was wrong.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <stdexcept>

static const unsigned int DEPTH = 100, ROUNDS = 300;

struct counted {
	static std::atomic<unsigned int> left;
	~counted()
	{
		left++;
	}
};
std::atomic<unsigned int> counted::left;

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *frames)
{
	if (_Unwind_GetIP(context))
		++*static_cast<unsigned int *>(frames);
	return _URC_NO_REASON;
}

static unsigned int frames_here()
{
	unsigned int frames = 0;

	_Unwind_Backtrace(count, &frames);
	return frames;
}

enum way { THROW, CANCEL, EXIT };

static std::atomic<bool> ready;

__attribute__((noinline)) static unsigned int descend(unsigned int depth, way by)
{
	counted object;

	if (depth)
		return descend(depth - 1, by) + 1;
	if (frames_here() < DEPTH)
		return 0;
	if (by == THROW)
		throw std::runtime_error("here");
	if (by == EXIT)
		pthread_exit(nullptr);
	ready = true;
	for (;;)
		pause();
}

static void wrong(const char *what)
{
	puts(what);
	exit(1);
}

static void check(const char *what)
{
	if (counted::left != DEPTH + 1)
		wrong(what);
	counted::left = 0;
}

static void *leave(void *by)
{
	descend(DEPTH, *static_cast<way *>(by));
	return nullptr;
}

static void leave_thread(way by, const char *what)
{
	pthread_t thread;

	if (pthread_create(&thread, nullptr, leave, &by))
		wrong("no thread");
	while (by == CANCEL && !ready)
		usleep(100);
	ready = false;
	if (by == CANCEL)
		pthread_cancel(thread);
	pthread_join(thread, nullptr);
	check(what);
}

static _Unwind_Reason_Code go_on(int, _Unwind_Action actions, _Unwind_Exception_Class,
				 struct _Unwind_Exception *, struct _Unwind_Context *context,
				 void *frames)
{
	if (_Unwind_GetIP(context) && _Unwind_GetCFA(context))
		++*static_cast<unsigned int *>(frames);
	return actions & _UA_END_OF_STACK ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* Forced unwinding without a handler: only the frames are looked at. */
static void *force(void *frames)
{
	static struct _Unwind_Exception exception;

	_Unwind_ForcedUnwind(&exception, go_on, frames);
	return nullptr;
}

static void leave_all()
{
	unsigned int forced = 0;
	pthread_t thread;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		try {
			descend(DEPTH, THROW);
			wrong("no exception");
		} catch (const std::runtime_error &) {
			check("an exception");
		}
	}
	leave_thread(CANCEL, "cancellation");
	leave_thread(EXIT, "the end of a thread");
	if (pthread_create(&thread, nullptr, force, &forced))
		wrong("no thread");
	pthread_join(thread, nullptr);
	if (forced < 2)
		wrong("forced unwinding");
	puts("well");
}

/* The same in a library, see loader.c. */
extern "C" void plugin_work(long)
{
	leave_all();
}

/* Before other libraries have started. */
#ifdef EARLY
__attribute__((constructor)) static void leave_early()
{
	leave_all();
}
#endif

int main()
{
	leave_all();
	return 0;
}
