/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump_format.h - jitdump files, tools/perf/Documentation/jitdump-specification.txt.
 *
 *	header | record | record | …
 *
 * In the byte order of the writer.
 */
#ifndef BOBBIN_BASE_JITDUMP_FORMAT_H
#define BOBBIN_BASE_JITDUMP_FORMAT_H

#include <stdint.h>

#define JITDUMP_MAGIC 0x4a695444 /* "JiTD", big-endian */
#define JITDUMP_VERSION 1

struct jitdump_header {
	uint32_t magic, version, total_size, elf_machine, pad, pid;
	uint64_t timestamp, flags;
};

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_LINES = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING = 4
};

/* What each record begins with. */
struct jitdump_prefix {
	uint32_t id, total_size;
	uint64_t timestamp;
};

/* JITDUMP_LOAD: the name, with its terminator, and the code follow. */
struct jitdump_load {
	struct jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

#endif
