/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_repair.c - bobbin sframe repair: put the SFrame section of a file right.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attached_output.h"
#include "cli/cfi_tables.h"
#include "cli/output_file.h"
#include "cli/section_pool.h"
#include "cli/sframe_command.h"
#include "convert/correction.h"

static const char usage[] =
	"usage: bobbin sframe repair [OPTIONS] FILE -o OUT\n"
	"       bobbin sframe repair [OPTIONS] FILE --in-place\n"
	"\n"
	"Make one sorted SFrame section of those of a linked ELF file, or of a section's\n"
	"bare bytes, however damaged.  Entries are dropped that are malformed, duplicate,\n"
	"without code or outside of the file's code; overlaps are clipped; headers are\n"
	"made anew.  Each change is listed on stderr.\n"
	"\n"
	"  -o, --output OUT       copy of the file with the new section\n"
	"      --in-place         change the file itself: the new one takes its place\n"
	"      --section-only     write the section's bytes instead of an ELF file\n"
	"      --version N        SFrame version of the section, 2 or 3; 2 for sections of\n"
	"                         version 2 and 3 for others otherwise\n"
	"      --share            let functions with equal rows share them; some readers do\n"
	"                         not expect it\n"
	"      --against-cfi      where the file's call-frame information contradicts,\n"
	"                         believe that\n"
	"  -q, --quiet            do not list what is changed\n"
	"  -h, --help             show this help\n";

struct arguments {
	const char *file, *output;
	struct merge_options options;
	bool in_place, section_only, against_cfi, quiet;
};

static bool wants_sense(const struct arguments *a)
{
	if (!a->output == !a->in_place)
		complain_use("one of --output and --in-place is needed");
	else if (a->in_place && !strcmp(a->file, "-"))
		complain("--in-place: standard input is no file");
	else
		return true;
	return false;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	enum {
		IN_PLACE = 256,
		SECTION_ONLY,
		VERSION,
		SHARE,
		AGAINST_CFI
	};
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"in-place", no_argument, NULL, IN_PLACE},
		{"section-only", no_argument, NULL, SECTION_ONLY},
		{"version", required_argument, NULL, VERSION},
		{"share", no_argument, NULL, SHARE},
		{"against-cfi", no_argument, NULL, AGAINST_CFI},
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
		case IN_PLACE:
			a->in_place = true;
			break;
		case SECTION_ONLY:
			a->section_only = true;
			break;
		case VERSION:
			if (!parse_number("--version", optarg, 2, 3, &version))
				return EXIT_USAGE;
			a->options.version = (unsigned int)version;
			break;
		case SHARE:
			a->options.share = true;
			break;
		case AGAINST_CFI:
			a->against_cfi = true;
			break;
		case 'q':
			a->quiet = true;
			break;
		case 'h':
			exit(show_help(&sframe_repair_command));
		default:
			return show_usage(&sframe_repair_command);
		}
	}
	if (argc - optind != 1) {
		complain_use("exactly one file is needed");
		return show_usage(&sframe_repair_command);
	}
	a->file = argv[optind];
	return wants_sense(a) ? 0 : show_usage(&sframe_repair_command);
}

/**
 * struct repair - a repair on its way
 * @a: what is wanted
 * @pool: the file's sections
 * @elf: an ELF file shall be written: @attachment and @fd are open
 * @data, @size: the new section; owned
 */
struct repair {
	struct arguments *a;
	struct section_pool pool;
	bool elf;
	struct sframe_attachment attachment;
	int fd;
	uint8_t *data;
	uint64_t size;
};

static void list_correction(void *ctx, uint64_t start, uint64_t end, bool expressible)
{
	const struct repair *repair = ctx;

	if (!repair->a->quiet)
		complain("%s: 0x%" PRIx64 " to 0x%" PRIx64 ": %s", repair->a->file, start, end - 1,
			 expressible ? "took the rule of the call-frame information"
				     : "contradicts the call-frame information, whose rule this "
				       "version of SFrame cannot express");
}

