/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debuginfo.h"

#include "base/elf_walk.h"
#include "base/vector.h"
#include "core/bytes.h"
#include "symbol/interval.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_UNITS (1u << 18)
#define MAX_FRAMES 256
#define MAX_DEPTH 256
/* Namespaces and nested functions do not go deep. */
#define MAX_FUNCTION_DEPTH 16
#define MAX_ATTRIBUTES 256
#define FIND_BUDGET (1u << 16)
/* Larger files are mapped, if nobody else can cut them short. */
#define MAX_READ ((off_t)64 << 20)

/* What libdw takes for a file and a unit; for a byte of a line program, usually and at most. */
#define FILE_COST 32768
#define UNIT_COST 4096
#define LINE_COST 16
#define MAX_LINE_COST 64

/* Abbreviations may be shared by units, else not even each byte is a step. */
#define BUDGET_BASE (1u << 20)
#define BUDGET_RATIO 2

/* Zero before the first call. */
struct scope_range {
	Dwarf_Addr base, start, end;
	ptrdiff_t next; /* private */
};

/* The next range of a DIE that is not empty; false if there are no more. */
static bool scope_next_range(Dwarf_Die *die, struct scope_range *range, uint64_t *budget)
{
	while (*budget) {
		--*budget;
		range->next = dwarf_ranges(die, range->next, &range->base, &range->start,
					   &range->end);
		if (range->next <= 0)
			return false;
		/* Linkers leave 0 or 1 where they dropped a function. */
		if (range->start > 1 && range->end > range->start)
			return true;
	}
	return false;
}

/* libdw looks at all attributes of a DIE to pass it: there must not be very many. */
static bool scope_unit_is_sane(Dwarf_Die *unit, uint64_t *budget)
{
	size_t offset = 0, length, count;
	Dwarf_Abbrev *abbrev;

	while ((abbrev = dwarf_getabbrev(unit, offset, &length)) != DWARF_END_ABBREV) {
		if (!abbrev || dwarf_getattrcnt(abbrev, &count) || count > MAX_ATTRIBUTES ||
		    !*budget)
			return false;
		--*budget;
		offset += length;
	}
	return true;
}

/* The next DIE of a walk; false at its end. */
static bool pass(Dwarf_Die *open, unsigned int *depth)
{
	while (*depth && dwarf_siblingof(&open[*depth - 1], &open[*depth - 1]))
		--*depth;
	return *depth;
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/* A block without ranges may hold calls that have some. */
static bool is_around(Dwarf_Die *die, int tag, uint64_t address, uint64_t *budget,
		      struct interval_gap *same)
{
	struct scope_range range = {0};
	bool has_ranges = false;

	if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
	    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
		return false;
	while (scope_next_range(die, &range, budget)) {
		struct interval_gap gap = {range.start, range.end};
		bool holds = address >= range.start && address < range.end;

		has_ranges = true;
		if (!holds)
			gap = address < range.start ? (struct interval_gap){0, range.start}
						    : (struct interval_gap){range.end, UINT64_MAX};
		*same = interval_gap_cut(*same, gap);
		if (holds)
			return true;
	}
	return !has_ranges && tag != DW_TAG_inlined_subroutine;
}

/*
 * Write @function and the inlined calls around @address in it, outermost first,
 * at most @max, which is above 0.  @same is cut to the addresses of which the same is true.
 * Returns their number.
 */
static size_t scope_find(Dwarf_Die *function, uint64_t address, Dwarf_Die *ret, size_t max,
			 struct interval_gap *same)
{
	uint64_t budget = FIND_BUDGET;
	Dwarf_Die open[MAX_DEPTH];
	unsigned int depth = 1;
	size_t count = 1;

	ret[0] = *function;
	if (dwarf_child(function, &open[0]))
		return count;
	while (budget && count < max) {
		Dwarf_Die *die = &open[depth - 1], child;
		int tag = dwarf_tag(die);
		bool enter = is_around(die, tag, address, &budget, same);

		budget -= budget > 0;
		if (enter && tag == DW_TAG_inlined_subroutine) {
			ret[count++] = *die;
			depth = 0; /* all the rest is in there */
		}
		if (enter && depth < MAX_DEPTH && !dwarf_child(die, &child))
			open[depth++] = child;
		else if (!depth || !pass(open, &depth))
			break;
	}
	if (!budget)
		same->end = same->start;
	return count;
}

/* The linkage name or else the name of a function or call, or NULL. */
static const char *scope_name(Dwarf_Die *die)
{
	static const unsigned int kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, kinds[i], &attribute));

		if (name)
			return name;
	}
	return NULL;
}

