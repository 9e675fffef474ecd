/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A side-file gives the rules that it was made of, for every PC.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../convert/section_function.h"
#include "sidefile/sidefile.h"
#include "sidefile_samples.h"

static void same_answer(const struct bobbin_sframe_view *view, struct sidefile *sidefile,
			uint64_t pc)
{
	struct bobbin_row row = {0}, other = {0};
	int r = bobbin_sframe_lookup(view, pc, NULL, &row);

	assert_int_equal(sidefile_lookup(sidefile, pc, NULL, &other), r);
	if (r)
		return;
	assert_true(bobbin_rule_equal(&row.rule, &other.rule));
	/* rows with equal rules that follow each other are one */
	assert_in_range(row.start, other.start, other.end - 1);
	assert_in_range(row.end, other.start + 1, other.end);
	assert_int_equal(row.function, other.function);
}

/* From two bytes before the first function to two after the last, by @step. */
static void same_everywhere(const struct sample *section, unsigned int step)
{
	struct bobbin_sframe_view view = sample_view(section);
	struct sample file = sample_sidefile(section);
	struct bobbin_sframe_fde first, last;
	struct sidefile *sidefile;

	assert_int_equal(bobbin_sframe_fde(&view, 0, NULL, &first), 0);
	assert_int_equal(bobbin_sframe_fde(&view, view.num_fdes - 1, NULL, &last), 0);
	assert_int_equal(sample_open(file.bytes, file.size, NULL, &sidefile), 0);
	for (uint64_t pc = first.start - 2; pc < last.start + last.size + 2; pc += step)
		same_answer(&view, sidefile, pc);
	for (uint64_t pc = last.start + last.size + 2; pc > first.start; pc -= 257)
		same_answer(&view, sidefile, pc);
	same_answer(&view, sidefile, 0);
	same_answer(&view, sidefile, UINT64_MAX);
	sidefile_close(sidefile);
	sample_free(&file);
}

static void every_pc_of_the_c_library_has_its_rule(void **state)
{
	struct sample section = sample_of_file(LIBC);

	same_everywhere(&section, 1);
	sample_free(&section);
}

static void every_kind_of_function_comes_back_on_every_architecture(void **state)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_aarch64_be(), bobbin_arch_s390x()};

	for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++) {
		struct sample section = sample_section(archs[i], 2000);

		same_everywhere(&section, 1);
		sample_free(&section);
	}
}

static void a_lookup_reads_one_block_and_the_last_ones_are_kept(void **state)
{
	struct sample section = sample_section(bobbin_arch_amd64(), 6000);
	struct sample file = sample_sidefile(&section);
	int fd = memfd_create("sidefile", MFD_CLOEXEC);
	const struct sidefile_block *blocks;
	struct bobbin_error error;
	struct sidefile *sidefile;
	struct bobbin_row row;

	assert_int_equal(write(fd, file.bytes, file.size), file.size);
	assert_int_equal(sidefile_open(dup(fd), NULL, &sidefile), 0);
	blocks = sidefile_head(sidefile)->blocks;
	assert_true(sidefile_head(sidefile)->block_count > SIDEFILE_CACHED + 1);
	for (uint32_t i = 0; i <= SIDEFILE_CACHED; i++)
		assert_int_equal(sidefile_lookup(sidefile, blocks[i].first, NULL, &row), 0);

	/* now nothing can be read any more; of nine blocks the first had to go */
	assert_int_equal(ftruncate(fd, 0), 0);
	for (uint32_t i = 1; i <= SIDEFILE_CACHED; i++)
		assert_int_equal(sidefile_lookup(sidefile, blocks[i].first, NULL, &row), 0);
	assert_int_equal(sidefile_lookup(sidefile, blocks[0].first, &error, &row), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_TRUNCATED);
	assert_int_equal(error.offset, blocks[0].offset);
	sidefile_close(sidefile);
	close(fd);
	sample_free(&file);
	sample_free(&section);
}

static void equal_sections_give_equal_files(void **state)
{
	struct sample section = sample_section(bobbin_arch_amd64(), 500);
	struct sample one = sample_sidefile(&section), two = sample_sidefile(&section);

	assert_int_equal(one.size, two.size);
	assert_memory_equal(one.bytes, two.bytes, one.size);
	assert_true(one.size < section.size / 3);
	sample_free(&one);
	sample_free(&two);
	sample_free(&section);
}

