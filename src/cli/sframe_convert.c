/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output_file.h"
#include "convert/comparison.h"
#include "export/safe_text.h"
#include "infer/machine.h"
#include "infer/verified_rows.h"
#include "table/infer_ops.h"

/**
 * struct result - the section and what went into it
 * @input: call-frame information of the file
 * @inferred: from code that has none, if that was asked for
 * @section, @stats: what was made
 * @size: of what was written for it
 */
struct result {
	struct file_cfi input;
	struct verified_rows inferred;
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
	if (a->side_file && a->infer_rows)
		return "--side-file has the rules of tables only: it excludes --infer";
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
	if (gap->added) {
		fprintf(stderr, ": code: %s\n", bobbin_reason_str(gap->reason));
		return;
	}
	fprintf(stderr, ": %s FDE at 0x%" PRIx64 ": %s\n",
		gap->debug_frame ? ".debug_frame" : ".eh_frame", gap->fde,
		bobbin_reason_str(gap->reason));
}

/* What the section has of the call-frame information. */
static void tell_cfi(const struct arguments *a, const struct result *r)
{
	const struct convert_stats *s = &r->stats;

	if (!a->infer_rows)
		fprintf(stderr, " (%.0f %% of the call-frame information)",
			percent(r->size, r->input.bytes));
	fprintf(stderr, "; %.3f %% of the code with call-frame information is covered",
		percent(s->text - s->lost_text, s->text));
}

/* And what it has of other code. */
static void tell_inferred(const struct result *r)
{
	fprintf(stderr, "; inferred from code: %" PRIu64 " functions", r->inferred.functions);
	if (r->inferred.guesses)
		fprintf(stderr, ", %" PRIu64 " rows are left out because they are not verified",
			r->inferred.guesses);
	if (r->stats.lost_added)
		fprintf(stderr, ", %" PRIu64 " because SFrame cannot express them",
			r->stats.lost_added);
}

static void tell_summary(const struct arguments *a, const struct result *r)
{
	const struct convert_stats *s = &r->stats;

	safe_text_place(stderr, a->operands[0]);
	fprintf(stderr, "%" PRIu64 " functions, %" PRIu64 " rows, %" PRIu64 " bytes", s->functions,
		s->rows, r->size);
	if (s->fdes || !a->infer_rows)
		tell_cfi(a, r);
	if (s->lost_rows)
		fprintf(stderr, "; %" PRIu64 " rows are left out%s", s->lost_rows,
			a->verbose ? "" : ", -v tells why");
	if (s->dead)
		fprintf(stderr, "; entries about no code of the file: %" PRIu64, s->dead);
	if (a->infer_rows)
		tell_inferred(r);
	fputc('\n', stderr);
}

static bool has_cfi(const struct arguments *a, const struct result *result)
{
	if (!result->input.count)
		complain("%s: there is no .eh_frame and no .debug_frame", a->operands[0]);
	return result->input.count;
}

static const char *infer_refusal(int error)
{
	if (error == -ENOTSUP)
		return machine_any_is_read()
			       ? "--infer: this build cannot read the code of this machine"
			       : "--infer: this build cannot read machine code";
	if (error == -EFBIG)
		return "--infer: there is too much code without call-frame information";
	return strerror(-error);
}

/* Infer what the call-frame information does not cover.  false after a complaint. */
static bool infer(const struct arguments *a, struct result *result)
{
	const struct file_cfi *input = &result->input;
	int r = machine_read_here(input->arch)
			? verified_rows_infer(input->fd, input->views, input->count,
					      &result->inferred)
			: -ENOTSUP;

	if (r)
		complain("%s: %s", a->operands[0], infer_refusal(r));
	else if (!input->count && !result->inferred.count)
		complain("%s: there is no call-frame information, and no code whose rules can be "
			 "verified",
			 a->operands[0]);
	return !r && (input->count || result->inferred.count);
}

/* Convert what the file says, for a section at an address. */
static bool convert(const struct arguments *a, uint64_t addr, struct result *ret)
{
	struct convert_options options = {
		.version = (unsigned int)a->version,
		.share = a->share,
		.addr = addr,
		.arch = ret->input.arch,
		.gap = a->verbose ? tell_gap : NULL,
		.ctx = &ret->input,
	};
	struct made_section *section = &ret->section;
	int r;

	if (!(a->infer_rows ? infer(a, ret) : has_cfi(a, ret)))
		return false;
	options.added = (struct added_rows){ret->inferred.row, ret->inferred.count};
	section->addr = addr;
	r = file_cfi_convert(&ret->input, &options, &ret->stats, &section->data, &section->size);
	ret->size = section->size;
	/* as an unwinder reads it; what is missing was told as a gap */
	if (!r)
		r = comparison_prove(ret->input.views, ret->input.count, &options.added,
				     section->data, section->size, addr);
	if (r)
		complain("%s: cannot convert: %s", a->operands[0],
			 r == -EBADMSG ? "what was made contradicts the rules that it was made of"
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

	if (a->infer_rows) {
		complain(
			"%s: a relocatable file: link it first, --infer needs the addresses of code",
			a->operands[0]);
		return false;
	}
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
		    sidefile_output_init(a->operands[0], &input->image, &sources, false,
					 &sidefile) &&
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
	verified_rows_fini(&result.inferred);
	file_cfi_close(&result.input);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
