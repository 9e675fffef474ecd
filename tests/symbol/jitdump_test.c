/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "program.h"

#include "jitdump_image.h"
#include "symbol/jitdump.h"
#include "symbol/jitdump_reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH "jit-4711.dump"
#define END UINT64_MAX

static struct jitdump_image image;

static struct jitdump *open_dump(bool lines)
{
	const struct jitdump_file file = {.pid = getpid(), .path = PATH};
	struct jitdump *d;

	assert_int_equal(jitdump_open(NULL, &file, lines, &d), 0);
	return d;
}

static void assert_code(struct jitdump *d, uint64_t address, uint64_t time, const char *expected)
{
	struct jitdump_code code = {0};
	int n = jitdump_find(d, address, time, &code);

	assert_int_equal(n, expected ? 1 : 0);
	if (expected) {
		assert_string_equal(code.name, expected);
		assert_true(address - code.start < code.size);
	} else {
		assert_null(code.name);
	}
}

static void code_is_named_by_its_address(void **state)
{
	struct jitdump *d = open_dump(false);

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		unlink(PATH);
		image_header(&image, big_endian, 0);
		image_load(&image, 10, 0x7000, 0x20, "one");
		image_load(&image, 10, 0x123456789a00, 0x40, "two");
		image_load(&image, 10, 0x7100, 0, "empty");
		image_write(&image, PATH);
		jitdump_close(d);
		d = open_dump(false);
		assert_code(d, 0x7000, END, "one");
		assert_code(d, 0x701f, END, "one");
		assert_code(d, 0x7020, END, NULL);
		assert_code(d, 0x6fff, END, NULL);
		assert_code(d, 0x7100, END, NULL);
		assert_code(d, 0x123456789a3f, END, "two");
		assert_code(d, UINT64_MAX, END, NULL);
	}
	jitdump_close(d);
}

static void time_of_a_sample_decides_what_was_there(void **state)
{
	struct jitdump *d;

	image_header(&image, false, 0);
	image_load(&image, 100, 0x1000, 0x40, "first");
	image_load(&image, 200, 0x1000, 0x20, "second");
	image_load(&image, 300, 0x0ff0, 0x20, "third");
	image_load(&image, 400, 0x1000, 0x40, "fourth");
	image_write(&image, PATH);
	d = open_dump(false);
	assert_code(d, 0x1008, 99, NULL);
	assert_code(d, 0x1008, 100, "first");
	assert_code(d, 0x1008, 199, "first");
	assert_code(d, 0x1008, 200, "second");
	assert_code(d, 0x1008, 399, "third");
	assert_code(d, 0x1018, 399, "second");
	assert_code(d, 0x1008, 400, "fourth");
	assert_code(d, 0x1008, END, "fourth");
	jitdump_close(d);
}

static void code_that_often_replaced_other_code_is_found(void **state)
{
	char name[16];
	struct jitdump *d;

	image_header(&image, false, 0);
	for (unsigned int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "code%u", i);
		image_load(&image, 1000 + i, 0x1000 + i % 7, 16, name);
	}
	image_write(&image, PATH);
	d = open_dump(false);
	for (unsigned int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "code%u", i);
		assert_code(d, 0x1008, 1000 + i, name);
	}
	jitdump_close(d);
}

static void moved_code_leaves_its_old_place(void **state)
{
	struct jitdump *d;

	image_header(&image, true, 0);
	image_load(&image, 100, 0x1000, 0x40, "mover");
	image_move(&image, 200, 0x1000, 0x8000, 0x40);
	image_move(&image, 250, 0x5555, 0x9000, 0x40);
	image_move(&image, 300, 0x8000, 0x1000, 0x40);
	image_write(&image, PATH);
	d = open_dump(false);
	assert_code(d, 0x1010, 150, "mover");
	assert_code(d, 0x8010, 150, NULL);
	assert_code(d, 0x1010, 200, NULL);
	assert_code(d, 0x8010, 200, "mover");
	assert_code(d, 0x9010, END, NULL);
	assert_code(d, 0x8010, 300, NULL);
	assert_code(d, 0x8010, END, NULL);
	assert_code(d, 0x1010, END, "mover");
	jitdump_close(d);
}

