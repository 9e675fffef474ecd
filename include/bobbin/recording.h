/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recording.h - the samples of a recording, with their stacks, mappings and names.
 *
 *	struct bobbin_recording *recording;
 *	const struct bobbin_sample *sample;
 *	const struct bobbin_name *name;
 *
 *	if (bobbin_recording_open("perf.data", NULL, NULL, &recording))
 *		return;
 *	while (bobbin_recording_next(recording, NULL, &sample) > 0)
 *		for (size_t i = 0; i < sample->count; i++) {
 *			name = bobbin_recording_name(recording, &sample->frames[i], 0);
 *			puts(name->function ? name->function : "?");
 *		}
 *	bobbin_recording_close(recording);
 *
 * Reads what `bobbin record` and `perf record` write.  Call chains are given as they were recorded,
 * and copies of stacks (--call-graph dwarf) are unwound: everything is as `bobbin script` prints
 * it.
 *
 * The functions are in libbobbin-recording.so, since names need libraries that other users of
 * bobbin do not (pkg-config: bobbin-recording).
 *
 * A recording may be hostile, and so may the files that it names: they are refused, or falsify
 * what is shown of them.  Memory and time are bounded by the sizes of the files.  The file is
 * mapped while it is open: if another process cuts it off meanwhile, SIGBUS is raised.
 *
 * Symbols are read by a child process without rights, which is forked when a name is first asked
 * for, and ends with the recording, or with the thread that forked it.  Other children are to be
 * waited for by their numbers.  Where DEBUGINFOD_URLS is set, its servers are asked for debug
 * files.
 *
 * A recording belongs to one thread at a time; different ones are independent.  None of the
 * functions is async-signal-safe.
 */
#ifndef BOBBIN_RECORDING_H
#define BOBBIN_RECORDING_H

#include <bobbin/unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bobbin_recording;

/**
 * struct bobbin_recording_options - what a user may choose
 * @size: sizeof(struct bobbin_recording_options)
 * @debug_path: colon-separated folders with debug files, as of `bobbin report --debug-path`;
 *	NULL: those that the recorder was given, or /usr/lib/debug
 * @lines: look up source files and lines, too, which takes several times as long
 *
 * Strings are copied.
 */
struct bobbin_recording_options {
	size_t size;
	const char *debug_path;
	bool lines;
};

/**
 * bobbin_recording_open() - open a recording
 * @path: of a regular file, whoever owns it
 * @options: NULL for defaults; an unknown tail must be zero
 * @err: where in the file and why on failure, or NULL.  BOBBIN_REASON_NONE if the errno says
 *	all
 * @ret: the recording, before its first sample; untouched on failure
 *
 * Reads over the whole file once: some 16 bytes of memory for each of its records.
 *
 * Return: 0; -EBADMSG: it is no recording, or damaged where nothing can be read; -EISDIR;
 * -ESPIPE: it is a pipe; -EINVAL or -E2BIG: @options is of no size, or has an unknown tail;
 * -ENOMEM; another errno of open(2) or mmap(2).
 */
int bobbin_recording_open(const char *path, const struct bobbin_recording_options *options,
			  struct bobbin_error *err, struct bobbin_recording **ret);

/**
 * bobbin_recording_close() - give a recording back
 * @recording: NULL is fine
 *
 * Everything that it gave is invalid from now on.
 */
void bobbin_recording_close(struct bobbin_recording *recording);

/**
 * struct bobbin_recording_info - how much of a recording there is
 * @samples: how many it has, at most
 * @lost_records: how many the kernel had to drop while it was made
 * @cut_off: its end is missing; what is there is read
 * @unnamed: frames whose names could not be looked up so far, or not all of them, though they may
 *	have some
 * @unnamed_error: why, a negative errno; or 0
 */
struct bobbin_recording_info {
	uint64_t samples, lost_records, unnamed;
	int unnamed_error;
	bool cut_off;
};

/**
 * bobbin_recording_info() - how much of a recording there is
 * @recording: the recording
 *
 * Return: what is known by now; it lives as long as @recording, and is brought up to date by the
 * next call.
 */
const struct bobbin_recording_info *bobbin_recording_info(struct bobbin_recording *recording);

