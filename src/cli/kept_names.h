/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept_names.h - names of functions in a recording, for files that change or go.
 *
 * They are a feature of the perf.data file, which perf passes over: for each file
 * that was sampled its identity, then the functions that were.  All numbers are
 * in the byte order of the machine and aligned by 8.
 *
 *	u32 version, u32 bytes of the debug path or 0; the debug path that was given, if any
 *	file:	  u32 bytes of it, this field included; u32 functions
 *		  u32 bytes of the build ID, u32 major, u32 minor, u32 bytes of the path
 *		  u64 inode; u8 build ID[24]; the path
 *	function: u64 offset of its start in the file; u64 its address there
 *		  u32 bytes up to the last sample in it; u32 bytes of the name; the name
 *		  (what follows another function inside of it stands as one more)
 *
 * Strings end with a NUL and are padded with more.  Nothing is looked up on disk
 * by what they say.
 */
#ifndef BOBBIN_CLI_KEPT_NAMES_H
#define BOBBIN_CLI_KEPT_NAMES_H

#include <bobbin/unwind.h>

#include "base/byte_buffer.h"
#include "profile/perf_feature.h"
#include "target/mapped_file.h"

/* The number of the feature; perf has some thirty, from 0. */
#define KEPT_NAMES_FEATURE 192
#define KEPT_NAMES_VERSION 2

/* What is written, and believed when it is read. */
#define KEPT_NAMES_MAX_BYTES ((size_t)16 << 20)
#define KEPT_NAMES_MAX_FILES 4096
/* Each folder of the debug path is looked into for each file. */
#define KEPT_NAMES_MAX_FOLDERS 1024

struct kept_function {
	uint64_t offset; /* of its start in the file */
	uint64_t address;
	uint32_t reach; /* the last sample in it was before this many bytes */
	const char *name;
};

/*
 * Writing: the head, with the folders for debug files, of at most KEPT_NAMES_MAX_FOLDERS bytes, or
 * NULL; then begin a file, add functions in ascending order, end it.  Functions beyond
 * KEPT_NAMES_MAX_BYTES are left out.
 */
void kept_names_head(struct byte_buffer *blob, const char *debug_path);
void kept_names_begin(struct byte_buffer *blob, const struct mapped_file *file, size_t *at);
void kept_names_add(struct byte_buffer *blob, size_t at, const struct kept_function *function);
void kept_names_end(struct byte_buffer *blob, size_t at);

struct kept_names;

/* What a recording has; @feature is borrowed.  0, also without any; -EBADMSG, -ENOMEM. */
int kept_names_open(struct perf_span feature, struct bobbin_error *err, struct kept_names **ret);
void kept_names_close(struct kept_names *names);

/* The folders for debug files that the recorder was given, or NULL.  @names: or NULL. */
const char *kept_names_debug_path(const struct kept_names *names);

/* The function at an offset of the mapped file.  false: there is none. */
bool kept_names_find(const struct kept_names *names, const struct bobbin_mapping *file,
		     uint64_t offset, struct kept_function *ret);

/* All functions of the mapped file, in order; returns their number. */
size_t kept_names_functions(const struct kept_names *names, const struct bobbin_mapping *file,
			    const struct kept_function **ret);

#endif
