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
	"\n";

static const char *fault(const struct arguments *a)
{
	if (!a->output == !a->in_place)
		return "one of --output and --in-place is needed";
	if (a->in_place && !strcmp(a->operands[0], "-"))
		return "--in-place: standard input is no file";
	return NULL;
}

/**
 * struct repair - a repair on its way
 * @a: what is wanted
 * @options: what to make
 * @pool: the file's sections
 * @elf: an ELF file shall be written: @attachment and @fd are open
 * @data, @size: the new section; owned
 */
struct repair {
	const struct arguments *a;
	struct merge_options options;
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
		complain("%s: 0x%" PRIx64 " to 0x%" PRIx64 ": %s", repair->a->operands[0], start,
			 end - 1,
			 expressible ? "took the rule of the call-frame information"
				     : "contradicts the call-frame information, whose rule this "
				       "version of SFrame cannot express");
}

static bool correct(struct repair *repair, const struct bobbin_cfi_view *cfi, unsigned int count)
{
	const struct correction correction = {
		.cfi = cfi,
		.cfi_count = count,
		.options = repair->options,
		.corrected = list_correction,
		.ctx = repair,
	};
	struct bobbin_sframe_view view;
	uint8_t *data;
	uint64_t size;
	int r = bobbin_sframe_view(repair->data, repair->size, repair->options.addr, NULL, &view);

	if (!r)
		r = correct_section(&correction, &view, &data, &size);
	if (r) {
		complain_file(repair->a->operands[0], r, NULL);
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
	int fd = open_regular_input(repair->a->operands[0]), r;
	bool good;

	if (fd < 0)
		return false;
	r = cfi_tables_init(fd, &error, &tables);
	close(fd);
	if (r) {
		complain_file(repair->a->operands[0], r, &error);
		return false;
	}
	if (!tables.count)
		complain("%s: no call-frame information", repair->a->operands[0]);
	good = tables.count && correct(repair, tables.views, tables.count);
	cfi_tables_fini(&tables);
	return good;
}

static bool make_section(struct repair *repair)
{
	const struct sframe_file *file = &repair->pool.files[0];
	struct merge_options *options = &repair->options;
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
	const char *path = repair->a->in_place ? repair->a->operands[0] : repair->a->output;
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
	if (!strcmp(a->operands[0], "-") || (a->output && !strcmp(a->output, "-"))) {
		complain("%s: an ELF file needs names to read and to write, or --section-only",
			 a->operands[0]);
		return false;
	}
	repair->fd = open_input(a->operands[0]);
	if (repair->fd < 0)
		return false;
	r = sframe_attachment_init(repair->fd, &error, &repair->attachment);
	if (r) {
		close(repair->fd);
		complain_file(a->operands[0], r, &error);
		return false;
	}
	repair->elf = true;
	return true;
}

static bool repair_file(struct repair *repair)
{
	if (!section_pool_add(&repair->pool, repair->a->operands[0], NULL, true))
		return false;
	if (repair->a->in_place && repair->a->section_only && repair->pool.files[0].arch) {
		complain("%s: a section would take the place of an ELF file",
			 repair->a->operands[0]);
		return false;
	}
	return plan(repair) && make_section(repair) && write_result(repair);
}

static int run(struct arguments *a)
{
	struct repair repair = {
		.a = a,
		.options = {.version = (unsigned int)a->version, .share = a->share},
		.pool.quiet = a->quiet,
	};
	bool good;

	if (fault(a)) {
		complain_use("%s", fault(a));
		return show_usage(&sframe_repair_command);
	}
	if (a->output && !spares_terminal(a->output))
		return EXIT_USAGE;
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
	.options = OF_REPAIR,
	.least = 1,
	.most = 1,
	.wanted = "exactly one file is needed",
	.run = run,
};
