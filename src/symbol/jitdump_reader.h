/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump_reader.h - the records of a jitdump file, one by one.
 *
 *	header | LOAD | DEBUG_INFO | LOAD | MOVE | …
 *
 * A jitdump file is written by the JIT compiler itself while it runs: it may grow at any time, and its last record
 * may be incomplete.  It is in the byte order of its writer, and not trusted.  The
 * reader goes on where it stopped; code bytes and tables are passed over.
 */
#ifndef BOBBIN_SYMBOL_JITDUMP_READER_H
#define BOBBIN_SYMBOL_JITDUMP_READER_H

#include <bobbin/reason.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jitdump_format.h"

/* Longer names are cut. */
#define JITDUMP_MAX_NAME 1024
#define JITDUMP_WINDOW 32768

/* What of a record is of use; strings are valid until the next call. */
struct jitdump_record {
	uint32_t kind; /* may be none of enum jitdump_kind */
	uint64_t offset, size, time;
	uint64_t address, code_size; /* LOAD, MOVE: where it is now; LINES: of what */
	uint64_t old_address;        /* MOVE */
	const char *name;            /* LOAD */
	size_t name_len;
	uint64_t line_count; /* LINES: how many jitdump_reader_line() finds */
};

/* From @address on, code is of this line. */
struct jitdump_line {
	uint64_t address;
	uint32_t line;
	const char *file;
	size_t file_len;
};

/* Zero to begin; nothing to give back. */
struct jitdump_reader {
	bool started, big_endian;
	bool other_clock;   /* times are not CLOCK_MONOTONIC's */
	uint64_t created;   /* when, by the file's own clock */
	uint64_t next;      /* offset of the next record */
	uint64_t file_size; /* when it was last looked at */
	uint64_t line;      /* offset of the next line of the record */
	uint64_t lines_left, lines_end;
	uint64_t window_start, window_size;
	uint8_t window[JITDUMP_WINDOW];
	char file[JITDUMP_MAX_NAME + 1]; /* of the latest line */
	size_t file_len;
};

/* Look how long the file of @fd is by now.  0, or the errno of fstat(2). */
int jitdump_reader_sweep(struct jitdump_reader *reader, int fd);

/*
 * The next record.  1; 0: no more complete ones yet; -EBADMSG with @err, which
 * may be NULL: nothing after this place can be used.
 */
int jitdump_reader_next(struct jitdump_reader *reader, int fd, struct bobbin_error *err,
			struct jitdump_record *ret);

/* The next line of the latest record, if it was LINES.  As jitdump_reader_next(). */
int jitdump_reader_line(struct jitdump_reader *reader, int fd, struct bobbin_error *err,
			struct jitdump_line *ret);

#endif
