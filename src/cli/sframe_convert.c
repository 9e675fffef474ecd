/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attached_output.h"
#include "cli/file_cfi.h"
#include "cli/output_file.h"
#include "cli/sframe_command.h"
#include "cli/sidefile_output.h"
#include "convert/comparison.h"
#include "export/safe_text.h"
#include "sidefile/sidefile_writer.h"

static const char usage[] =
	"usage: bobbin sframe convert [OPTIONS] FILE -o OUT\n"
	"       bobbin sframe convert [OPTIONS] --in-place FILE\n"
	"\n"
	"Make an SFrame section of a file's .eh_frame and .debug_frame.  OUT is a copy\n"
	"of the file that has the section: loaded, with a PT_GNU_SFRAME header, or, if the\n"
	"file is relocatable, with relocations for the linker.  It is read back and\n"
	"compared with the call-frame information before it gets its name.\n"
	"\n";

/**
 * struct result - the section and what went into it
 * @input: call-frame information of the file
 * @stats, @data, @size, @addr: the section
 */
struct result {
	struct file_cfi input;
	struct convert_stats stats;
	uint8_t *data;
	uint64_t size, addr;
};

static const char *fault(const struct arguments *a)
{
	if (a->in_place ? a->output || a->section_only || a->side_file : !a->output)
		return "one of --output and --in-place is needed";
	if (a->in_place && !strcmp(a->operands[0], "-"))
		return "standard input has no place";
	if (a->side_file && (a->section_only || a->share || a->version != 3))
		return "--side-file chooses its own form";
	if (a->has_address && !a->section_only)
		return "--address is for --section-only";
	if (a->output && !strcmp(a->output, "-") && !a->section_only)
		return "only a bare section can be written to standard output";
	return NULL;
}

/* Whose gaps are told. */
struct teller {
	const struct arguments *arguments;
	const struct file_cfi *input;
};

