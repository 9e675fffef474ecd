/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_merge.c - bobbin sframe merge: one section of many.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "cli/section_pool.h"
#include "cli/sframe_command.h"

/* FILE@ADDRESS, unless there is a file of the whole name. */
static bool add_argument(struct section_pool *pool, char *file)
{
	char *at = strrchr(file, '@');
	uint64_t addr;

	if (!at || !access(file, F_OK) || !read_address(at + 1, &addr))
		return section_pool_add(pool, file, NULL, false);
	*at = '\0';
	return section_pool_add(pool, file, &addr, false);
}

static bool merge(struct section_pool *pool, const struct arguments *a)
{
	struct merge_options options = {
		.version = (unsigned int)a->version,
		.share = a->share,
		.addr = a->address,
	};
	struct made_section section = {0};
	bool good = true;

	for (int i = 0; i < a->operand_count && good; i++)
		good = add_argument(pool, a->operands[i]);
	if (!good)
		return false;
	if (!a->has_address)
		options.addr = pool->views[0].addr;
	good = section_pool_merge(pool, &options, &section) &&
	       output_put_bytes(a->output, -1, section.data, section.size);
	free(section.data);
	return good;
}

int run_sframe_merge(struct arguments *a)
{
	struct section_pool pool = {.quiet = a->quiet};
	bool good;

	if (!spares_terminal(a))
		return EXIT_USAGE;
	good = merge(&pool, a);
	section_pool_fini(&pool);
	return !good;
}
