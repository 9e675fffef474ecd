/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code.h - code that is registered or loaded, as walkers see it.
 */
#ifndef BOBBIN_CODEMAP_CODE_H
#define BOBBIN_CODEMAP_CODE_H

#include <bobbin/sframe.h>
#include <stdatomic.h>

#include "table/table_parts.h"

enum code_kind {
	CODE_NAMED,    /* no table, an identity only */
	CODE_SECTION,  /* an SFrame section in memory: @sframe */
	CODE_COMPILED, /* a compiled table in memory: @compiled */
	CODE_JIT,      /* struct code_jit_unwind_table at @table */
	CODE_OBJECT,   /* a loaded ELF object: @object, see unwind/loaded_object.h */
};

/* @bias: added to the addresses of the table, it gives those of the process. */
struct compiled_code {
	struct compiled_table table;
	uint64_t bias;
};

/*
 * What was registered.  The members are constant once it is in the map, but for
 * @dropped and what is the map's.
 */
struct code {
	enum code_kind kind;
	uint64_t text_start, text_end; /* JIT: of all of it; offsets are from the start */
	uint64_t table, table_size;    /* in memory */
	union {
		struct bobbin_sframe_view sframe; /* CODE_SECTION; @data NULL: it was empty */
		struct compiled_code compiled;    /* CODE_COMPILED */
	};
	const void *object;                 /* CODE_OBJECT */
	void (*release)(struct code *code); /* called once no reader can see it */
	_Atomic uint64_t dropped;           /* as struct bobbin_code_entry.dropped */
	/* the map's */
	uint32_t ranges;
	struct code *next;
};

struct code_range {
	uint64_t start, end;
	struct code *code;
};

#endif
