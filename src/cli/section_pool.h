/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_pool.h - the sections that become one: what `bobbin sframe merge` and
 * `repair` share.
 */
#ifndef BOBBIN_CLI_SECTION_POOL_H
#define BOBBIN_CLI_SECTION_POOL_H

#include "cli/sframe_command.h"
#include "convert/merger.h"
#include "elf/sframe_file.h"

/* Where a view comes from: @offset in the file of its first byte. */
struct view_origin {
	const char *path;
	uint64_t offset;
};

/**
 * struct section_pool - files and their sections
 * @files, @file_count: owned
 * @views, @origins, @count: the sections
 * @capacity: of @views
 * @changes: lines about what is not taken over as it is
 * @quiet: do not print them
 */
struct section_pool {
	struct sframe_file *files;
	size_t file_count, file_capacity;
	struct bobbin_sframe_view *views;
	struct view_origin *origins;
	size_t count, capacity, origin_capacity;
	uint64_t changes;
	bool quiet;
};

/*
 * Add the sections of a file; @path must live as long as the pool.  @addr: where
 * its only section is, or NULL: where the file says.  @repair: put headers right
 * instead of refusing them.  Complains and returns false on failure.
 */
bool section_pool_add(struct section_pool *pool, const char *path, const uint64_t *addr,
		      bool repair);

/*
 * What merge_sections() says of a function; @offset: in the file, or in what @place names, which
 * is empty or " SECTION:".
 */
void complain_function(const char *path, const char *place, uint64_t offset,
		       const struct merge_report *report);

/* What merge_sections() says of files. */
void complain_merge(const char *path, int error);

/*
 * Make one section of them, with a line on stderr for each function that is not
 * taken over as it is.  Of @options, the report is set here.  Complains and returns false on
 * failure.
 */
bool section_pool_merge(struct section_pool *pool, struct merge_options *options,
			struct made_section *ret);

void section_pool_fini(struct section_pool *pool);

#endif
