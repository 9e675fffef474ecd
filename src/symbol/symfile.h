/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfile.h - one mapped file: its objects, its functions, its DWARF.
 *
 * A file costs its names until the first address of it is asked for; then it is
 * opened, and it can be shut again at any time to give the memory back.
 */
#ifndef BOBBIN_SYMBOL_SYMFILE_H
#define BOBBIN_SYMBOL_SYMFILE_H

#include "symbol/debuginfo.h"
#include "symbol/symbolizer.h"
#include "symbol/symtab.h"

/* What all files share. */
struct symfile_context {
	struct debug_paths paths;
	struct name_pool names;
	struct debug_wish wish;
	uint64_t limit;
};

enum symfile_state {
	SYMFILE_SHUT,
	SYMFILE_OPEN,
	SYMFILE_MISSING, /* nothing could be opened */
};

struct symfile {
	char *path, *open_path;
	uint8_t *image; /* an image in memory, else NULL */
	size_t image_size;
	uint8_t build_id[OBJECT_BUILD_ID_MAX];
	size_t build_id_len;
	dev_t device; /* with @inode, if known: not both zero */
	ino_t inode;
	enum symfile_state state;
	bool mismatched;
	uint64_t used; /* when last, for eviction */
	size_t memory; /* when last measured */
	struct object *main, *debug, *mini;
	struct symtab symtab;
	struct debuginfo *debuginfo;
	bool debuginfo_tried;
	struct symfile_name *names;
	struct symfile_result *results;
};

/* Strings and bytes are copied.  Returns 0, -ENOMEM. */
int symfile_new(const struct symbol_file *file, struct symfile **ret);
void symfile_free(struct symfile *f);

/* Other paths for the same file: it is tried again if it was missing. */
int symfile_set_paths(struct symfile *f, const struct symbol_file *file);

/* As symbolizer_resolve(). */
int symfile_resolve(struct symfile *f, struct symfile_context *c, uint64_t offset,
		    struct symbol *ret, size_t max);

/* Bytes held, besides names; also kept in @memory. */
size_t symfile_measure(struct symfile *f);

/* Give back what single units take; or everything. */
void symfile_trim(struct symfile *f);
void symfile_shut(struct symfile *f);

#endif