struct unit {
	Dwarf_Off die;
	struct interval_map functions; /* value: offset of the DIE */
	bool is_walked, has_lines, lines_tried;
};

struct debuginfo {
	struct elf_file file, supplement_file;
	Dwarf *dwarf, *supplement;
	struct names *names;
	struct debug_wish wish;
	struct unit *units;
	size_t unit_count, unit_capacity;
	struct interval_map map; /* value: index of the unit */
	uint64_t budget;         /* DIEs, ranges and attributes still to be looked at */
	size_t memory, limit;
};

/* Of a section once it is unpacked. */
static uint64_t unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name,
			      size_t limit)
{
	struct bytes b;
	Elf_Data *data;
	GElf_Chdr packed;

	if (header->sh_type == SHT_NOBITS || header->sh_size > limit)
		return header->sh_type == SHT_NOBITS ? 0 : header->sh_size;
	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
	data = name[1] == 'z' ? elf_rawdata(section, NULL) : NULL;
	if (!data || data->d_size < 12)
		return header->sh_size;
	b = bytes_of((uint8_t *)data->d_buf + 4, 8, true);
	return bytes_u64(&b);
}

struct sizes {
	uint64_t all, held; /* bytes of debug sections, and those that take memory */
};

/* False if more than @limit bytes would be held. */
static bool measure(Elf *elf, bool mapped, size_t limit, struct sizes *ret)
{
	Elf_Scn *section = NULL;
	struct sizes sum = {0};
	GElf_Shdr header;

	while ((section = elf_next_section(elf, section, &header))) {
		const char *name = elf_section_name(elf, &header);
		uint64_t size;

		if (strncmp(name, ".debug", 6) && strncmp(name, ".zdebug", 7))
			continue;
		size = unpacked_size(section, &header, name, mapped ? SIZE_MAX : limit);
		if (mapped && size == header.sh_size)
			sum.all += size;
		else if (size > limit - sum.held)
			return false;
		else
			sum.held += size;
	}
	sum.all += sum.held;
	*ret = sum;
	return sum.all;
}

/* A file that only root and this user can change may be mapped. */
static bool may_map(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_size > MAX_READ &&
	       (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int begin(struct debuginfo *d, struct elf_file *file, Dwarf **ret)
{
	bool mapped = may_map(file->fd);
	int err = elf_file_reopen(file, mapped ? ELF_C_READ_MMAP_PRIVATE : ELF_C_READ);
	struct sizes sizes;

	if (err)
		return err;
	if (!measure(file->elf, mapped, d->limit - d->memory, &sizes))
		return -ENOENT;
	d->memory += sizes.held;
	d->budget += BUDGET_BASE + BUDGET_RATIO * sizes.all;
	*ret = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!*ret)
		return -ENOENT;
	dwarf_new_oom_handler(*ret, d->wish.no_memory);
	return 0;
}

/* If the file has no supplement, libdw must not look for one by itself. */
static int open_supplement(struct debuginfo *d, const struct search_paths *paths)
{
	const char *name;
	const void *bytes;
	struct build_id id = {0};
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(d->dwarf, &name, &bytes);
	int err;

	if (!elf_file_section(d->file.elf, ".gnu_debugaltlink"))
		return 0;
	if (len <= 0 || len > BUILD_ID_MAX)
		return -ENOENT;
	memcpy(id.bytes, bytes, (size_t)len);
	id.len = (size_t)len;
	err = elf_file_find_supplement(paths, &d->file, name, &id, &d->supplement_file);
	if (err)
		return err;
	if (begin(d, &d->supplement_file, &d->supplement) ||
	    elf_file_section(d->supplement_file.elf, ".gnu_debugaltlink"))
		return -ENOENT;
	dwarf_setalt(d->dwarf, d->supplement);
	return 0;
}

static int add_ranges(struct debuginfo *d, Dwarf_Die *die, uint64_t value, struct interval_map *map)
{
	struct scope_range range = {0};
	int err = 0;

	while (!err && scope_next_range(die, &range, &d->budget))
		err = interval_map_add(map, range.start, range.end - range.start, value);
	return err;
}

static int add_unit(struct debuginfo *d, Dwarf_Die *die)
{
	uint64_t number = d->unit_count;
	int err = vector_push(d->units, d->unit_count, d->unit_capacity,
			      (struct unit){.die = dwarf_dieoffset(die)});

	return err ? err : add_ranges(d, die, number, &d->map);
}

static int index_units(struct debuginfo *d)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;
	int err = 0;

	/* Without the last result, libdw does not look for a .dwo file. */
	while (!err && d->unit_count < MAX_UNITS &&
	       !dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, NULL))
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    scope_unit_is_sane(&die, &d->budget))
			err = add_unit(d, &die);
	interval_map_sort(&d->map);
	interval_map_shrink(&d->map);
	return err;
}

