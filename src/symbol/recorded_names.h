/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorded_names.h - names of functions in a recording, for files that change or go.
 *
 * They are a feature of the perf.data file, which perf passes over: for each file
 * that was sampled its identity, then the functions that were.  All numbers are
 * in the byte order of the machine and aligned by 8.
 *
 *	u32 version, u32 bytes of the debug path or 0 (version 1: 0); the debug path that was
 *		given, if any
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
#ifndef BOBBIN_SYMBOL_RECORDED_NAMES_H
#define BOBBIN_SYMBOL_RECORDED_NAMES_H

#include <bobbin/unwind.h>

#include "base/byte_buffer.h"
#include "core/bytes.h"
#include "target/mapped_file.h"

/* The number of the feature; perf has some thirty, from 0. */
#define RECORDED_NAMES_FEATURE 192
#define RECORDED_NAMES_VERSION 2

/* What is written, and believed when it is read. */
#define RECORDED_NAMES_MAX_BYTES ((size_t)16 << 20)
#define RECORDED_NAMES_MAX_FILES 4096
/* Each folder of the debug path is looked into for each file. */
#define RECORDED_NAMES_MAX_FOLDERS 1024

struct recorded_function {
	uint64_t offset; /* of its start in the file */
	uint64_t address;
	uint32_t reach; /* the last sample in it was before this many bytes */
	const char *name;
};

/*
 * Writing: the head, with the folders for debug files, of at most RECORDED_NAMES_MAX_FOLDERS bytes, or
 * NULL; then begin a file, add functions in ascending order, end it.  Functions beyond
 * RECORDED_NAMES_MAX_BYTES are left out.
 */
void recorded_names_head(struct byte_buffer *blob, const char *debug_path);
void recorded_names_begin(struct byte_buffer *blob, const struct mapped_file *file, size_t *at);
void recorded_names_add(struct byte_buffer *blob, size_t at,
			const struct recorded_function *function);
void recorded_names_end(struct byte_buffer *blob, size_t at);

struct recorded_names;

/*
 * What a recording has; the bytes of @feature, which start at @offset in its file, are borrowed.
 * 0, also without any; -EBADMSG, -ENOMEM.
 */
int recorded_names_open(struct bytes feature, uint64_t offset, struct bobbin_error *err,
			struct recorded_names **ret);
void recorded_names_close(struct recorded_names *names);

/* The folders for debug files that the recorder was given, or NULL.  @names: or NULL. */
const char *recorded_names_debug_path(const struct recorded_names *names);

/* The function at an offset of the mapped file.  false: there is none. */
bool recorded_names_find(const struct recorded_names *names, const struct bobbin_mapping *file,
			 uint64_t offset, struct recorded_function *ret);

/* All functions of the mapped file, in order; returns their number. */
size_t recorded_names_functions(const struct recorded_names *names,
				const struct bobbin_mapping *file,
				const struct recorded_function **ret);

#endif
