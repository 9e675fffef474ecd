/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debugfile.h - where the bytes of a mapped file and its debug file are.
 *
 * Candidates are tried in turn and each must prove itself: by the build ID if
 * one is known, else (debug links) by the checksum of its bytes.
 */
#ifndef BOBBIN_SYMBOL_DEBUGFILE_H
#define BOBBIN_SYMBOL_DEBUGFILE_H

#include "symbol/object.h"

/* Borrowed strings; any may be NULL. */
struct debug_paths {
	const char *debug_path; /* colon list */
	const char *cache_path;
	const char *symfs;
	struct debuginfod *debuginfod;
};

struct debug_query {
	const char *path, *open_path;
	const uint8_t *build_id;
	size_t build_id_len;
};

/*
 * The mapped file itself.  Returns 0, -ESTALE if the one found has another
 * build ID, other negative errno if there is none.
 */
int debugfile_open_main(const struct debug_paths *paths, const struct debug_query *query,
			struct object **ret);

/*
 * The separate debug file of @main, or, if @main is NULL, of @query's build ID.
 * Returns 0, -ENOENT, -ENOMEM.
 */
int debugfile_open_debug(const struct debug_paths *paths, const struct debug_query *query,
			 const struct object *main, struct object **ret);

/*
 * The supplementary file that dwz(1) made and .gnu_debugaltlink of @debug names.
 * Returns 0, -ENOENT, -ENOMEM.
 */
int debugfile_open_alternate(const struct debug_paths *paths, const struct object *debug,
			     struct object **ret);

/*
 * A client of debuginfod servers, through libdebuginfod if it is installed.
 * Returns 0, -ENOENT, -ENOMEM.
 */
int debuginfod_open(struct debuginfod **ret);
void debuginfod_close(struct debuginfod *d);

/* A descriptor of the debug file with this build ID.  Blocks.  Or negative errno. */
int debuginfod_fetch(struct debuginfod *d, const uint8_t *build_id, size_t len);

#endif