static void tell_gap(void *ctx, const struct convert_gap *gap)
{
	const struct teller *teller = ctx;

	safe_text_place(stderr, teller->arguments->operands[0]);
	file_cfi_print_range(teller->input, stderr, gap->start, gap->end);
	fprintf(stderr, ": %s FDE at 0x%" PRIx64 ": %s\n",
		gap->debug_frame ? ".debug_frame" : ".eh_frame", gap->fde,
		bobbin_reason_str(gap->reason));
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
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

/* Read bytes back as whoever unwinds will, and compare. */
static int prove(const struct result *result, const uint8_t *data, uint64_t size)
{
	struct comparison c = {.cfi = result->input.views, .cfi_count = result->input.count};
	struct bobbin_sframe_view view;
	int r = bobbin_sframe_view(data, size, result->addr, NULL, &view);

	if (r)
		return r;
	c.sframe = &view;
	c.sframe_count = 1;
	r = comparison_run(&c);
	if (r)
		return r;
	/* what is missing was told as a gap */
	return c.ranges[COMPARISON_DIFFERENT] || c.ranges[COMPARISON_EXTRA] ||
			       c.ranges[COMPARISON_UNREADABLE]
		       ? -EBADMSG
		       : 0;
}

static struct convert_options options_of(const struct arguments *a)
{
	return (struct convert_options){
		.version = (unsigned int)a->version,
		.share = a->share || a->side_file,
		.keep_functions = a->side_file,
	};
}

/* Read the file and convert what it says, for a section at an address. */
static bool convert(const struct arguments *a, int fd, uint64_t addr, struct result *ret)
{
	struct convert_options options = options_of(a);
	struct teller teller = {a, &ret->input};
	struct bobbin_error error = {0};
	int r = file_cfi_init(fd, &error, &ret->input);

	if (r) {
		complain_file(a->operands[0], r, &error);
		return false;
	}
	if (!ret->input.count) {
		complain("%s: there is no .eh_frame and no .debug_frame", a->operands[0]);
		return false;
	}
	options.addr = ret->addr = addr;
	options.gap = a->verbose ? tell_gap : NULL;
	options.ctx = &teller;
	r = file_cfi_convert(&ret->input, &options, &ret->stats, &ret->data, &ret->size);
	if (!r)
		r = prove(ret, ret->data, ret->size);
	if (r)
		complain("%s: cannot convert: %s", a->operands[0],
			 r == -EBADMSG ? "what was made contradicts the call-frame information"
				       : strerror(-r));
	return !r;
}

static void result_fini(struct result *result)
{
	file_cfi_fini(&result->input);
	free(result->data);
}

static bool write_section(const struct arguments *a, const struct result *result)
{
	int r = output_file_put(a->output, 0666, result->data, result->size);

	if (r)
		complain_file(strcmp(a->output, "-") ? a->output : "standard output", r, NULL);
	return !r;
}

static const char *output_of(const struct arguments *a)
{
	return a->in_place ? a->operands[0] : a->output;
}

static bool write_file(const struct arguments *a, int fd, struct sframe_attachment *attachment,
		       const struct result *result)
{
	const char *path = output_of(a);
	int r = attached_output_put(path, fd, attachment, result->data, result->size, a->in_place);

	if (r)
		complain("%s: %s", path, strerror(-r));
	return !r;
}

static bool write_sidefile(const struct arguments *a, struct result *result)
{
	const struct elf_image *image = &result->input.linked.image;
	struct bobbin_sframe_view view;
	uint8_t *data = NULL;
	uint64_t size;
	int r;

	r = bobbin_sframe_view(result->data, result->size, result->addr, NULL, &view);
	if (!r)
		r = sidefile_make(&view, image->build_id, image->build_id_len, NULL, &data, &size);
	if (!r)
		r = sidefile_output_put(a->output, &view, data, size);
	free(data);
	if (r)
		complain("%s: %s", a->output, strerror(-r));
	else
		result->size = size;
	return !r;
}

/* A section without a file around it. */
static bool convert_section(const struct arguments *a, int fd)
{
	struct result result = {0};
	bool good = convert(a, fd, a->address, &result) &&
		    (a->side_file ? write_sidefile(a, &result) : write_section(a, &result));

	if (good && !a->quiet)
		tell_summary(a, &result);
	result_fini(&result);
	return good;
}

static bool convert_file(const struct arguments *a, int fd)
{
	struct sframe_attachment attachment;
	struct bobbin_error error = {0};
	struct result result = {0};
	int r = sframe_attachment_init(fd, &error, &attachment);
	bool good;

	if (r) {
		complain_file(a->operands[0], r, &error);
		return false;
	}
	good = convert(a, fd, attachment.addr, &result) && write_file(a, fd, &attachment, &result);
	if (good && !a->quiet)
		tell_summary(a, &result);
	sframe_attachment_fini(&attachment);
	result_fini(&result);
	return good;
}

/* Leave the functions' starts to the linker, and write. */
static bool write_object(const struct arguments *a, int fd, struct object_attachment *attachment,
			 struct result *result)
{
	struct start_relocations relocations;
	struct bobbin_error error = {0};
	struct object_output output = {
		.attachment = attachment,
		.code = &result->input.object,
		.relocations = &relocations,
		.section = result->data,
		.size = result->size,
	};
	int r = start_relocations_init(&result->input.object, result->data, result->size, &error,
				       &relocations);

	if (r) {
		complain_file(a->operands[0], r, &error);
		return false;
	}
	r = object_output_put(output_of(a), fd, &output, a->in_place);
	start_relocations_fini(&relocations);
	if (r)
		complain("%s: %s", output_of(a), strerror(-r));
	return !r;
}

static bool convert_relocatable(const struct arguments *a, int fd)
{
	struct object_attachment attachment;
	struct bobbin_error error = {0};
	struct result result = {0};
	bool good = convert(a, fd, 0, &result);
	int r = good ? object_attachment_init(fd, &error, &attachment) : 0;

	if (r)
		complain_file(a->operands[0], r, &error);
	good = good && !r;
	if (good) {
		good = write_object(a, fd, &attachment, &result);
		object_attachment_fini(&attachment);
	}
	if (good && !a->quiet)
		tell_summary(a, &result);
	result_fini(&result);
	return good;
}

/* Relocations have no place outside of the file whose symbols they name. */
static bool refuse_bare(const struct arguments *a)
{
	complain("%s: a relocatable file's section means nothing without its relocations: "
		 "link the file first, or write a copy of it",
		 a->operands[0]);
	return false;
}

static int run(struct arguments *a)
{
	bool bare = a->section_only || a->side_file, good;
	int fd;

	if (fault(a)) {
		complain_use("%s", fault(a));
		return show_usage(&sframe_convert_command);
	}
	if (a->output && !spares_terminal(a->output))
		return EXIT_USAGE;
	fd = open_regular_input(a->operands[0]);
	if (fd < 0)
		return EXIT_FAILURE;
	if (object_code_is_in(fd))
		good = bare ? refuse_bare(a) : convert_relocatable(a, fd);
	else
		good = bare ? convert_section(a, fd) : convert_file(a, fd);
	close(fd);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

const struct command sframe_convert_command = {
	.name = "sframe convert",
	.summary = "make SFrame of call-frame information",
	.usage = usage,
	.options = OF_CONVERT,
	.least = 1,
	.most = 1,
	.wanted = "one file is needed",
	.run = run,
};
