/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_message.h - what is said between the process that reads files and its parent.
 *
 *	parent                     child
 *	name_request      ->
 *	                  <-       name_reply, which asks for a file
 *	file_reply        ->
 *	                  <-       name_reply, the answer
 *
 * Each is one packet of a socket.  A request may come with a descriptor, of the bytes of an
 * image; a file_reply does if its error is 0.  The child may be anybody's: an answer counts if
 * name_reply_symbols() and name_reply_text() accept it.
 */
#ifndef BOBBIN_SYMBOL_NAME_MESSAGE_H
#define BOBBIN_SYMBOL_NAME_MESSAGE_H

#include "symbol/elf_file.h"
#include "symbol/names.h"
#include "symbol/symfile.h"

#include <limits.h>

#define NAME_FRAMES 256
#define NAME_TEXT_SIZE 49152
#define NAME_RANGES 256
#define NAME_PATHS (3 + FILE_ROOTS_MAX)            /* of a struct symbol_file */
#define NAME_ROOT_SIZE (PATH_MAX / FILE_ROOTS_MAX) /* of a root's, at most */

enum name_job {
	NAME_DESCRIBE, /* a file, by its paths; there is no answer */
	NAME_IMAGE,    /* a file, by its bytes */
	NAME_RESOLVE,
	NAME_EXPECT,   /* what there is in each of @ranges, as far as there is room */
	NAME_DEMANGLE, /* what @text is */
};

struct name_request {
	enum name_job job;
	unsigned int file;
	uint64_t offset;
	uint32_t max;
	bool has_path[NAME_PATHS]; /* they stand in @text, one after the other */
	struct build_id build_id;
	uint32_t size; /* bytes of what follows */
	union {
		char text[4 * PATH_MAX];
		struct offset_range ranges[NAME_RANGES];
	};
};

enum name_wish {
	NAME_ANSWER,
	NAME_OPEN,  /* the file whose path is @text */
	NAME_FETCH, /* the debug file of @build_id */
};

/* The places of strings in the text count from 1; 0: there is none. */
struct wire_symbol {
	uint64_t start, size, offset;
	uint32_t name, mangled, src_file, line;
	uint8_t guessed, inlined;
	/* of NAME_EXPECT: whether the next one is of other code, and what this is of, whose first
	   byte @offset is of */
	uint8_t is_last;
	struct offset_range holds;
};

struct name_reply {
	enum name_wish wish;
	int count;       /* of symbols; or a negative errno */
	uint8_t missing; /* nothing could be opened */
	uint32_t done;   /* of ranges */
	struct offset_range holds;
	uint64_t memory; /* of the child's files */
	unsigned int open;
	struct build_id build_id;
	struct wire_symbol symbols[NAME_FRAMES];
	char text[NAME_TEXT_SIZE];
};

struct file_reply {
	int error;
};

/* Set the text of a request, or the paths of a file; false if they do not fit. */
bool name_request_say(struct name_request *request, const char *text);
bool name_request_paths(struct name_request *request, const struct symbol_file *file);

/* The paths, which are the request's. */
void name_request_take_paths(const struct name_request *request, struct symbol_file *file);

/* The bytes of a request that are to be sent. */
size_t name_request_size(const struct name_request *request);

/*
 * Put symbols in a reply, with its count.  Names are cut where all of them would not fit.
 * Returns the bytes of the reply that are to be sent.
 */
size_t name_reply_fill(struct name_reply *reply, const struct symbol *symbols, int count);

/*
 * Add those of one piece of code to a reply, its strings to @text, which it has at the end;
 * a piece may have none.  false: there is no room.
 */
struct name_reply_text {
	size_t used;
	char bytes[NAME_TEXT_SIZE];
};
bool name_reply_add(struct name_reply *reply, struct name_reply_text *text,
		    const struct symbol *symbols, int count, const struct offset_range *holds);
size_t name_reply_end(struct name_reply *reply, const struct name_reply_text *text);

/* No symbols: 0 or a negative errno. */
size_t name_reply_fail(struct name_reply *reply, int error);

/* Likewise one text. */
size_t name_reply_say(struct name_reply *reply, const char *text);

/* The text of a reply of @size bytes, or NULL if there is none, or no end of it. */
const char *name_reply_text(const struct name_reply *reply, size_t size);

/*
 * The symbols of an answer of @size bytes, at most @max, whose names are kept in @names.
 * One without a name has NULL.
 * Returns their number; -EBADMSG for what is no answer to that; -ENOMEM, -E2BIG.
 */
int name_reply_symbols(const struct name_reply *reply, size_t size, struct names *names,
		       struct symbol *ret, size_t max);

#endif
