/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_merge.c - bobbin sframe merge and repair: one sorted section of several, or of damaged
 * ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "cli/output_file.h"
#include "cli/sframe_command.h"
#include "convert/merger.h"
#include "convert/section_repair.h"
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

static bool add_view(struct section_pool *pool, const struct bobbin_sframe_view *view,
		     struct view_origin origin, const struct bobbin_arch *arch)
{
	if (arch && view->arch != arch) {
		complain("%s: a section for %s in a file for %s", origin.path, view->arch->name,
			 arch->name);
		return false;
	}
	if (pool->count && view->arch != pool->views[0].arch) {
		complain("%s: a section for %s, but that of %s is for %s", origin.path,
			 view->arch->name, pool->origins[0].path, pool->views[0].arch->name);
		return false;
	}
	if (vector_reserve(&pool->views, &pool->capacity, pool->count + 1, sizeof(*view)) ||
	    vector_reserve(&pool->origins, &pool->origin_capacity, pool->count + 1,
			   sizeof(origin))) {
		complain_file(origin.path, -ENOMEM, NULL);
		return false;
	}
	pool->views[pool->count] = *view;
	pool->origins[pool->count++] = origin;
	return true;
}

/* What was put right in a section, for lines about it. */
struct repair_notes {
	struct section_pool *pool;
	struct view_origin origin;
};

static void note(void *ctx, uint64_t offset, enum bobbin_reason reason)
{
	const struct repair_notes *notes = ctx;

	notes->pool->changes++;
	if (!notes->pool->quiet)
		complain("%s: offset 0x%" PRIx64 ": put right: %s", notes->origin.path,
			 notes->origin.offset + offset, bobbin_reason_str(reason));
}

static bool repair_section(struct section_pool *pool, const struct sframe_section *section,
			   const char *path, const struct bobbin_arch *arch)
{
	struct repair_notes notes = {pool, {path, section->offset}};
	struct section_walk walk = section_walk(section->data, section->size, section->addr);
	struct bobbin_sframe_view view;

	walk.note = note;
	walk.ctx = &notes;
	while (section_walk_next(&walk, &view)) {
		struct view_origin origin = {path, section->offset +
							   (uint64_t)(view.data - section->data)};

		if (!add_view(pool, &view, origin, arch))
			return false;
	}
	return true;
}

static bool read_section(struct section_pool *pool, const struct sframe_section *section,
			 const char *path, const struct bobbin_arch *arch)
{
	struct bobbin_sframe_view view;
	struct bobbin_error error = {0};
	uint64_t pos = 0;
	int r;

	while ((r = bobbin_sframe_next(section->data, section->size, section->addr, &pos, &error,
				       &view)) > 0) {
		struct view_origin origin = {path, section->offset + pos - view.size};

		if (!add_view(pool, &view, origin, arch))
			return false;
	}
	error.offset += section->offset;
	return accept_file(path, r, &error);
}

static bool has_place(const struct sframe_file *file, const char *path)
{
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].relocated) {
			complain("%s: a relocatable file, whose code has no addresses yet: "
				 "link it first",
				 path);
			return false;
		}
	}
	return true;
}

static bool add_file(struct section_pool *pool, const char *path, const uint64_t *addr, bool repair,
		     struct sframe_file *file)
{
	size_t before = pool->count;

	if (!has_place(file, path))
		return false;
	if (addr && file->section_count != 1) {
		complain("%s: an address for %zu sections", path, file->section_count);
		return false;
	}
	if (addr)
		file->sections[0].addr = *addr;
	for (size_t i = 0; i < file->section_count; i++) {
		const struct sframe_section *section = &file->sections[i];

		if (repair ? !repair_section(pool, section, path, file->arch)
			   : !read_section(pool, section, path, file->arch))
			return false;
	}
	if (pool->count == before)
		complain("%s: no SFrame section", path);
	return pool->count > before;
}

/*
 * Add the sections of a file; @path must live as long as the pool.  @addr: where
 * its only section is, or NULL: where the file says.  @repair: put headers right
 * instead of refusing them.  Complains and returns false on failure.
 */
static bool section_pool_add(struct section_pool *pool, const char *path, const uint64_t *addr,
			     bool repair)
{
	if (vector_reserve(&pool->files, &pool->file_capacity, pool->file_count + 1,
			   sizeof(*pool->files))) {
		complain_file(path, -ENOMEM, NULL);
		return false;
	}
	if (!read_sframe_file(path, &pool->files[pool->file_count]))
		return false;
	return add_file(pool, path, addr, repair, &pool->files[pool->file_count++]);
}

static void print_report(void *ctx, const struct merge_report *report)
{
	struct section_pool *pool = ctx;
	const struct view_origin *origin = &pool->origins[report->view];

	pool->changes++;
	if (!pool->quiet)
		complain_function(origin->path, "", origin->offset + report->offset, report);
}

static void complain_merge(const char *path, int error)
{
	if (error == -E2BIG)
		complain("%s: the functions share more rows than is sane", path);
	else if (error == -ERANGE)
		complain("%s: the section would be too large", path);
	else
		complain_file(path, error, NULL);
}

/*
 * Make one section of them, with a line on stderr for each function that is not
 * taken over as it is.  Of @options, the report is set here.  Complains and returns false on
 * failure.
 */
static bool section_pool_merge(struct section_pool *pool, struct merge_options *options,
			       struct made_section *ret)
{
	struct merge_stats stats;
	int r;

	options->report = print_report;
	options->ctx = pool;
	ret->addr = options->addr;
	r = pool->count > UINT32_MAX ? -ERANGE
				     : merge_sections(pool->views, (uint32_t)pool->count, options,
						      &stats, &ret->data, &ret->size);
	if (r)
		complain_merge(pool->origins[0].path, r);
	else if (pool->changes && !pool->quiet)
		complain("%" PRIu64 " functions; of %" PRIu64 ", %" PRIu64 " dropped, %" PRIu64
			 " clipped",
			 stats.pieces, stats.functions, stats.dropped, stats.clipped);
	return !r;
}

static void section_pool_fini(struct section_pool *pool)
{
	for (size_t i = 0; i < pool->file_count; i++)
		sframe_file_fini(&pool->files[i]);
	free(pool->files);
	free(pool->views);
	free(pool->origins);
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
