/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output_file.h"
#include "convert/comparison.h"
#include "export/safe_text.h"

/**
 * struct result - the section and what went into it
 * @input: call-frame information of the file
 * @section, @stats: what was made
 * @size: of what was written for it
 */
struct result {
	struct file_cfi input;
	struct made_section section;
	struct convert_stats stats;
	uint64_t size;
};

static const char *fault(const struct arguments *a)
{
	if (a->in_place && (a->section_only || a->side_file))
		return "--in-place changes an ELF file: it excludes --section-only and --side-file";
	if (a->side_file && (a->section_only || a->share || a->version != 3))
		return "--side-file chooses its own form";
	if (a->has_address && !a->section_only)
		return "--address is for --section-only";
	if (a->output && !strcmp(a->output, "-") && !a->section_only)
		return "only a bare section can be written to standard output";
	return output_fault(a);
}

static void tell_gap(void *ctx, const struct convert_gap *gap)
{
	const struct file_cfi *input = ctx;

	safe_text_place(stderr, input->path);
	file_cfi_print_range(input, stderr, gap->start, gap->end);
	fprintf(stderr, ": %s FDE at 0x%" PRIx64 ": %s\n",
		gap->debug_frame ? ".debug_frame" : ".eh_frame", gap->fde,
		bobbin_reason_str(gap->reason));
}

static void tell_summary(const struct arguments *a, const struct result *r)
{
	const struct convert_stats *s = &r->stats;

	safe_text_place(stderr, a->operands[0]);
	fprintf(stderr,
		"%" PRIu64 " functions, %" PRIu64 " rows, %" PRIu64
		" bytes (%.0f %% of the call-frame information); %.3f %% of the code with "
		"call-frame information is covered",
		s->functions, s->rows, r->size, percent(r->size, r->input.bytes),
		percent(s->text - s->lost_text, s->text));
	if (s->lost_rows)
		fprintf(stderr, "; %" PRIu64 " rows are left out%s", s->lost_rows,
			a->verbose ? "" : ", -v tells why");
	if (s->dead)
		fprintf(stderr, "; entries about no code of the file: %" PRIu64, s->dead);
	fputc('\n', stderr);
}

static bool has_cfi(const struct arguments *a, const struct result *result)
{
	if (!result->input.count)
		complain("%s: there is no .eh_frame and no .debug_frame", a->operands[0]);
	return result->input.count;
}

/* Convert what the file says, for a section at an address. */
static bool convert(const struct arguments *a, uint64_t addr, struct result *ret)
{
	const struct convert_options options = {
		.version = (unsigned int)a->version,
		.share = a->share,
		.addr = addr,
		.gap = a->verbose ? tell_gap : NULL,
		.ctx = &ret->input,
	};
	struct made_section *section = &ret->section;
	int r;

	if (!has_cfi(a, ret))
		return false;
	section->addr = addr;
	r = file_cfi_convert(&ret->input, &options, &ret->stats, &section->data, &section->size);
	ret->size = section->size;
	/* as an unwinder reads it; what is missing was told as a gap */
	if (!r)
		r = comparison_prove(ret->input.views, ret->input.count, section->data,
				     section->size, addr);
	if (r)
		complain("%s: cannot convert: %s", a->operands[0],
			 r == -EBADMSG ? "what was made contradicts the call-frame information"
				       : strerror(-r));
	return !r;
}

static bool convert_linked(const struct arguments *a, struct result *result)
{
	struct sframe_attachment attachment;
	bool good;

	if (!attached_output_plan(a, result->input.fd, &attachment))
		return false;
	good = convert(a, attachment.addr, result) &&
	       attached_output_put(a, &attachment, &result->section);
	sframe_attachment_fini(&attachment);
	return good;
}

static bool convert_relocatable(const struct arguments *a, struct result *result)
{
	const struct file_cfi *input = &result->input;

	/* relocations have no place outside of the file whose symbols they name */
	if (a->section_only || a->side_file) {
		complain("%s: a relocatable file's section means nothing without its relocations: "
			 "link the file first, or write a copy of it",
			 a->operands[0]);
		return false;
	}
	return convert(a, 0, result) &&
	       attached_output_put_object(a, input->fd, &input->object, &result->section);
}

static void tell_sidefile(const struct arguments *a, const struct result *r,
			  const struct sidefile_output *sidefile)
{
	safe_text_place(stderr, a->operands[0]);
	fprintf(stderr, "%zu rows, %" PRIu64 " bytes (%.0f %% of the call-frame information)\n",
		sidefile->table.rows.count, sidefile->size,
		percent(sidefile->size, r->input.bytes));
}

static bool convert_to_sidefile(const struct arguments *a, const struct result *result)
{
	const struct file_cfi *input = &result->input;
	const struct table_sources sources = {
		.arch = input->arch, .cfi = input->views, .cfi_count = input->count};
	struct sidefile_output sidefile = {0};
	bool good = has_cfi(a, result) &&
		    sidefile_output_init(a->operands[0], &input->image, &sources, &sidefile) &&
		    sidefile_output_put(&sidefile, a->output);

	if (good && !a->quiet)
		tell_sidefile(a, result, &sidefile);
	sidefile_output_fini(&sidefile);
	return good;
}

static bool convert_file(const struct arguments *a, struct result *result)
{
	const struct made_section *section = &result->section;

	if (result->input.object.arch)
		return convert_relocatable(a, result);
	if (a->side_file)
		return convert_to_sidefile(a, result);
	if (a->section_only)
		return convert(a, a->address, result) &&
		       output_put_bytes(a->output, -1, section->data, section->size);
	return convert_linked(a, result);
}

int run_sframe_convert(struct arguments *a)
{
	struct result result = {0};
	bool good;

	if (fault(a))
		return refuse_call("%s", fault(a));
	if (!spares_terminal(a))
		return EXIT_USAGE;
	if (!file_cfi_open(a->operands[0], &result.input))
		return EXIT_FAILURE;
	good = convert_file(a, &result);
	if (good && !a->quiet && !a->side_file)
		tell_summary(a, &result);
	free(result.section.data);
	file_cfi_close(&result.input);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
