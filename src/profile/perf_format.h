/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_format.h - the parts of perf.data that <linux/perf_event.h> lacks.
 *
 *	file header | ids … | attributes | records … | feature table | features …
 *
 * A file is written in the byte order of its machine.  Its records are those
 * of the kernel's ring buffer (types below 64) and those that the tool adds
 * (types from 64 on).  Features describe the machine and the recording; the
 * table after the records has one section for each bit set in the header, in
 * ascending order.  A file written to a pipe has a header of 16 bytes and
 * carries attributes and features as records instead.
 *
 * Names start with PERF_FILE_ so that they can never meet an enumerator of a
 * newer <linux/perf_event.h>.
 */
#ifndef BOBBIN_PROFILE_PERF_FORMAT_H
#define BOBBIN_PROFILE_PERF_FORMAT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* The bytes "PERFILE2" as a number, and what a foreign machine wrote. */
#define PERF_FILE_MAGIC 0x32454c4946524550ull
#define PERF_FILE_MAGIC_SWAPPED 0x50455246494c4532ull

struct perf_file_section {
	uint64_t offset; /* from the start of the file */
	uint64_t size;   /* in bytes */
};

#define PERF_FILE_FEATURES 256

struct perf_file_header {
	uint64_t magic;
	uint64_t size;      /* of this header */
	uint64_t attr_size; /* of an attribute and the section of its ids */
	struct perf_file_section attrs;
	struct perf_file_section data; /* size 0: the recording was killed */
	struct perf_file_section event_types;
	uint64_t features[PERF_FILE_FEATURES / 64];
};

static inline bool perf_file_has(const struct perf_file_header *header, unsigned int feature)
{
	return header->features[feature / 64] >> feature % 64 & 1;
}

/* Headers of a file written to a pipe, and of the oldest kind without features. */
#define PERF_FILE_PIPE_HEADER_SIZE 16
#define PERF_FILE_BARE_HEADER_SIZE 72

/* The size of the first struct perf_event_attr; stands for a size of 0. */
#define PERF_FILE_ATTR_MIN 64

/* Records that the tool adds; the unnamed ones carry nothing that we read. */
enum perf_file_record {
	PERF_FILE_ATTR = 64,           /* pipe: attribute, ids */
	PERF_FILE_TRACING_DATA = 66,   /* u32 size, that many bytes follow the record */
	PERF_FILE_FINISHED_ROUND = 68, /* no later record is older than those before */
	PERF_FILE_AUXTRACE = 71,       /* u64 size, that many bytes follow the record */
	PERF_FILE_EVENT_UPDATE = 78,   /* u64 what is told, u64 id of the event, see below */
	PERF_FILE_FEATURE = 80,        /* pipe: u64 feature bit, its bytes */
	PERF_FILE_COMPRESSED = 81,     /* a piece of one zstd stream of records */
	PERF_FILE_COMPRESSED2 = 83,    /* the same with u64 size, and padding */
};

/* Told by an EVENT_UPDATE: the name of the event, which ends the record. */
#define PERF_FILE_UPDATE_NAME 2

/* The last one of the kernel: Linux 6.19. */
#define PERF_FILE_CALLCHAIN_DEFERRED 22
/* Flags of attributes by their places, Linux 6.19: walk the user part later; write that, too. */
#define PERF_FILE_DEFER_CALLCHAIN 38
#define PERF_FILE_DEFER_OUTPUT 39
/* In a call chain: the user part comes later, in a record with the cookie that follows. */
#define PERF_FILE_CONTEXT_USER_DEFERRED ((uint64_t)-640)
/* In branch_sample_type, Linux 6.8: a counter word for each branch. */
#define PERF_FILE_BRANCH_COUNTERS (1ull << 19)

enum perf_file_feature {
	PERF_FILE_BUILD_ID = 2,
	PERF_FILE_HOSTNAME = 3,
	PERF_FILE_OSRELEASE = 4,
	PERF_FILE_VERSION = 5,
	PERF_FILE_ARCH = 6,
	PERF_FILE_NRCPUS = 7,
	PERF_FILE_CMDLINE = 11,
	PERF_FILE_EVENT_DESC = 12,
	PERF_FILE_SAMPLE_TIME = 21,
	PERF_FILE_CLOCK_DATA = 29,
};

/* In a pipe perf refuses features that it does not know: 32 and on, before Linux 6. */
#define PERF_FILE_PIPE_FEATURES 32

/* Strings of features are padded to this. */
#define PERF_FILE_STRING_ALIGN 64

/* The largest record: its size is 16 bits wide. */
#define PERF_FILE_RECORD_BYTES 65536

#endif