static void times_of_another_clock_are_not_compared(void **state)
{
	struct jitdump *d;

	image_header(&image, false, 1);
	image_load(&image, 1ull << 60, 0x1000, 0x40, "old");
	image_load(&image, 1ull << 61, 0x1000, 0x40, "new");
	image_write(&image, PATH);
	d = open_dump(false);
	assert_code(d, 0x1010, 5, "new");
	jitdump_close(d);
}

/* As in a time namespace whose clock is ahead. */
static void files_that_were_made_after_the_sample_have_another_clock(void **state)
{
	const uint64_t created = 1ull << 60;
	struct jitdump *d;

	image_header(&image, false, 0);
	memcpy(image.bytes + 24, &created, sizeof(created));
	image_load(&image, created + 10, 0x1000, 0x40, "old");
	image_load(&image, created + 20, 0x1000, 0x40, "new");
	image_write(&image, PATH);
	d = open_dump(false);
	assert_code(d, 0x1010, 5, "new");
	assert_code(d, 0x1010, created, NULL);
	assert_code(d, 0x1010, created + 15, "old");
	jitdump_close(d);
}

static void growing_file_is_read_on(void **state)
{
	struct jitdump *d = open_dump(false);
	size_t whole;

	unlink(PATH);
	image_header(&image, false, 0);
	image_load(&image, 100, 0x1000, 0x40, "one");
	whole = image.size;
	image_load(&image, 200, 0x2000, 0x40, "two");
	/* byte by byte, from an empty file on */
	for (size_t size = 0, all = image.size; size <= all; size++) {
		image.size = size;
		if (size)
			image_append(&image, PATH, size - 1);
		else
			write_text(PATH, "");
		if (size == 1) {
			/* the file was not there within this second */
			jitdump_close(d);
			d = open_dump(false);
		}
		assert_code(d, 0x1010, END, size >= whole ? "one" : NULL);
		assert_code(d, 0x2010, END, size == all ? "two" : NULL);
		image.size = all;
	}
	jitdump_close(d);
}

static void file_that_was_cut_is_read_from_its_start(void **state)
{
	struct jitdump *d;

	image_header(&image, false, 0);
	image_load(&image, 100, 0x1000, 0x40, "one");
	image_load(&image, 100, 0x2000, 0x40, "two");
	image_write(&image, PATH);
	d = open_dump(false);
	assert_code(d, 0x2010, END, "two");
	image_header(&image, false, 0);
	image_load(&image, 100, 0x3000, 0x40, "three");
	image_write(&image, PATH);
	assert_code(d, 0x3010, END, "three");
	assert_code(d, 0x2010, END, NULL);
	jitdump_close(d);
}

static void assert_line(struct jitdump *d, uint64_t address, const char *file, uint32_t line)
{
	struct jitdump_code code;

	assert_int_equal(jitdump_find(d, address, END, &code), 1);
	assert_int_equal(code.line, line);
	if (file)
		assert_string_equal(code.src_file, file);
	else
		assert_null(code.src_file);
}