/**
 * struct bobbin_sample - a sample
 * @event: name of the event that was sampled
 * @comm: name of the thread at that time
 * @pid, @tid: process and thread, as the recorder saw their numbers
 * @cpu: number of the processor
 * @time: of the recording's clock, in nanoseconds
 * @period: what the sample stands for, in the event's unit: nanoseconds of clocks, else what is
 *	counted; at least 1
 * @frames: the stack, leaf first, frames of the kernel before those of the user; those with
 *	BOBBIN_SOURCE_LEFT_OUT stand for others, see struct bobbin_frame
 * @count: entries in @frames, at least 1
 * @reason: why the user part ended, as in struct bobbin_trace; BOBBIN_REASON_NONE: the recording
 *	does not say
 *
 * Recordings of later versions may have reasons and sources that are not in the lists yet.
 *
 * Allocated by the library, which may append members.
 */
struct bobbin_sample {
	const char *event, *comm;
	int pid, tid;
	uint32_t cpu;
	uint64_t time, period;
	const struct bobbin_frame *frames;
	size_t count;
	enum bobbin_reason reason;
};

/**
 * bobbin_recording_next() - go on to the next sample
 * @recording: the recording
 * @err: where in the file and why on failure, or NULL.  BOBBIN_REASON_NONE if the errno says
 *	all
 * @ret: the sample, valid until the next call; untouched otherwise
 *
 * In the order of time, over all events.
 *
 * Return: 1 and a sample; 0 at the end; -EBADMSG for a malformed record, after which the next
 * call goes on; -ENOMEM.
 */
int bobbin_recording_next(struct bobbin_recording *recording, struct bobbin_error *err,
			  const struct bobbin_sample **ret);

/**
 * bobbin_recording_find() - what was mapped at an address when the sample was taken
 * @recording: the recording, at a sample
 * @addr: an address in the sample's process, see bobbin_frame_lookup_pc()
 * @ret: as for bobbin_space_find(); strings live until the next bobbin_recording_next();
 *	untouched on failure
 *
 * Return: 0; -ENOENT: nothing, or there is no sample.
 */
int bobbin_recording_find(struct bobbin_recording *recording, uint64_t addr,
			  struct bobbin_place_info *ret);

/**
 * bobbin_recording_mapping() - one of the mappings of the sample's process
 * @recording: the recording, at a sample
 * @number: of the mapping, from 0, in ascending order of addresses
 * @ret: as for bobbin_recording_find()
 *
 * Executable mappings alone are known.
 *
 * Return: 0; -ENOENT: there is no such mapping, or no sample.
 */
int bobbin_recording_mapping(struct bobbin_recording *recording, size_t number,
			     struct bobbin_mapping *ret);

/**
 * struct bobbin_name - a function, or one that is inlined there
 * @function: demangled, with '?' for control characters; the file and the function's address if
 *	it has no symbol; NULL: not known
 * @file: path of the mapped file, or what there is instead of one: "[kernel.kallsyms]", "[vdso]",
 *	"[JIT]", "[anon]", "[unknown]"
 * @offset: bytes from the start of @function to the frame's PC
 * @source_file, @line: where in the source, if that was asked for; NULL and 0: not known
 * @inlined: expanded into the function that follows
 *
 * Allocated by the library, which may append members.
 */
struct bobbin_name {
	const char *function, *file;
	uint64_t offset;
	const char *source_file;
	uint32_t line;
	bool inlined;
};

/**
 * bobbin_recording_name() - what the code at a frame is called
 * @recording: the recording, at a sample
 * @frame: of the sample, or any of its process
 * @number: 0: the innermost function, which may be inlined into number 1, and so on
 *
 * Looked up when the first of them is asked for, and remembered.  Files that may not be those that
 * were recorded give no names.
 *
 * Return: the name, valid with its strings until another frame's is asked for, or the next sample;
 * NULL: @number is past the last function, or there is no sample.  Each frame has a number 0.
 */
const struct bobbin_name *bobbin_recording_name(struct bobbin_recording *recording,
						const struct bobbin_frame *frame, size_t number);

#ifdef __cplusplus
}
#endif

#endif
