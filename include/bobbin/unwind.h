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

#include <bobbin/frame.h>
#include <bobbin/step.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frames that one trace keeps, at most. */
#define BOBBIN_MAX_DEPTH 1024
/* Frames that one walk visits, about and at most, whether they are kept or not. */
#define BOBBIN_MAX_VISITS (1u << 20)

/**
 * bobbin_source_str() - the words for a source
 * @source: enum bobbin_source, or any value
 *
 * Return: a static string.  Safe in every context.
 */
const char *bobbin_source_str(unsigned int source);

/**
 * struct bobbin_trace - a call chain
 * @frames: storage of the caller, leaf first
 * @max: entries in @frames, 1..BOBBIN_MAX_DEPTH
 * @count: entries used
 * @reason: why it ended; BOBBIN_REASON_OUTERMOST: it is complete, no caller can be missing;
 *	BOBBIN_REASON_LIKELY: the outermost frame was reached, over a guess
 * @outer: 0..@max - 1: how many entries to keep for the outermost frames of a stack that
 *	has more than @max; 0: such a trace ends with BOBBIN_REASON_DEPTH, without them
 * @left_out: frames that found no room between frames[@max - @outer - 1] and
 *	frames[@max - @outer]; 0: none
 */
struct bobbin_trace {
	struct bobbin_frame *frames;
	uint32_t max, count;
	enum bobbin_reason reason;
	uint32_t outer, left_out;
};

/**
 * struct bobbin_mapping - executable memory of a process
 * @start, @end: addresses
 * @offset: file offset of @start
 * @path: as in /proc/PID/maps; "" or "//anon" for memory without a file
 * @build_id, @build_id_len: the file's, or 0 bytes
 * @major, @minor, @ino: identity of the file, or 0
 * @generation: of its inode, which tells it from an earlier file with the same number; or 0
 * @pid: process through which the file can be opened while it lives, or 0
 */
struct bobbin_mapping {
	uint64_t start, end, offset;
	const char *path;
	uint8_t build_id[20];
	uint8_t build_id_len;
	uint32_t major, minor;
	uint64_t ino, generation;
	int pid;
};

struct bobbin_unwinder;
struct bobbin_space;

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
 * bobbin_space_open() - an address space in which nothing is mapped
 * @unwinder: knows the files
 * @arch: of the process
 * @ret: the space; untouched on failure
 *
 * Return: 0 or -ENOMEM.
 */
int bobbin_space_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		      struct bobbin_space **ret);

/**
 * bobbin_space_close() - give a space back
 * @space: NULL is fine
 */
void bobbin_space_close(struct bobbin_space *space);

/**
 * bobbin_space_map() - something was mapped, over what was there
 * @space: the space
 * @mapping: what and where; copied
 *
 * Return: 0, -EINVAL for an empty or wrapped range, -ENOMEM.
 */
int bobbin_space_map(struct bobbin_space *space, const struct bobbin_mapping *mapping);

/**
 * bobbin_space_unmap() - nothing is mapped in a range any more
 * @space: the space
 * @start, @end: the range
 *
 * Return: 0 or -ENOMEM (a mapping had to be split).
 */
int bobbin_space_unmap(struct bobbin_space *space, uint64_t start, uint64_t end);

/**
 * bobbin_space_clear() - the process called exec
 * @space: the space
 */
void bobbin_space_clear(struct bobbin_space *space);

/**
 * bobbin_space_fork() - a copy
 * @space: the parent's
 * @ret: the child's; untouched on failure
 *
 * Return: 0 or -ENOMEM.
 */
int bobbin_space_fork(const struct bobbin_space *space, struct bobbin_space **ret);

/**
 * bobbin_space_load() - what is mapped now, from /proc/PID/maps
 * @space: the space; emptied first
 * @pid: a process
 *
 * Return: 0 or the errno of reading the file.
 */
int bobbin_space_load(struct bobbin_space *space, int pid);

