/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapshot.h - what was there before the recording began, as records.
 *
 * The kernel tells of what happens, not of what is: a process that runs
 * already is described by COMM and MMAP2 records made from /proc.
 */
#ifndef BOBBIN_PROFILE_SNAPSHOT_H
#define BOBBIN_PROFILE_SNAPSHOT_H

#include <sys/types.h>

#include "base/process_reader.h"
#include "profile/perf_event.h"

struct mapping_list;

/* Takes the records; a result other than 0 ends the snapshot and is returned. */
typedef int (*snapshot_sink)(void *ctx, const struct perf_event *event);

/*
 * A record of code that the kernel does not tell of, at @time; the file's name and place are open.
 */
struct perf_event snapshot_code(pid_t pid, uint64_t time, uint64_t id, uint64_t start,
				uint64_t size);

/*
 * Give an MMAP2 record for each range of pages that are a copy of a file's.  The kernel tells of
 * memory without the file, see target/text_copy.h; who reads a recording needs the file for names.
 * @known: mappings that were told; or NULL.  Their number; what @sink returned, if that is negative; -ENOMEM.  A process that cannot be read
 * has none.
 */
int snapshot_text_copies(const struct remote_process *process, const struct mapping_list *known,
			 uint64_t id, snapshot_sink sink, void *ctx);

/* A power of two. */
#define SNAPSHOT_FILES 512

/**
 * struct snapshot_files - build IDs that were read a moment ago
 *
 * By a hash of device and inode; one more drives out another.  Starts as all zero, and is of use
 * for as long as files are mapped that it has.
 */
struct snapshot_files {
	struct snapshot_file {
		uint32_t major, minor;
		uint64_t ino;
		uint8_t build_id[20], build_id_len;
	} list[SNAPSHOT_FILES];
};

/*
 * A process: its threads' names, then its executable mappings.  @files: or NULL; @page: whether a
 * mapping has the name of a page that tells of registered code.
 */
int snapshot_process(const struct remote_process *process, uint64_t id,
		     struct snapshot_files *files, snapshot_sink sink, void *ctx, bool *page);

/* The mappings of a process that has sent its own lines of /proc/PID/maps, @text, which are changed. */
int snapshot_text(const struct remote_process *process, uint64_t id, char *text,
		  struct snapshot_files *files, snapshot_sink sink, void *ctx);

/* The kernel's text, by kallsyms; nothing if its addresses are hidden. */
int snapshot_kernel(uint64_t id, snapshot_sink sink, void *ctx);

#endif
