/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recording_sink.h - a sink that makes a perf.data file, and keeps names with it.
 *
 *	sample ──► call chain, see also trace_payload.h ──► perf_writer
 *	     ├───► name_recorder: names of files' functions, in the file
 *	     └───► kept_names.h: names of compiled code, beside it
 *
 * Noting what is sampled costs a look into a small table for each frame.  Names of files'
 * functions are looked up at the end, through the descriptors that the walker holds of the files,
 * so that it does not matter where a file is by then.  Memory, bytes and time are bounded: what is
 * beyond has no kept name.
 */
#ifndef BOBBIN_PROFILE_RECORDING_SINK_H
#define BOBBIN_PROFILE_RECORDING_SINK_H

#include "base/byte_buffer.h"
#include "profile/stack_sample.h"
#include "symbol/symbolizer.h"

struct name_recorder;

/* Files that are told of one by one. */
#define NAME_RECORDER_FILES 3

/* What was not named, and what would help. */
struct name_stats {
	uint64_t frames, unnamed; /* of files' code */
	struct unnamed_file {
		char *path; /* as long as the recorder */
		uint64_t frames;
	} files[NAME_RECORDER_FILES]; /* that have most of those without a name */
	size_t file_count;            /* of all */
	uint64_t failed;              /* places that could not be looked up, */
	int failure;                  /* and why: a negative errno; 0: none */
	uint64_t java_stacks;         /* that end early in code without a table, of Java machines */
	uint64_t java_frames, v8_frames; /* in code that these have made without a jitdump file */
};

/**
 * struct name_recorder_options - what a recording keeps
 * @debug_path: folders with debug files, borrowed
 * @remember: whoever reads the recording is to look there, too
 * @seconds: after which no other file is read at the end; 0: five
 * @memory: for the symbols of files, the least recently used go; 0: 128 MiB
 * @on_loss: as in struct symbolizer_options, without a context
 */
struct name_recorder_options {
	const char *debug_path;
	bool remember;
	unsigned int seconds;
	size_t memory;
	symbolizer_loss_fn *on_loss;
};

/* Returns 0, -ENOMEM. */
int name_recorder_open(const struct name_recorder_options *options, struct name_recorder **ret);
void name_recorder_close(struct name_recorder *recorder);

/*
 * For another recording of the same recorder: what was noted is forgotten, and symbols that were
 * read stay, within a bound.
 */
void name_recorder_reset(struct name_recorder *recorder);

/* Once the recording has ended. */
const struct name_stats *name_recorder_stats(const struct name_recorder *recorder);

/* Note the user part of a sample.  0, -ENOMEM. */
int name_recorder_trace(struct name_recorder *recorder, struct bobbin_space *space,
			const struct bobbin_trace *trace);

/* Note frames of the kernel.  0, -ENOMEM. */
int name_recorder_kernel(struct name_recorder *recorder, const struct bobbin_frame *frames,
			 size_t count);

/*
 * At the end: look the names up, and put the bytes to be kept in @ret, which is empty before.
 * 0, -ENOMEM.
 */
int name_recorder_finish(struct name_recorder *recorder, struct bobbin_unwinder *unwinder,
			 struct byte_buffer *ret);

struct recording;

struct recording_options {
	const char *path;            /* of the file, or "-" */
	const char *version;         /* of the program, for the file's header */
	const char *const *argv;     /* likewise, as long as the recording is open; or NULL */
	struct name_recorder *names; /* or NULL: no names are kept with the recording */
};

struct recording_stats {
	uint64_t told;  /* functions whose names were kept beside the file */
	int told_error; /* why some of them were not, or 0 */
	uint64_t kept;  /* samples that are in the file */
	int cut;        /* why the file lacks the last samples, or 0 */
};

/* The context is a struct recording.  At the end, an error means that there is no file. */
extern const struct sample_sink recording_sink;

/* 0 or -ENOMEM. */
int recording_open(const struct recording_options *options, struct recording **ret);
void recording_close(struct recording *recording); /* NULL is fine */

/* Once it has ended. */
const struct recording_stats *recording_stats(const struct recording *recording);

#endif
