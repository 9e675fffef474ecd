/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * described_code.h - machine code of which its run time says how large frames are, and its rules.
 *
 * The description has the frame of a function's body.  Where it is not built yet, or not any more, the
 * instructions say it.
 */
#ifndef BOBBIN_TABLE_DESCRIBED_CODE_H
#define BOBBIN_TABLE_DESCRIBED_CODE_H

#include <bobbin/types.h>
#include <stddef.h>

/* Larger pieces are not looked at. */
#define DESCRIBED_CODE_MAX (1u << 20)

/* What code is like that no instruction before it leads to. */
enum described_kind {
	DESCRIBED_METHOD,      /* a compiled method: the body's frame is there */
	DESCRIBED_ROUTINE,     /* one function; the description says nothing of such code */
	DESCRIBED_ROUTINES,    /* several functions: another one begins */
	DESCRIBED_THUNKS,      /* several that have no frames, and data between them */
	DESCRIBED_INTERPRETER, /* a template of HotSpot's interpreter: its frame is there */
	DESCRIBED_ENTRY,       /* a method's entry into the interpreter, which builds that frame */
};

/**
 * struct described_code - a piece of code, and what its run time says of it
 * @bytes, @addr, @size: it
 * @frame: bytes of the body's frame with the return address; 0: it has none
 * @entry, @second: offsets at which it is called
 * @complete: offset from which on the body's frame is there; 0: not told
 * @stubs, @handlers: offsets: from @stubs on are stubs, which are called; from @handlers on,
 *	the body's frame is there again
 * @kind: enum described_kind
 */
struct described_code {
	const uint8_t *bytes;
	uint64_t addr;
	uint32_t size;
	uint32_t frame;
	uint32_t entry, second;
	uint32_t complete;
	uint32_t stubs, handlers;
	uint8_t kind;
};

/* From an offset on a packed rule holds; 0: there is none.  @likely: nothing proves it. */
struct described_row {
	uint64_t word;
	uint32_t start;
	bool likely;
};

/* Ascending. */
struct described_rows {
	struct described_row *rows; /* from malloc() */
	size_t count, room;
};

#endif