static void a_section_without_functions_says_nothing(void **state)
{
	struct section_maker maker;
	struct sample section, file;
	struct sidefile *sidefile;
	struct bobbin_row row;

	assert_int_equal(section_maker_init(bobbin_arch_amd64(), 0, 3, false, 0, &maker), 0);
	assert_int_equal(section_maker_finish(&maker, &section.bytes, &section.size), 0);
	file = sample_sidefile(&section);
	assert_int_equal(sample_open(file.bytes, file.size, NULL, &sidefile), 0);
	assert_int_equal(sidefile_head(sidefile)->block_count, 0);
	assert_int_equal(sidefile_lookup(sidefile, 0x1000, NULL, &row), -ENOENT);
	sidefile_close(sidefile);
	section_maker_fini(&maker);
	sample_free(&file);
	sample_free(&section);
}

static void functions_may_be_anywhere_in_the_address_space(void **state)
{
	static const uint64_t starts[] = {0, 0x7fffffff, 0x100000000, 0x7ffffffffffffff0};
	struct section_maker maker;
	struct sidefile *sidefile;
	struct sample section, file;
	struct bobbin_row row;

	assert_int_equal(
		section_maker_init(bobbin_arch_amd64(), SAMPLE_ADDRESS, 3, false, 0, &maker), 0);
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		assert_int_equal(section_maker_add(&maker,
						   &(struct bobbin_sframe_function){
							   .start = starts[i], .size = 8}),
				 0);
	assert_int_equal(section_maker_finish(&maker, &section.bytes, &section.size), 0);
	section_maker_fini(&maker);
	file = sample_sidefile(&section);
	assert_int_equal(sample_open(file.bytes, file.size, NULL, &sidefile), 0);
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		assert_int_equal(sidefile_lookup(sidefile, starts[i] + 7, NULL, &row), 0);
		assert_int_equal(row.function, starts[i]);
		assert_int_equal(sidefile_lookup(sidefile, starts[i] + 8, NULL, &row), -ENOENT);
	}
	sidefile_close(sidefile);
	sample_free(&file);
	sample_free(&section);
}

static void side_files_are_found_by_build_id(void **state)
{
	char folder[] = "/tmp/sidefile-XXXXXX", *path, *list;
	int fd;

	assert_non_null(mkdtemp(folder));
	path = sidefile_path(folder, strlen(folder), SAMPLE_BUILD_ID, SAMPLE_BUILD_ID_SIZE);
	assert_non_null(path);
	assert_string_equal(path + strlen(folder), "/ab/cdef01.sframe.zst");
	assert_null(sidefile_path(folder, strlen(folder), SAMPLE_BUILD_ID, 1));
	assert_true(asprintf(&list, "::/nowhere:%s:/", folder) > 0);
	assert_int_equal(sidefile_find(list, SAMPLE_BUILD_ID, SAMPLE_BUILD_ID_SIZE), -ENOENT);

	strrchr(path, '/')[0] = 0;
	assert_int_equal(mkdir(path, 0755), 0);
	path[strlen(path)] = '/';
	assert_int_equal(mkdir(path, 0755), 0); /* no regular file */
	assert_int_equal(sidefile_find(list, SAMPLE_BUILD_ID, SAMPLE_BUILD_ID_SIZE), -ENOENT);
	rmdir(path);
	close(open(path, O_CREAT | O_WRONLY, 0644));
	fd = sidefile_find(list, SAMPLE_BUILD_ID, SAMPLE_BUILD_ID_SIZE);
	assert_true(fd >= 0);
	close(fd);

	unlink(path);
	strrchr(path, '/')[0] = 0;
	rmdir(path);
	rmdir(folder);
	free(path);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pc_of_the_c_library_has_its_rule),
		cmocka_unit_test(every_kind_of_function_comes_back_on_every_architecture),
		cmocka_unit_test(a_lookup_reads_one_block_and_the_last_ones_are_kept),
		cmocka_unit_test(equal_sections_give_equal_files),
		cmocka_unit_test(a_section_without_functions_says_nothing),
		cmocka_unit_test(functions_may_be_anywhere_in_the_address_space),
		cmocka_unit_test(side_files_are_found_by_build_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
