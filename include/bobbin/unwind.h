/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind.h - from a thread's registers to its call chain.
 *
 *	bobbin_unwinder_open(&unwinder);		what is known of files
 *	bobbin_space_open(unwinder, arch, &space);	what is mapped where
 *	bobbin_space_load(space, pid);
 *	...
 *	bobbin_unwind(unwinder, space, &regs, &mem, &trace);
 *
 * For each frame the walker looks for a rule in the mapped file's Go table, its .sframe,
 * its .eh_frame, its .debug_frame, its compressed side-file, by the bytes of a signal
 * trampoline, and at last by the code at the PC, by the frame pointer or by what can only be a
 * root; where one of these is not certain the trace is likely, not complete.  Code that the process registered
 * (<bobbin/codectl.h>) is unwound by what it was registered with, if that knows the
 * address, and code that it tells debuggers of by that; bobbin_space_update_code() makes
 * a space know of both.  Each frame says which
 * it was, and a trace says why it ended: nothing is cut off silently.
 *
 * An unwinder and its spaces belong to one thread at a time.
 */
#ifndef BOBBIN_UNWIND_H
#define BOBBIN_UNWIND_H

#include <bobbin/address_space.h>
#include <bobbin/stack_memory.h>
#include <bobbin/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bobbin_unwinder;

/**
 * struct bobbin_unwinder_options - what a user may choose
 * @size: sizeof(struct bobbin_unwinder_options)
 * @ignore_sframe: do not use .sframe sections of files
 * @debug_path: colon-separated folders with files by build ID
 *	(".build-id/NN/NNN.debug" below them), tried when a file has gone; NULL:
 *	none
 * @sframe_path: colon-separated folders with side-files by build ID
 *	("NN/NNN.sframe.zst"), asked for code that a file's own tables do not
 *	know; NULL: none
 * @deadline_ms: how long another process's memory, or a file that it has mapped, may take
 *	to be read; 0: as long as it takes.  Who reads a page waits for whoever fills it,
 *	which may be the process itself, and cannot be interrupted, not even by SIGKILL.
 *	So with a deadline a child process reads, which is forked when it is first needed
 *	and ends with the unwinder.  A process that missed a deadline is not read again, and
 *	one that answers late is not read while its answers have taken five deadlines in all,
 *	less a tenth of the time that has passed;
 *	-ETIMEDOUT and BOBBIN_REASON_NO_ANSWER tell of it
 * @cache_path: folder in which tables that were made of files are kept for the next time,
 *	and looked for, made if there is none; NULL or "": nowhere.  One that belongs to
 *	another user, or to which others may write, is not used
 * @ignore_code: do not infer rules from machine code where no table covers it.  The library
 *	does not anyway; the command bobbin does
 * @code_later: a thread infers them, and walks go on without until they are there; otherwise
 *	the first walk that needs them waits
 */
struct bobbin_unwinder_options {
	size_t size;
	bool ignore_sframe;
	const char *debug_path;
	const char *sframe_path;
	uint32_t deadline_ms;
	const char *cache_path;
	bool ignore_code;
	bool code_later;
};

/**
 * bobbin_unwinder_open() - start without any file
 * @options: NULL for defaults; an unknown tail must be zero
 * @ret: the unwinder; untouched on failure
 *
 * Return: 0, -ENOMEM, -E2BIG.
 */
int bobbin_unwinder_open(const struct bobbin_unwinder_options *options,
			 struct bobbin_unwinder **ret);

/**
 * bobbin_unwinder_close() - give everything back
 * @unwinder: all of its spaces must be closed; NULL is fine
 */
void bobbin_unwinder_close(struct bobbin_unwinder *unwinder);

/**
 * bobbin_unwinder_preload() - read the tables of a file now
 * @unwinder: knows the files
 * @space: what is mapped; of this unwinder
 * @addr: an address at which the file is mapped
 *
 * Tables are read when a walk first needs them.  Where the process or its file
 * may be gone by then, call this when the file is mapped.
 */
void bobbin_unwinder_preload(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			     uint64_t addr);

/**
 * bobbin_function_start() - where the function at an address begins
 * @unwinder: knows the files
 * @space: what is mapped; of this unwinder
 * @addr: an address
 * @ret: address of the function in the file's own space, as symbol tables and
 *	disassemblers show it; untouched on failure
 * @offset: bytes from there to @addr; untouched on failure
 *
 * By the unwind tables, which programs keep when their symbols are stripped.
 *
 * Return: 0, or -ENOENT.
 */
int bobbin_function_start(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			  uint64_t addr, uint64_t *ret, uint64_t *offset);

/**
 * bobbin_unwind() - a thread's call chain
 * @unwinder: knows the files
 * @space: what is mapped; of this unwinder
 * @regs: the leaf's registers
 * @mem: reader for the stack
 * @trace: in: @frames, @max and @outer; out: the rest.  At least one frame
 *
 * Cost: some tens of nanoseconds a frame once its rule is cached, mostly for
 * memory that is in no cache.
 */
void bobbin_unwind(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		   const struct bobbin_regs *regs, const struct bobbin_mem *mem,
		   struct bobbin_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
