/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "target/backing_file.h"

#define DAY (86400 * NS_PER_SECOND)

static char path[] = "/tmp/backing_file.XXXXXX";

/* The file as it is recorded now, or was before it was changed, or will be after that. */
static struct mapped_file recorded(int64_t later)
{
	struct mapped_file file = {
		.kind = FILE_REGULAR, .path = path, .recorded = true, .here = true};
	int fd = open(path, O_RDONLY), generation;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	file.ino = st.st_ino;
	file.major = major(st.st_dev);
	file.minor = minor(st.st_dev);
	if (!ioctl(fd, FS_IOC_GETVERSION, &generation))
		file.generation = (uint32_t)generation;
	file.since = clock_of(&st.st_ctim) + (uint64_t)later;
	close(fd);
	return file;
}

static int opened(const struct mapped_file *file)
{
	int fd = backing_file_open(NULL, file, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void a_file_that_has_not_changed_is_opened(void **state)
{
	struct mapped_file file = recorded(1);

	assert_int_equal(opened(&file), 0);
}

static void a_file_that_has_changed_since_is_another(void **state)
{
	struct mapped_file file = recorded(0);

	assert_int_equal(opened(&file), -ESTALE);
}

static void a_file_whose_date_was_set_back_has_changed(void **state)
{
	const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct mapped_file file = recorded(1);

	file.since = clock_ns(CLOCK_REALTIME);
	do {
		assert_int_equal(utimensat(AT_FDCWD, path, past, 0), 0);
	} while (recorded(0).since < file.since);
	assert_int_equal(opened(&file), -ESTALE);
}

static void without_a_time_nothing_is_known(void **state)
{
	struct mapped_file file = recorded(1);

	file.since = 0;
	assert_int_equal(opened(&file), -ESTALE);
	/* but of processes that live */
	file.recorded = false;
	assert_int_equal(opened(&file), 0);
}

static void another_inode_is_another_file(void **state)
{
	struct mapped_file file = recorded((int64_t)DAY);

	file.ino++;
	assert_int_equal(opened(&file), -ESTALE);
	file.ino = 0;
	assert_int_equal(opened(&file), -ESTALE);
}

static void the_same_number_again_is_another_file(void **state)
{
	struct mapped_file file = recorded((int64_t)DAY);

	if (!file.generation)
		skip();
	file.generation ^= 1;
	assert_int_equal(opened(&file), -ESTALE);
	file.recorded = false;
	assert_int_equal(opened(&file), -ESTALE);
}

static void the_same_number_of_another_device_is_another_file(void **state)
{
	struct mapped_file file = recorded((int64_t)DAY);

	file.major ^= 1;
	/* some file systems tell two numbers */
	if (!opened(&file))
		skip();
	assert_int_equal(opened(&file), -ESTALE);
}

static void generations_tell_mapped_files_apart(void **state)
{
	struct bobbin_mapping mapping = {.start = 4096, .end = 8192, .path = path, .ino = 7};
	struct mapped_file *listed, *first, *second;
	struct file_table table = {0};

	/* /proc/PID/maps does not tell it */
	assert_int_equal(file_table_find(&table, &mapping, NULL, &listed), 0);
	mapping.generation = 1;
	assert_int_equal(file_table_find(&table, &mapping, NULL, &first), 0);
	mapping.generation = 2;
	assert_int_equal(file_table_find(&table, &mapping, NULL, &second), 0);
	assert_ptr_equal(listed, first);
	assert_ptr_not_equal(first, second);
	file_table_fini(&table);
}

/* What is at the path begins with a page that is told, and goes on as it likes. */
static void without_a_build_id_the_first_page_tells(void **state)
{
	uint8_t page[8192];
	struct mapped_file file = {.kind = FILE_REGULAR, .path = path, .image = page};
	int fd = open(path, O_WRONLY | O_TRUNC);

	memset(page, 0x5a, sizeof(page));
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	file.image_size = sizeof(page);
	page[sizeof(page) - 1] = 0;
	assert_int_equal(opened(&file), 0);
	page[100] = 0;
	assert_int_equal(opened(&file), -ESTALE);
	/* of which there is nothing to compare */
	file.image_size = 0;
	assert_int_equal(opened(&file), -ESTALE);
}

static void other_images_are_other_files(void **state)
{
	struct bobbin_mapping mapping = {.start = 4096, .end = 8192, .path = path};
	const struct file_image one = {"one", 3}, two = {"two", 3};
	struct mapped_file *first, *again, *second, *none;
	struct file_table table = {0};

	assert_int_equal(file_table_find(&table, &mapping, &one, &first), 0);
	assert_int_equal(file_table_find(&table, &mapping, &two, &second), 0);
	assert_int_equal(file_table_find(&table, &mapping, NULL, &none), 0);
	assert_int_equal(file_table_find(&table, &mapping, &one, &again), 0);
	assert_ptr_equal(first, again);
	assert_ptr_not_equal(first, second);
	assert_ptr_not_equal(none, first);
	assert_memory_equal(first->image, "one", 3);
	/* a build ID says more */
	mapping.build_id_len = 20;
	assert_int_equal(file_table_find(&table, &mapping, NULL, &first), 0);
	assert_int_equal(file_table_find(&table, &mapping, &two, &again), 0);
	assert_ptr_equal(first, again);
	assert_int_equal(first->image_size, 3);
	file_table_fini(&table);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_has_not_changed_is_opened),
		cmocka_unit_test(a_file_that_has_changed_since_is_another),
		cmocka_unit_test(a_file_whose_date_was_set_back_has_changed),
		cmocka_unit_test(without_a_time_nothing_is_known),
		cmocka_unit_test(another_inode_is_another_file),
		cmocka_unit_test(the_same_number_again_is_another_file),
		cmocka_unit_test(the_same_number_of_another_device_is_another_file),
		cmocka_unit_test(generations_tell_mapped_files_apart),
		cmocka_unit_test(without_a_build_id_the_first_page_tells),
		cmocka_unit_test(other_images_are_other_files),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
