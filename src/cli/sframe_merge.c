/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_merge.c - bobbin sframe merge: one section of many.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "cli/section_pool.h"
#include "cli/sframe_command.h"

static const char usage[] =
	"usage: bobbin sframe merge [OPTIONS] FILE[@ADDRESS]...\n"
	"\n"
	"Make one sorted SFrame section of those of several files: linked ELF files, core\n"
	"files, or sections' bare bytes, which lie at address 0 unless ADDRESS is given.\n"
	"Where functions overlap, that of the earlier file wins; what is dropped or\n"
	"clipped is listed on stderr.\n"
	"\n"
	"  -o, --output FILE      file for the section's bytes (-)\n"
	"      --version N        SFrame version of the section, 2 or 3 (3)\n"
	"      --address ADDRESS  address that the section will have; that of the first\n"
	"                         section otherwise\n"
	"      --share            let functions with equal rows share them; some readers do\n"
	"                         not expect it\n"
	"  -q, --quiet            do not list what is dropped\n"
	"  -h, --help             show this help\n";

struct arguments {
	const char *output;
	struct merge_options options;
	bool have_address, quiet;
	char **files;
	int file_count;
};

static int parse(int argc, char **argv, struct arguments *a)
{
	enum {
		VERSION = 256,
		ADDRESS,
		SHARE
	};
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"version", required_argument, NULL, VERSION},
		{"address", required_argument, NULL, ADDRESS},
		{"share", no_argument, NULL, SHARE},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	uint64_t version;
	int c;

	while ((c = getopt_long(argc, argv, "o:qh", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			a->output = optarg;
			break;
		case VERSION:
			if (!parse_number("--version", optarg, 2, 3, &version))
				return EXIT_USAGE;
			a->options.version = (unsigned int)version;
			break;
		case ADDRESS:
			if (!parse_address("--address", optarg, &a->options.addr))
				return EXIT_USAGE;
			a->have_address = true;
			break;
		case SHARE:
			a->options.share = true;
			break;
		case 'q':
			a->quiet = true;
			break;
		case 'h':
			exit(show_help(&sframe_merge_command));
		default:
			return show_usage(&sframe_merge_command);
		}
	}
	a->files = argv + optind;
	a->file_count = argc - optind;
	if (a->file_count)
		return 0;
	complain_use("no file to merge");
	return show_usage(&sframe_merge_command);
}

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

static bool write_section(const char *path, const uint8_t *data, uint64_t size)
{
	int r = output_file_put(path, 0666, data, size);

	if (r)
		complain_file(strcmp(path, "-") ? path : "standard output", r, NULL);
	return !r;
}

static bool merge(struct section_pool *pool, struct arguments *a)
{
	uint8_t *data = NULL;
	uint64_t size;
	bool good = true;

	for (int i = 0; i < a->file_count && good; i++)
		good = add_argument(pool, a->files[i]);
	if (!good)
		return false;
	if (!a->have_address)
		a->options.addr = pool->views[0].addr;
	good = section_pool_merge(pool, &a->options, &data, &size) &&
	       write_section(a->output, data, size);
	free(data);
	return good;
}

static int run(int argc, char **argv)
{
	struct arguments a = {.output = "-", .options.version = 3};
	struct section_pool pool = {0};
	int r = parse(argc, argv, &a);
	bool good;

	if (r)
		return r;
	if (!spares_terminal(a.output))
		return EXIT_USAGE;
	pool.quiet = a.quiet;
	good = merge(&pool, &a);
	section_pool_fini(&pool);
	return !good;
}

const struct command sframe_merge_command = {
	.name = "sframe merge",
	.summary = "make one sorted section of several",
	.usage = usage,
	.run = run,
};