static int open_all(struct debuginfo *d, const struct search_paths *paths)
{
	int err = begin(d, &d->file, &d->dwarf);

	err = err ? err : open_supplement(d, paths);
	return err ? err : index_units(d);
}

/* libdw has everything in memory by now. */
static void close_descriptor(struct elf_file *file)
{
	if (file->fd < 0)
		return;
	elf_cntl(file->elf, ELF_C_FDDONE);
	close(file->fd);
	file->fd = -1;
}

int debuginfo_open(struct elf_file *file, const struct search_paths *paths, struct names *names,
		   const struct debug_wish *wish, size_t limit, struct debuginfo **ret)
{
	struct debuginfo *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	*d = (struct debuginfo){.file = *file,
				.supplement_file = ELF_FILE_CLOSED,
				.names = names,
				.wish = *wish,
				.limit = limit};
	*file = (struct elf_file)ELF_FILE_CLOSED;
	err = open_all(d, paths);
	if (err) {
		debuginfo_close(d);
		return err;
	}
	close_descriptor(&d->file);
	close_descriptor(&d->supplement_file);
	*ret = d;
	return 0;
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->unit_count; i++)
		interval_map_fini(&d->units[i].functions);
	free(d->units);
	interval_map_fini(&d->map);
	dwarf_end(d->dwarf);
	dwarf_end(d->supplement);
	elf_file_close(&d->file);
	elf_file_close(&d->supplement_file);
	free(d);
}

/* Index the functions of a unit. */
static int walk_unit(struct debuginfo *d, struct unit *unit, Dwarf_Die *cu)
{
	Dwarf_Die open[MAX_FUNCTION_DEPTH];
	unsigned int depth = dwarf_child(cu, &open[0]) ? 0 : 1;
	int err = 0;

	while (depth && !err && d->budget) {
		Dwarf_Die *die = &open[depth - 1];
		int tag = dwarf_tag(die);

		d->budget--;
		if (tag == DW_TAG_subprogram)
			err = add_ranges(d, die, dwarf_dieoffset(die), &unit->functions);
		if (holds_functions(tag) && depth < MAX_FUNCTION_DEPTH &&
		    !dwarf_child(die, &open[depth]))
			depth++;
		else
			pass(open, &depth);
	}
	unit->is_walked = true;
	interval_map_sort(&unit->functions);
	interval_map_shrink(&unit->functions);
	d->memory += UNIT_COST + interval_map_memory(&unit->functions);
	return err;
}

/* The size of the line program of a unit, or 0. */
static uint64_t line_program_size(struct debuginfo *d, Dwarf_Die *cu)
{
	Elf_Scn *section = elf_file_section(d->file.elf, ".debug_line");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	struct bytes b;
	GElf_Ehdr header;
	uint64_t size;

	if (!data)
		data = elf_getdata(elf_file_section(d->file.elf, ".zdebug_line"), NULL);
	if (!data || !data->d_buf || !gelf_getehdr(d->file.elf, &header) ||
	    !dwarf_attr(cu, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset))
		return 0;
	b = bytes_of(data->d_buf, data->d_size, header.e_ident[EI_DATA] == ELFDATA2MSB);
	bytes_seek(&b, offset);
	size = bytes_u32(&b);
	if (size == UINT32_MAX)
		size = bytes_u64(&b);
	return b.bad || size > bytes_left(&b) ? 0 : size;
}

/* Whether libdw may decode the lines of a unit: it then keeps all of them. */
static bool has_lines(struct debuginfo *d, struct unit *unit, Dwarf_Die *cu)
{
	uint64_t size;

	if (!unit->lines_tried) {
		unit->lines_tried = true;
		size = line_program_size(d, cu);
		unit->has_lines = size && size < d->limit / MAX_LINE_COST;
		d->memory += unit->has_lines ? size * LINE_COST : 0;
	}
	return unit->has_lines;
}

