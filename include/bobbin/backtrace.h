/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace.h - the own thread's call chain, from any context.
 *
 *	bobbin_backtrace_prepare();			once, in main()
 *	...
 *	static void on_signal(int number, siginfo_t *info, void *context)
 *	{
 *		struct bobbin_frame frames[64];
 *		struct bobbin_trace trace = {.frames = frames, .max = 64};
 *		uint64_t gpr[BOBBIN_REG_COUNT];
 *		struct bobbin_regs regs;
 *
 *		bobbin_context_regs(context, gpr, &regs);
 *		bobbin_backtrace(&regs, &trace);
 *	}
 *
 * Walks look into the process's code map: what was loaded when it was last
 * brought up to date, and what is registered, see <bobbin/codectl.h>.  They take
 * no lock, allocate nothing and wait for nobody.  For each frame the rule comes
 * from the table of its code (.sframe, .eh_frame, .debug_frame, a registered
 * section, a JIT table), from the bytes of a signal trampoline, and at last from
 * the frame pointer.  Each frame says which it was, and a trace says why it ended.
 *
 * docs/backtrace.md tells what walks cost and what is guaranteed.
 */
#ifndef BOBBIN_BACKTRACE_H
#define BOBBIN_BACKTRACE_H

#include <bobbin/unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * bobbin_backtrace_prepare() - learn what is loaded now
 *
 * Reads the tables of objects that were loaded since the last call and forgets
 * those that are no longer there.  Milliseconds at first, some microseconds when
 * nothing has changed.  Locks and allocates: not from signal handlers, and not from
 * inside a replacement of malloc().
 *
 * Return: 0; -ENOMEM.  An object whose file cannot be read is no error: its frames
 * have no table.
 */
int bobbin_backtrace_prepare(void);

/**
 * bobbin_backtrace_follow() - keep the map up to date from now on
 *
 * bobbin_backtrace_prepare(), and a thread that does the same whenever a walk has
 * come to code that the map did not know: after dlopen(3), the first walk through
 * the new library ends there or goes on by its frame pointer, the next ones, some
 * milliseconds later, know it.  The thread sleeps in between and blocks all
 * signals.  A forked child has none until it calls this again.
 *
 * Return: 0, also if there is a thread already; -ENOMEM; the errno of creating a
 * thread.
 */
int bobbin_backtrace_follow(void);

/**
 * bobbin_backtrace_unfollow() - end the thread
 *
 * Waits for it.  Needed only before this library is unloaded.
 */
void bobbin_backtrace_unfollow(void);

/**
 * bobbin_context_regs() - the registers that a signal handler interrupted
 * @ucontext: the handler's third argument, or filled in by getcontext(3)
 * @gpr: room for all registers; @ret borrows it
 * @ret: the registers
 *
 * Async-signal-safe.
 */
void bobbin_context_regs(const void *ucontext, uint64_t gpr[BOBBIN_REG_COUNT],
			 struct bobbin_regs *ret);

/**
 * bobbin_backtrace() - the call chain above some registers of this thread
 * @regs: of this thread, e.g. what a signal interrupted; NULL: of the caller, the
 *	trace then begins with the caller's own frame
 * @trace: in: @frames, @max and @outer; out: the rest.  At least one frame
 *
 * Async-signal-safe and wait-free; any thread, without preparation of the thread;
 * errno is left alone.  Some 6 KiB of stack.  Registers and stack may hold anything:
 * memory is tested before it is read.
 *
 * A handler must not leave a walk by siglongjmp(3): whoever unregisters code waits
 * for it.
 *
 * A library that was unloaded after the map was brought up to date gives no wrong
 * frames, even if another has been loaded in its place: what can be unloaded is
 * compared with what is there, and such a walk ends with BOBBIN_REASON_UNLOADED or goes on
 * by the frame pointer.
 */
void bobbin_backtrace(const struct bobbin_regs *regs, struct bobbin_trace *trace);

/**
 * bobbin_backtrace_here() - the caller's call chain, with all that is loaded now
 * @trace: as for bobbin_backtrace()
 *
 * Where the map does not know code that is loaded, it is brought up to date, and
 * the stack is walked again.  So this may lock and allocate: not from signal
 * handlers, where bobbin_backtrace() is right.  If the map is being changed at this
 * moment the walk does not wait: it says what it has found.
 */
void bobbin_backtrace_here(struct bobbin_trace *trace);

/*
 * Calls of libbobbin-backtrace, which needs the C library alone.  Linked or preloaded, it also has
 * what programs call already: backtrace(), _Unwind_Backtrace() and what its callbacks call,
 * unw_backtrace() and unw_backtrace2().  libbobbin-backtrace(7) says what each of them gives.
 */

/**
 * bobbin_stack_unwinder() - the caller's call chain, as abseil asks for it
 * @result: room for @max_depth addresses, innermost first
 * @sizes: room for as many sizes of frames, which are not known: 0; or NULL
 * @max_depth: at least 0
 * @skip_count: frames to leave out, from the caller's on
 * @ucontext: what a signal handler got, or NULL; not needed: the chain leads through the signal's
 *	frame
 * @min_dropped_frames: out: frames that found no room, 200 at most; or NULL
 *
 * absl::SetStackUnwinder() takes it.  In libbobbin-backtrace, not in libbobbin.so.
 * Async-signal-safe and wait-free; takes no lock and no memory.  Some 9 KiB of stack.
 *
 * Return: the addresses that were stored.
 */
int bobbin_stack_unwinder(void **result, int *sizes, int max_depth, int skip_count,
			  const void *ucontext, int *min_dropped_frames);

/**
 * struct bobbin_cgo_traceback - what Go's run time asks for
 * @context: not used
 * @signal_context: the ucontext_t of a signal in C code, or 0
 * @buffer: room for @max addresses
 */
struct bobbin_cgo_traceback {
	uintptr_t context, signal_context;
	uintptr_t *buffer, max;
};

/**
 * bobbin_cgo_traceback() - the C functions that Go has called, or that a signal interrupted
 * @traceback: in: as the run time fills it in; out: the addresses in @buffer, and 0 if there is
 *	room
 *
 * runtime.SetCgoTraceback() takes it.  The chain ends before the first frame that no table of C
 * describes, which is Go's.  In libbobbin-backtrace, not in libbobbin.so.  Async-signal-safe and
 * wait-free.
 */
void bobbin_cgo_traceback(struct bobbin_cgo_traceback *traceback);

#ifdef __cplusplus
}
#endif

#endif
