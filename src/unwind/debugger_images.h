/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debugger_images.h - what unwinds the code that another process tells debuggers of.
 *
 *	GDB's JIT interface ─► images ─► ranges of code ─► .sframe, .eh_frame
 *
 * Tables are read where the sections were loaded to, else in the images; they are used if
 * they cover any of the image's code.  A compiler may announce an image before it applies
 * relocations, so new images are read again; and all of them are whenever the list changes,
 * because memory is reused.
 */
#ifndef BOBBIN_UNWIND_DEBUGGER_IMAGES_H
#define BOBBIN_UNWIND_DEBUGGER_IMAGES_H

#include "target/gdb_jit.h"
#include "target/jit_image.h"
#include "unwind/remote_table.h"

/* Of tables, and ranges of code, of one process. */
#define DEBUGGER_IMAGES_MAX_BYTES ((uint64_t)16 << 20)
#define DEBUGGER_IMAGES_MAX_TEXTS (1u << 18)
/* Bytes of tables that turn out to cover none of the code, in each update. */
#define DEBUGGER_IMAGES_MAX_TRIES (2 * DEBUGGER_IMAGES_MAX_BYTES)

struct debugger_image {
	struct gdb_jit_entry entry;
	size_t order; /* in the list */
	struct jit_image sections;
	struct remote_table *table;     /* or NULL */
	uint64_t section_at, frames_at; /* where the table's bytes were read */
	uint64_t seen;                  /* when it was new, by CLOCK_MONOTONIC */
	bool settled;                   /* read again only when the list changes */
};

/* Zero, but for @process, to begin. */
struct debugger_images {
	struct remote_process process;
	bool searched;
	uint64_t generation; /* of the space when it was searched */
	size_t descriptor_count;
	uint64_t descriptors[GDB_JIT_DESCRIPTORS];
	struct gdb_jit_state states[GDB_JIT_DESCRIPTORS];
	struct debugger_image *images; /* ascending by address and size */
	size_t count;
	bool unsettled; /* one of them is */
	uint64_t again; /* when to read the list even if it looks unchanged */
};

/* Code of an image that has a table; the images' for as long as they do not change. */
struct debugger_range {
	uint64_t start, end;
	size_t order;
	struct remote_table *table;
};

/*
 * Read what has changed.  Descriptors are looked for when the @generation of the mappings is
 * new and the process has executable memory without a file.  1: something has changed; 0: nothing;
 * -ENOENT: there is no descriptor; -ENOMEM; the errno of reading the descriptors.
 */
int debugger_images_update(struct debugger_images *images, const struct mapping_list *maps,
			   const struct bobbin_arch *arch, uint64_t generation);
void debugger_images_fini(struct debugger_images *images);

/* Memory of what is known of images. */
uint64_t debugger_images_bytes(const struct debugger_images *images);

/*
 * All code, from malloc(), ascending and without overlaps: of images that overlap, the one that
 * is first in the list counts.  0 or -ENOMEM.
 */
int debugger_images_ranges(const struct debugger_images *images, struct debugger_range **ret,
			   size_t *count);

#endif