static void lines_are_those_of_the_code_that_follows(void **state)
{
	static const uint64_t plain[][2] = {{0x1000, 10}, {0x1008, 11}, {0x1010, 0}, {0x1020, 12}};
	/* V8 and LLVM */
	static const uint64_t shifted[][2] = {{0x2040, 20}, {0x2050, 21}};
	struct jitdump *d;

	image_header(&image, false, 0);
	image_lines(&image, 0x9000, "lost.js", plain, 4);
	image_lines(&image, 0x1000, "a.js", plain, 4);
	image_load(&image, 100, 0x1000, 0x40, "plain");
	image_lines(&image, 0x2000, "b.js", shifted, 2);
	image_load(&image, 100, 0x2000, 0x80, "shifted");
	image_load(&image, 100, 0x3000, 0x40, "none");
	image_write(&image, PATH);
	d = open_dump(true);
	assert_line(d, 0x1000, "a.js", 10);
	assert_line(d, 0x100f, "a.js", 11);
	assert_line(d, 0x1010, NULL, 0);
	assert_line(d, 0x103f, "a.js", 12);
	assert_line(d, 0x2000, "b.js", 20);
	assert_line(d, 0x200f, "b.js", 20);
	assert_line(d, 0x2040, "b.js", 21);
	assert_line(d, 0x3000, NULL, 0);
	jitdump_close(d);
	d = open_dump(false);
	assert_line(d, 0x1000, NULL, 0);
	jitdump_close(d);
}

static void assert_damage(enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_error error = {0};
	struct jitdump *d;

	image_write(&image, PATH);
	d = open_dump(true);
	/* records before the damage stay */
	assert_code(d, 0x1010, END, reason == BOBBIN_REASON_JITDUMP_RECORD ? "before" : NULL);
	assert_true(jitdump_damage(d, &error));
	assert_int_equal(error.reason, reason);
	assert_int_equal(error.offset, offset);
	assert_code(d, 0x2010, END, NULL);
	jitdump_close(d);
}

static void what_is_no_jitdump_is_refused(void **state)
{
	static const struct {
		size_t offset;
		uint8_t value;
	} cases[] = {{0, 'X'}, {4, 2}, {8, 39}, {32, 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		image_header(&image, false, 0);
		image_load(&image, 100, 0x1000, 0x40, "before");
		image.bytes[cases[i].offset] = cases[i].value;
		assert_damage(BOBBIN_REASON_JITDUMP_HEADER, cases[i].offset);
	}
}

static size_t begin_damage(bool big_endian)
{
	image_header(&image, big_endian, 0);
	image_load(&image, 100, 0x1000, 0x40, "before");
	return image.size;
}

static void end_damage(size_t offset)
{
	image_end(&image);
	image_load(&image, 100, 0x2000, 0x40, "behind");
	assert_damage(BOBBIN_REASON_JITDUMP_RECORD, offset);
}

static void malformed_record_ends_the_reading(void **state)
{
	size_t at;

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		at = begin_damage(big_endian);
		for (unsigned int i = 0; i < 4; i++)
			image_put(&image, 0, 4);
		assert_damage(BOBBIN_REASON_JITDUMP_RECORD, at);

		at = begin_damage(big_endian);
		image_begin(&image, 0, 100);
		image_put(&image, 0, 8);
		end_damage(at);

		at = begin_damage(big_endian);
		image_load(&image, 100, UINT64_MAX - 3, 2, "wraps");
		image.size = image.record + 40;
		image_put(&image, 5, 8);
		image.size += 15;
		end_damage(at);

		at = begin_damage(big_endian);
		image_load(&image, 100, 0x2000, 4, "short");
		image.size--;
		end_damage(at + 40);

		at = begin_damage(big_endian);
		image_load(&image, 100, 0x2000, 0, "no end");
		image.size--;
		end_damage(at + 56);

		at = begin_damage(big_endian);
		image_begin(&image, 1, 100);
		image_put(&image, 0, 8);
		end_damage(at);

		at = begin_damage(big_endian);
		image_begin(&image, 2, 100);
		image_put(&image, 0x2000, 8);
		image_put(&image, 2, 8);
		for (unsigned int i = 0; i < 33; i++)
			image_put(&image, 0, 1);
		end_damage(at);

		at = begin_damage(big_endian);
		image_begin(&image, 2, 100);
		image_put(&image, 0x2000, 8);
		image_put(&image, 1, 8);
		for (unsigned int i = 0; i < 20; i++)
			image_put(&image, 1, 1);
		end_damage(at + 32);
	}
}