/* Relative names are below the directory of the compilation. */
static int set_file(struct debuginfo *d, Dwarf_Die *cu, const char *file, int line,
		    struct debug_frame *ret)
{
	Dwarf_Attribute attribute;
	const char *directory = NULL;
	char path[PATH_MAX];

	if (!file)
		return 0;
	if (file[0] != '/')
		directory = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attribute));
	snprintf(path, sizeof(path), "%s%s%s", directory ? directory : "", directory ? "/" : "",
		 file);
	ret->line = line > 0 ? (uint32_t)line : 0;
	return names_keep(d->names, path, &ret->file);
}

static int set_line(struct debuginfo *d, Dwarf_Die *cu, uint64_t address, struct debug_frame *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(cu, address);
	int number = 0;

	if (!line || dwarf_lineno(line, &number))
		return 0;
	return set_file(d, cu, dwarf_linesrc(line, NULL, NULL), number, ret);
}

/* Where the inlined function @die was called. */
static int set_call(struct debuginfo *d, Dwarf_Die *cu, Dwarf_Die *die, struct debug_frame *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) ||
	    dwarf_getsrcfiles(cu, &files, &count) || file >= count)
		return 0;
	return set_file(d, cu, dwarf_filesrc(files, file, NULL, NULL), (int)line, ret);
}

static int set_lines(struct debuginfo *d, struct unit *unit, Dwarf_Die *cu, uint64_t address,
		     Dwarf_Die *scopes, struct debug_frame *frames, int count)
{
	int err;

	if (!d->wish.lines || !has_lines(d, unit, cu))
		return 0;
	err = set_line(d, cu, address, &frames[0]);
	for (int i = 1; i < count && !err; i++)
		err = set_call(d, cu, &scopes[count - i], &frames[i]);
	return err;
}

/* @scopes are outermost first, @ret innermost first. */
static int name_scopes(struct debuginfo *d, Dwarf_Die *scopes, int count, struct debug_frame *ret)
{
	int err = 0;

	for (int i = 0; i < count && !err; i++) {
		const char *name = scope_name(&scopes[i]);
		struct debug_frame *frame = &ret[count - 1 - i];

		frame->inlined = i > 0;
		err = name ? names_symbol(d->names, name, &frame->name) : 0;
	}
	return err;
}

static int expand(struct debuginfo *d, struct unit *unit, Dwarf_Die *cu, uint64_t address,
		  Dwarf_Die *scopes, struct debug_frame *ret, struct interval_gap *same)
{
	int err = unit->is_walked ? 0 : walk_unit(d, unit, cu), count;
	const struct interval *function;
	Dwarf_Die die;

	if (err)
		return err;
	function = interval_map_find(&unit->functions, address);
	*same = interval_gap_cut(*same, interval_map_gap(&unit->functions, address));
	if (!function || !dwarf_offdie(d->dwarf, function->value, &die))
		return 0;
	count = (int)scope_find(&die, address, scopes, MAX_FRAMES, same);
	memset(ret, 0, (size_t)count * sizeof(*ret));
	ret[count - 1].start = function->start;
	ret[count - 1].size = function->size;
	err = name_scopes(d, scopes, count, ret);
	return err ? err : count;
}

int debuginfo_frames(struct debuginfo *d, uint64_t address, struct debug_frame *ret, size_t max,
		     struct interval_gap *same)
{
	const struct interval *item = interval_map_find(&d->map, address);
	struct debug_frame frames[MAX_FRAMES] = {0};
	Dwarf_Die scopes[MAX_FRAMES], cu;
	struct unit *unit;
	int count = 0, err;

	*same = interval_gap_cut(*same, interval_map_gap(&d->map, address));
	if (!item || !dwarf_offdie(d->dwarf, d->units[item->value].die, &cu))
		return 0;
	unit = &d->units[item->value];
	if (d->wish.inlines)
		count = expand(d, unit, &cu, address, scopes, frames, same);
	/* each instruction may have its own */
	if (d->wish.lines)
		same->end = same->start;
	if (count < 0)
		return count;
	count = count ? count : 1;
	err = set_lines(d, unit, &cu, address, scopes, frames, count);
	if (err)
		return err;
	count = (size_t)count < max ? count : (int)max;
	memcpy(ret, frames, (size_t)count * sizeof(*ret));
	return count;
}

size_t debuginfo_memory(const struct debuginfo *d)
{
	return FILE_COST + sizeof(*d) + d->memory + interval_map_memory(&d->map) +
	       d->unit_capacity * sizeof(*d->units);
}