/**
 * bobbin_space_update_code() - learn what code a process has registered, or tells of
 * @unwinder: knows the files
 * @space: what is mapped; of this unwinder
 * @pid: the process, alive; itself or another
 *
 * Reads the page that the process publishes (<bobbin/code_page.h>) if it has
 * changed, and copies the sections that are new; not more than 256 MiB of them,
 * and 512 MiB of everything for all spaces of the unwinder; the rest is left out.
 * Where nothing has changed it is a system call.  Where there is no page it is a
 * search in /proc/PID/maps, each time: do not ask too often.
 *
 * In processes that have executable memory without a file it reads the images of GDB's
 * JIT interface (__jit_debug_descriptor), too, if something has changed there: their code
 * is unwound by their .sframe and .eh_frame, of which 16 MiB are copied at most.  Files and
 * what is registered count more.  To find that out symbol tables are read, of each file
 * once.
 *
 * Such code stays known until the next update or bobbin_space_clear(), which
 * bobbin_space_load() implies; bobbin_space_fork() hands it on.  Tables of JIT
 * compilers are read in the process when a walk needs them.  Nothing that the process
 * says is trusted: a malformed table is dropped, once.
 *
 * Return: 1: something was new; 0: nothing; -ENOENT: the process has no page and
 * tells debuggers nothing; -EBADMSG: its page makes no sense; -EPERM; -ESRCH; -ENOMEM;
 * -ETIMEDOUT.  What was known stays.
 */
int bobbin_space_update_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space, int pid);

/**
 * struct bobbin_place_info - what an address is, for symbolisation
 * @mapping: what is mapped there; its @path lives as long as the mapping.  Memory
 *	without a file in which the process registered an image: the image, as if
 *	its file was mapped as a whole; @path lives until the next update
 * @file_offset: offset of the address in the file
 * @image, @image_size: the file's bytes if it is an image in memory (vDSO)
 */
struct bobbin_place_info {
	struct bobbin_mapping mapping;
	uint64_t file_offset;
	const void *image;
	size_t image_size;
};

/**
 * bobbin_space_find() - what is mapped at an address
 * @space: the space
 * @addr: the address
 * @ret: the answer; untouched if there is none
 *
 * Return: 0 or -ENOENT.
 */
int bobbin_space_find(const struct bobbin_space *space, uint64_t addr,
		      struct bobbin_place_info *ret);

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

/**
 * struct bobbin_stack_copy - a copy of the top of a stack, as samples carry it
 * @addr: of the first byte, the stack pointer
 * @data, @size: the bytes, borrowed
 */
struct bobbin_stack_copy {
	uint64_t addr;
	const uint8_t *data;
	size_t size;
};

/**
 * bobbin_stack_copy_read() - read function of struct bobbin_mem
 * @ctx: struct bobbin_stack_copy
 * @addr, @dst, @len: as in struct bobbin_mem
 *
 * Return: BOBBIN_REASON_NONE; BOBBIN_REASON_STACK_END above the copy; BOBBIN_REASON_NO_MEMORY
 * elsewhere.  Safe in every context.
 */
enum bobbin_reason bobbin_stack_copy_read(void *ctx, uint64_t addr, void *dst, size_t len);

/**
 * struct bobbin_process_memory - another process's memory, read by the page
 * @pid, @reader: private
 *
 * Set up with bobbin_process_memory_init() or bobbin_unwinder_process_memory(); nothing to
 * give back.
 */
struct bobbin_process_memory {
	int pid;
	uint32_t next;
	void *reader;
	struct {
		uint64_t addr;
		uint32_t size;
		uint8_t bytes[4096];
	} pages[4];
};

/**
 * bobbin_process_memory_init() - start with nothing read
 * @memory: storage of the caller
 * @pid: the process; the own one is fine
 */
void bobbin_process_memory_init(struct bobbin_process_memory *memory, int pid);

/**
 * bobbin_unwinder_process_memory() - the same, within the unwinder's deadline
 * @unwinder: must live as long as @memory is read
 * @pid: the process
 * @memory: storage of the caller
 */
void bobbin_unwinder_process_memory(struct bobbin_unwinder *unwinder, int pid,
				    struct bobbin_process_memory *memory);

/**
 * bobbin_process_memory_read() - read function of struct bobbin_mem
 * @ctx: struct bobbin_process_memory
 * @addr, @dst, @len: as in struct bobbin_mem
 *
 * Keeps the last four pages: set @ctx up again when the process has run.
 * process_vm_readv(2); no allocation.  It waits for whoever fills the page, which may be
 * the process itself, and cannot be interrupted: see bobbin_unwinder_process_memory().
 *
 * Return: BOBBIN_REASON_NONE, BOBBIN_REASON_NO_MEMORY or BOBBIN_REASON_NO_ANSWER.
 */
enum bobbin_reason bobbin_process_memory_read(void *ctx, uint64_t addr, void *dst, size_t len);

#ifdef __cplusplus
}
#endif

#endif