static void records_of_other_kinds_are_passed_over(void **state)
{
	struct bobbin_error error;
	struct jitdump *d;

	image_header(&image, false, 0);
	for (uint32_t kind = 3; kind < 9; kind++) {
		image_begin(&image, kind, 100);
		image_put(&image, 0x1234, 8);
		image_end(&image);
	}
	image_load(&image, 100, 0x1000, 0x40, "code");
	image_write(&image, PATH);
	d = open_dump(true);
	assert_code(d, 0x1000, END, "code");
	assert_false(jitdump_damage(d, &error));
	jitdump_close(d);
}

static void long_names_are_cut(void **state)
{
	char name[3000];
	struct jitdump_code code;
	struct jitdump *d;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	image_header(&image, false, 0);
	image_load(&image, 100, 0x1000, 0x40, name);
	image_load(&image, 100, 0x2000, 0x40, "next");
	image_write(&image, PATH);
	d = open_dump(false);
	assert_int_equal(jitdump_find(d, 0x1000, END, &code), 1);
	assert_int_equal(strlen(code.name), JITDUMP_MAX_NAME);
	assert_code(d, 0x2000, END, "next");
	jitdump_close(d);
}

static void write_code(const char *path)
{
	image_header(&image, false, 0);
	image_load(&image, 100, 0x1000, 0x40, "code");
	image_write(&image, path);
}

static void files_of_other_kinds_are_not_opened(void **state)
{
	struct jitdump *d = open_dump(false);

	unlink(PATH);
	assert_int_equal(mkfifo(PATH, 0600), 0);
	assert_code(d, 0x1000, END, NULL);
	unlink(PATH);
	jitdump_close(d);

	write_code("target");
	assert_int_equal(symlink("target", PATH), 0);
	d = open_dump(false);
	assert_code(d, 0x1000, END, NULL);
	unlink(PATH);
	jitdump_close(d);
}

static void files_of_other_users_are_read_if_they_were_mapped(void **state)
{
	struct jitdump_file file = {.pid = getpid(), .path = PATH};
	struct jitdump *d;
	struct stat st;

	if (geteuid()) {
		print_message("only root can make a file of another user\n");
		skip();
	}
	write_code(PATH);
	assert_int_equal(chown(PATH, 12345, 12345), 0);
	d = open_dump(false);
	assert_code(d, 0x1000, END, NULL);
	jitdump_close(d);

	assert_int_equal(stat(PATH, &st), 0);
	file.major = major(st.st_dev);
	file.minor = minor(st.st_dev);
	file.ino = st.st_ino;
	assert_int_equal(jitdump_open(NULL, &file, false, &d), 0);
	assert_code(d, 0x1000, END, "code");
	jitdump_close(d);

	file.ino++;
	assert_int_equal(jitdump_open(NULL, &file, false, &d), 0);
	assert_code(d, 0x1000, END, NULL);
	jitdump_close(d);
	unlink(PATH);
}

/* Any change of a byte and any cut: an answer or a refusal within the file. */
static void damaged_files_do_no_harm(void **state)
{
	static const uint64_t lines[][2] = {{0x1000, 10}, {0x1008, 11}};
	static struct jitdump_reader reader;
	static struct jitdump_image damaged;
	struct jitdump_record record;
	struct jitdump_line line;
	struct bobbin_error error;
	int fd = memfd_create("dump", MFD_CLOEXEC), r;

	assert_true(fd >= 0);
	image_header(&image, false, 0);
	image_lines(&image, 0x1000, "a.js", lines, 2);
	image_load(&image, 100, 0x1000, 0x10, "code");
	image_move(&image, 100, 0x1000, 0x2000, 0x10);
	for (size_t at = 0; at < image.size; at++) {
		for (unsigned int bit = 0; bit < 9; bit++) {
			size_t records = 0;

			damaged = image;
			if (bit < 8)
				damaged.bytes[at] ^= (uint8_t)(1 << bit);
			else
				damaged.size = at;
			assert_int_equal(ftruncate(fd, 0), 0);
			assert_int_equal(pwrite(fd, damaged.bytes, damaged.size, 0), damaged.size);
			reader = (struct jitdump_reader){0};
			error = (struct bobbin_error){0};
			assert_int_equal(jitdump_reader_sweep(&reader, fd), 0);
			while ((r = jitdump_reader_next(&reader, fd, &error, &record)) > 0) {
				assert_true(++records <= image.size / 16);
				while (jitdump_reader_line(&reader, fd, NULL, &line) > 0)
					assert_true(line.file_len <= JITDUMP_MAX_NAME);
			}
			assert_true(!r || (error.reason && error.offset <= damaged.size));
		}
	}
	close(fd);
}