static bool correct(struct repair *repair, const struct bobbin_cfi_view *cfi, unsigned int count)
{
	const struct correction correction = {
		.cfi = cfi,
		.cfi_count = count,
		.options = repair->a->options,
		.corrected = list_correction,
		.ctx = repair,
	};
	struct bobbin_sframe_view view;
	uint8_t *data;
	uint64_t size;
	int r = bobbin_sframe_view(repair->data, repair->size, repair->a->options.addr, NULL,
				   &view);

	if (!r)
		r = correct_section(&correction, &view, &data, &size);
	if (r) {
		complain_file(repair->a->file, r, NULL);
		return false;
	}
	free(repair->data);
	repair->data = data;
	repair->size = size;
	return true;
}

static bool correct_by_file(struct repair *repair)
{
	struct bobbin_error error = {0};
	struct cfi_tables tables;
	int fd = open_regular_input(repair->a->file), r;
	bool good;

	if (fd < 0)
		return false;
	r = cfi_tables_init(fd, &error, &tables);
	close(fd);
	if (r) {
		complain_file(repair->a->file, r, &error);
		return false;
	}
	if (!tables.count)
		complain("%s: no call-frame information", repair->a->file);
	good = tables.count && correct(repair, tables.views, tables.count);
	cfi_tables_fini(&tables);
	return good;
}

static bool make_section(struct repair *repair)
{
	const struct sframe_file *file = &repair->pool.files[0];
	struct merge_options *options = &repair->a->options;
	bool good;

	if (!options->version)
		options->version = repair->pool.views[0].version == 2 ? 2 : 3;
	options->addr = repair->elf ? repair->attachment.addr : repair->pool.views[0].addr;
	options->texts = file->code.count ? file->code.ranges : NULL;
	options->text_count = file->code.count;
	good = section_pool_merge(&repair->pool, options, &repair->data, &repair->size);
	if (good && repair->a->against_cfi)
		good = correct_by_file(repair);
	return good;
}

static bool write_result(struct repair *repair)
{
	const char *path = repair->a->in_place ? repair->a->file : repair->a->output;
	int r;

	if (repair->elf)
		r = attached_output_put(path, repair->fd, &repair->attachment, repair->data,
					repair->size, repair->a->in_place);
	else
		r = output_file_put(path, 0666, repair->data, repair->size);

	if (r)
		complain_file(strcmp(path, "-") ? path : "standard output", r, NULL);
	return !r;
}

/* An ELF file gets a new section where sframe_attachment.h puts it. */
static bool plan(struct repair *repair)
{
	struct bobbin_error error = {0};
	const struct arguments *a = repair->a;
	int r;

	if (!repair->pool.files[0].arch || a->section_only)
		return true;
	if (!strcmp(a->file, "-") || (a->output && !strcmp(a->output, "-"))) {
		complain("%s: an ELF file needs names to read and to write, or --section-only",
			 a->file);
		return false;
	}
	repair->fd = open_input(a->file);
	if (repair->fd < 0)
		return false;
	r = sframe_attachment_init(repair->fd, &error, &repair->attachment);
	if (r) {
		close(repair->fd);
		complain_file(a->file, r, &error);
		return false;
	}
	repair->elf = true;
	return true;
}

static bool repair_file(struct repair *repair)
{
	if (!section_pool_add(&repair->pool, repair->a->file, NULL, true))
		return false;
	if (repair->a->in_place && repair->a->section_only && repair->pool.files[0].arch) {
		complain("%s: a section would take the place of an ELF file", repair->a->file);
		return false;
	}
	return plan(repair) && make_section(repair) && write_result(repair);
}

static int run(int argc, char **argv)
{
	struct arguments a = {0};
	struct repair repair = {.a = &a};
	int r = parse(argc, argv, &a);
	bool good;

	if (r)
		return r;
	if (a.output && !spares_terminal(a.output))
		return EXIT_USAGE;
	repair.pool.quiet = a.quiet;
	good = repair_file(&repair);
	if (repair.elf) {
		sframe_attachment_fini(&repair.attachment);
		close(repair.fd);
	}
	free(repair.data);
	section_pool_fini(&repair.pool);
	return !good;
}

const struct command sframe_repair_command = {
	.name = "sframe repair",
	.summary = "put the SFrame section of a file right",
	.usage = usage,
	.run = run,
};
