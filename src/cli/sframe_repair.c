/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_repair.c - bobbin sframe repair: put the SFrame section of a file right.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attached_output.h"
#include "cli/file_cfi.h"
#include "cli/output_file.h"
#include "cli/section_pool.h"
#include "convert/correction.h"

/**
 * struct repair - a repair on its way
 * @a: what is wanted
 * @options: what to make
 * @pool: the file's sections
 * @fd: the file, if it is replaced or copied, or -1
 * @elf: an ELF file shall be written, as @attachment plans
 * @section: the new one
 */
struct repair {
	const struct arguments *a;
	struct merge_options options;
	struct section_pool pool;
	int fd;
	bool elf;
	struct sframe_attachment attachment;
	struct made_section section;
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

static bool correct(struct repair *repair, const struct file_cfi *input)
{
	const struct correction correction = {
		.cfi = input->views,
		.cfi_count = input->count,
		.options = repair->options,
		.corrected = list_correction,
		.ctx = repair,
	};
	struct made_section *section = &repair->section, corrected = *section;
	struct bobbin_sframe_view view;
	int r = bobbin_sframe_view(section->data, section->size, section->addr, NULL, &view);

	if (!r)
		r = correct_section(&correction, &view, &corrected.data, &corrected.size);
	if (!accept_file(repair->a->operands[0], r, NULL))
		return false;
	free(section->data);
	*section = corrected;
	return true;
}

static bool correct_by_file(struct repair *repair)
{
	struct file_cfi input;
	bool good;

	if (!file_cfi_open(repair->a->operands[0], &input))
		return false;
	if (!input.count)
		complain("%s: no call-frame information", repair->a->operands[0]);
	good = input.count && correct(repair, &input);
	file_cfi_close(&input);
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
	good = section_pool_merge(&repair->pool, options, &repair->section);
	if (good && repair->a->against_cfi)
		good = correct_by_file(repair);
	return good;
}

static bool write_result(struct repair *repair)
{
	const struct arguments *a = repair->a;
	const struct made_section *section = &repair->section;

	if (repair->elf)
		return attached_output_put(a, &repair->attachment, section);
	return output_put_bytes(a->in_place ? a->operands[0] : a->output, repair->fd, section->data,
				section->size);
}

/* An ELF file gets a new section where sframe_attachment.h puts it. */
static bool plan(struct repair *repair)
{
	const struct arguments *a = repair->a;
	bool elf = repair->pool.files[0].arch && !a->section_only;

	if (!elf && !a->in_place)
		return true;
	if (elf && (!strcmp(a->operands[0], "-") || (a->output && !strcmp(a->output, "-")))) {
		complain("%s: an ELF file needs names to read and to write, or --section-only",
			 a->operands[0]);
		return false;
	}
	repair->fd = open_input(a->operands[0]);
	if (repair->fd < 0)
		return false;
	repair->elf = elf && attached_output_plan(a, repair->fd, &repair->attachment);
	return repair->elf || !elf;
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

int run_sframe_repair(struct arguments *a)
{
	struct repair repair = {
		.a = a,
		.options = {.version = (unsigned int)a->version, .share = a->share},
		.pool.quiet = a->quiet,
		.fd = -1,
	};
	bool good;

	if (output_fault(a))
		return refuse_call("%s", output_fault(a));
	if (!spares_terminal(a))
		return EXIT_USAGE;
	good = repair_file(&repair);
	if (repair.elf)
		sframe_attachment_fini(&repair.attachment);
	if (repair.fd >= 0)
		close(repair.fd);
	free(repair.section.data);
	section_pool_fini(&repair.pool);
	return !good;
}