static unsigned int complaints;

static void on_damage(void *ctx, const char *path, const struct bobbin_error *damage)
{
	assert_string_equal(path, PATH);
	assert_int_equal(damage->reason, BOBBIN_REASON_JITDUMP_RECORD);
	complaints++;
}

static void symbolizer_reads_jitdump_files(void **state)
{
	static const uint64_t lines[][2] = {{0x1000, 10}};
	const struct jitdump_file file = {.pid = getpid(), .path = PATH};
	struct symbolizer *s = open_symbolizer(&(struct symbolizer_options){
		.lines = true, .demangle = true, .on_damage = on_damage});
	struct symbol f;

	image_header(&image, false, 0);
	image_lines(&image, 0x1000, "a.cc", lines, 1);
	image_load(&image, 100, 0x1000, 0x40, "_ZN3foo3barEv");
	image_load(&image, 100, 0x2000, 0x40, "JS:*f a.js@1\n");
	image_begin(&image, 0, 0);
	image_end(&image);
	image_write(&image, PATH);
	assert_int_equal(symbolizer_jit_dump(s, &file, 0x1010, 99, &f), 0);
	assert_int_equal(symbolizer_jit_dump(s, &file, 0x1010, 100, &f), 1);
	assert_string_equal(f.name, "foo::bar");
	assert_string_equal(f.mangled, "_ZN3foo3barEv");
	assert_string_equal(f.src_file, "a.cc");
	assert_int_equal(f.line, 10);
	assert_int_equal(f.start, 0x1000);
	assert_int_equal(f.size, 0x40);
	assert_int_equal(f.offset, 0x10);
	assert_int_equal(symbolizer_jit_dump(s, &file, 0x2010, END, &f), 1);
	assert_string_equal(f.name, "JS:*f a.js@1?");
	assert_int_equal(symbolizer_jit_dump(s, &file, 0x3010, END, &f), 0);
	assert_int_equal(complaints, 1);
	for (int pid = 1 << 22; pid < (1 << 22) + 200; pid++) {
		struct jitdump_file other = {.pid = pid, .path = "jit-1.dump"};

		assert_int_equal(symbolizer_jit_dump(s, &other, 0x1010, END, &f), 0);
	}
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_named_by_its_address),
		cmocka_unit_test(time_of_a_sample_decides_what_was_there),
		cmocka_unit_test(code_that_often_replaced_other_code_is_found),
		cmocka_unit_test(moved_code_leaves_its_old_place),
		cmocka_unit_test(times_of_another_clock_are_not_compared),
		cmocka_unit_test(files_that_were_made_after_the_sample_have_another_clock),
		cmocka_unit_test(growing_file_is_read_on),
		cmocka_unit_test(file_that_was_cut_is_read_from_its_start),
		cmocka_unit_test(lines_are_those_of_the_code_that_follows),
		cmocka_unit_test(what_is_no_jitdump_is_refused),
		cmocka_unit_test(malformed_record_ends_the_reading),
		cmocka_unit_test(records_of_other_kinds_are_passed_over),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(files_of_other_kinds_are_not_opened),
		cmocka_unit_test(files_of_other_users_are_read_if_they_were_mapped),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(symbolizer_reads_jitdump_files),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
