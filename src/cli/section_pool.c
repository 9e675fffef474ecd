/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/section_pool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "convert/section_repair.h"

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

bool section_pool_add(struct section_pool *pool, const char *path, const uint64_t *addr,
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

void complain_function(const char *path, const char *place, uint64_t offset,
		       const struct merge_report *report)
{
	char what[64];

	if (report->fate == MERGE_DROPPED)
		snprintf(what, sizeof(what), "dropped");
	else
		snprintf(what, sizeof(what), "clipped to %" PRIu32 " bytes", report->left);
	complain("%s:%s offset 0x%" PRIx64 ": function 0x%" PRIx64 " of %" PRIu32 " bytes %s: %s",
		 path, place, offset, report->start, report->size, what,
		 bobbin_reason_str(report->reason));
}

static void print_report(void *ctx, const struct merge_report *report)
{
	struct section_pool *pool = ctx;
	const struct view_origin *origin = &pool->origins[report->view];

	pool->changes++;
	if (!pool->quiet)
		complain_function(origin->path, "", origin->offset + report->offset, report);
}

void complain_merge(const char *path, int error)
{
	if (error == -E2BIG)
		complain("%s: the functions share more rows than is sane", path);
	else if (error == -ERANGE)
		complain("%s: the section would be too large", path);
	else
		complain_file(path, error, NULL);
}

bool section_pool_merge(struct section_pool *pool, struct merge_options *options,
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

void section_pool_fini(struct section_pool *pool)
{
	for (size_t i = 0; i < pool->file_count; i++)
		sframe_file_fini(&pool->files[i]);
	free(pool->files);
	free(pool->views);
	free(pool->origins);
}
