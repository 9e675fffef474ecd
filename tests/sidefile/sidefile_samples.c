/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile_samples.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../convert/section_function.h"
#include "convert/converter.h"
#include "elf/elf_image.h"
#include "sidefile/sidefile.h"
#include "table/table_sources.h"

static struct bobbin_place place(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

static struct bobbin_rule rule(const struct bobbin_arch *arch, uint8_t reg, int32_t off)
{
	struct bobbin_rule r = {.index = BOBBIN_NO_INDEX};

	r.cfa = place(BOBBIN_HOW_AT_REG, reg, off);
	r.ra = arch->default_ra_off ? place(BOBBIN_HOW_IN_CFA_MEM, 0, arch->default_ra_off)
				    : place(BOBBIN_HOW_IN_CFA_MEM, 0, -40);
	r.fp = place(BOBBIN_HOW_IN_CFA_MEM, 0, -48);
	return r;
}

static void add(struct section_maker *maker, uint64_t *at, struct bobbin_sframe_function f)
{
	f.start = *at;
	assert_int_equal(section_maker_add(maker, &f), 0);
	*at += f.size + 3;
}

/* A frame that grows, lives and shrinks; no two of the same sizes. */
static void add_common(struct section_maker *maker, const struct bobbin_arch *arch,
		       unsigned int seed, uint64_t *at)
{
	struct bobbin_sframe_row rows[9];
	uint32_t start = 0, count = 1 + seed % 9;

	for (uint32_t i = 0; i < count; i++) {
		int32_t depth = (int32_t)(i < count / 2 ? i : count - 1 - i);

		rows[i] = (struct bobbin_sframe_row){start, rule(arch, arch->sp, 160 + 8 * depth)};
		start += 1 + (seed * 7 + i * i) % 300;
	}
	add(maker, at,
	    (struct bobbin_sframe_function){.size = start, .rows = rows, .count = count});
}

static void add_repeating(struct section_maker *maker, const struct bobbin_arch *arch, uint64_t *at)
{
	struct bobbin_sframe_row rows[] = {{0, rule(arch, arch->sp, 160)},
					   {11, rule(arch, arch->sp, 168)}};

	add(maker, at,
	    (struct bobbin_sframe_function){.size = 160, .rep_size = 16, .rows = rows, .count = 2});
}

static void add_flexible(struct section_maker *maker, const struct bobbin_arch *arch, uint64_t *at)
{
	struct bobbin_sframe_row rows[] = {{0, rule(arch, 10, 8)}, {200, rule(arch, 11, 16)}};

	rows[1].rule.cfa.how = BOBBIN_HOW_IN_REG_MEM;
	add(maker, at, (struct bobbin_sframe_function){.size = 400, .rows = rows, .count = 2});
}

static void add_signal(struct section_maker *maker, const struct bobbin_arch *arch, uint64_t *at)
{
	struct bobbin_sframe_row row = {0, rule(arch, arch->sp, 160)};

	row.rule.flags = BOBBIN_RULE_SIGNAL;
	row.rule.ra = place(BOBBIN_HOW_IN_REG_MEM, arch->sp, 168);
	add(maker, at,
	    (struct bobbin_sframe_function){.size = 9, .signal = true, .rows = &row, .count = 1});
	add(maker, at, (struct bobbin_sframe_function){.size = 9, .signal = true});
}

static void add_outermost(struct section_maker *maker, const struct bobbin_arch *arch, uint64_t *at)
{
	struct bobbin_sframe_row rows[] = {{4, rule(arch, arch->sp, 160)}, {300, {.index = 0xff}}};

	add(maker, at, (struct bobbin_sframe_function){.size = 40});
	rows[1].rule.cfa = place(BOBBIN_HOW_AT_REG, arch->sp, 0);
	rows[1].rule.ra = place(BOBBIN_HOW_UNDEFINED, 0, 0);
	rows[1].rule.fp = place(BOBBIN_HOW_SAME, 0, 0);
	add(maker, at, (struct bobbin_sframe_function){.size = 333, .rows = rows, .count = 2});
}

static void add_signed(struct section_maker *maker, const struct bobbin_arch *arch, uint64_t *at)
{
	struct bobbin_sframe_row rows[] = {{0, rule(arch, arch->sp, 0)},
					   {4, rule(arch, arch->fp, 96)}};

	if (!arch->pac_mask)
		return;
	rows[1].rule.flags = BOBBIN_RULE_MANGLED;
	add(maker, at, (struct bobbin_sframe_function){.size = 64, .rows = rows, .count = 2});
	rows[1].rule.flags |= BOBBIN_RULE_KEY_B;
	add(maker, at, (struct bobbin_sframe_function){.size = 64, .rows = rows, .count = 2});
}

struct sample sample_section(const struct bobbin_arch *arch, unsigned int count)
{
	struct section_maker maker;
	struct sample section;
	uint64_t at = SAMPLE_START;

	assert_int_equal(section_maker_init(arch, SAMPLE_ADDRESS, 3, true, count, &maker), 0);
	add_repeating(&maker, arch, &at);
	add_flexible(&maker, arch, &at);
	add_signal(&maker, arch, &at);
	add_outermost(&maker, arch, &at);
	add_signed(&maker, arch, &at);
	for (unsigned int i = 0; i < count; i++)
		add_common(&maker, arch, i, &at);
	assert_int_equal(section_maker_finish(&maker, &section.bytes, &section.size), 0);
	section_maker_fini(&maker);
	return section;
}

struct sample sample_of_file(const char *path)
{
	struct convert_options options = {
		.version = 3, .keep_functions = true, .addr = SAMPLE_ADDRESS};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct convert_stats stats;
	struct elf_image image;
	struct sample section;
	struct bobbin_cfi_view view;

	assert_true(fd >= 0);
	assert_int_equal(elf_image_init(fd, NULL, &image), 0);
	close(fd);
	view = (struct bobbin_cfi_view){
		.arch = image.arch,
		.frame = image.eh_frame.data,
		.frame_size = image.eh_frame.size,
		.frame_addr = image.eh_frame.addr,
	};
	assert_non_null(view.frame);
	assert_int_equal(convert_cfi(&view, 1, &options, &stats, &section.bytes, &section.size), 0);
	elf_image_fini(&image);
	return section;
}

struct bobbin_sframe_view sample_view(const struct sample *section)
{
	struct bobbin_sframe_view view;

	assert_int_equal(
		bobbin_sframe_view(section->bytes, section->size, SAMPLE_ADDRESS, NULL, &view), 0);
	return view;
}

struct sample sample_sidefile(const struct sample *section)
{
	struct bobbin_sframe_view view = sample_view(section);
	const struct table_sources sources = {
		.arch = view.arch, .sframe = &view, .sframe_count = 1};
	struct table_builder rows;
	struct sample file;

	assert_int_equal(
		table_builder_init(view.arch, SAMPLE_BUILD_ID, SAMPLE_BUILD_ID_SIZE, &rows), 0);
	assert_int_equal(table_sources_rows(&sources, &rows), 0);
	assert_int_equal(sidefile_make(&rows, &file.bytes, &file.size), 0);
	table_builder_fini(&rows);
	return file;
}

int sample_open(const void *bytes, size_t size, struct bobbin_error *err, struct sidefile **ret)
{
	int fd = memfd_create("sidefile", MFD_CLOEXEC), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	r = sidefile_open(fd, err, ret);
	if (r)
		close(fd);
	return r;
}

void sample_free(struct sample *sample)
{
	free(sample->bytes);
	*sample = (struct sample){0};
}
