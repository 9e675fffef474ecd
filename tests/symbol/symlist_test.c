/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names that come as text: kallsyms and perf maps. */
#include "program.h"

#include "symbol/interval.h"
#include "symbol/perfmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void innermost_range_is_found(void **state)
{
	struct interval_map map = {0};

	assert_int_equal(interval_map_add(&map, 100, 100, 1), 0);
	assert_int_equal(interval_map_add(&map, 120, 10, 2), 0);
	assert_int_equal(interval_map_add(&map, 122, 2, 3), 0);
	assert_int_equal(interval_map_add(&map, 150, 100, 4), 0);
	assert_int_equal(interval_map_add(&map, 160, 0, 5), 0);
	interval_map_sort(&map);
	assert_int_equal(interval_map_find(&map, 100)->value, 1);
	assert_int_equal(interval_map_find(&map, 121)->value, 2);
	assert_int_equal(interval_map_find(&map, 123)->value, 3);
	assert_int_equal(interval_map_find(&map, 125)->value, 2);
	assert_int_equal(interval_map_find(&map, 131)->value, 1);
	assert_int_equal(interval_map_find(&map, 160)->value, 4);
	assert_int_equal(interval_map_find(&map, 249)->value, 4);
	assert_null(interval_map_find(&map, 250));
	assert_null(interval_map_find(&map, 99));
	assert_null(interval_map_find(&map, 0));
	assert_null(interval_map_find(&map, UINT64_MAX));
	interval_map_fini(&map);
}

/* Against a search through all, with ranges that nest and overlap at random. */
static void every_address_is_in_its_smallest_late_range(void **state)
{
	srand(1);
	for (int round = 0; round < 200; round++) {
		struct interval_map map = {0};

		for (int i = 0; i < 40; i++)
			assert_int_equal(interval_map_add(&map, (uint64_t)(rand() % 200),
							  (uint64_t)(rand() % 60), (uint64_t)i),
					 0);
		interval_map_sort(&map);
		for (uint64_t at = 0; at < 300; at++) {
			const struct interval *expected = NULL;

			for (size_t i = 0; i < map.count; i++)
				if (at - map.items[i].start < map.items[i].size)
					expected = &map.items[i];
			assert_ptr_equal(interval_map_find(&map, at), expected);
		}
		interval_map_fini(&map);
	}
}

static struct symbolizer *with_kallsyms(const char *text)
{
	struct symbolizer_options options = {.kallsyms = "kallsyms", .demangle = true};

	write_text("kallsyms", text);
	return open_symbolizer(&options);
}

static void assert_kernel(struct symbolizer *s, uint64_t address, const char *name)
{
	struct symbol f;
	int n = symbolizer_kernel(s, address, &f);

	assert_int_equal(n, name ? 1 : 0);
	if (name)
		assert_string_equal(f.name, name);
}

static void kernel_functions_reach_to_the_next_symbol(void **state)
{
	struct symbolizer *s = with_kallsyms("0000000000000000 A fixed_percpu_data\n"
					     "ffffffff81000000 T _stext\n"
					     "ffffffff81000000 T first\n"
					     "ffffffff81000040 t second\n"
					     "ffffffff81000080 D data\n"
					     "ffffffff81000100 T _RNvC6kernel5third\n"
					     "ffffffff81000f00 T last\n"
					     "ffffffffc0000000 t init\t[ext4]\n"
					     "ffffffffc0000800 t read\t[ext4]\n"
					     "ffffffffc0100000 t prog\t[bpf]\n");

	assert_kernel(s, 0xffffffff81000000, "first");
	assert_kernel(s, 0xffffffff8100003f, "first");
	assert_kernel(s, 0xffffffff81000041, "second");
	assert_kernel(s, 0xffffffff81000090, NULL);
	assert_kernel(s, 0xffffffff81000101, "kernel::third");
	assert_kernel(s, 0xffffffff81000fff, "last");
	assert_kernel(s, 0xffffffff81001000, NULL);
	assert_kernel(s, 0xffffffffc00007ff, "init [ext4]");
	assert_kernel(s, 0xffffffffc0000fff, "read [ext4]");
	assert_kernel(s, 0xffffffffc0001000, NULL);
	assert_kernel(s, 0xffffffffc0100010, "prog [bpf]");
	assert_kernel(s, 0, NULL);
	assert_kernel(s, UINT64_MAX, NULL);
	symbolizer_close(s);
}

static void hidden_kernel_addresses_have_no_names(void **state)
{
	struct symbolizer *s = with_kallsyms("0000000000000000 T _stext\n"
					     "0000000000000000 T first\n"
					     "0000000000000000 t init\t[ext4]\n");

	assert_kernel(s, 0, NULL);
	assert_kernel(s, 1, NULL);
	assert_kernel(s, 0xffffffff81000000, NULL);
	symbolizer_close(s);
}

static void nonsense_in_kallsyms_is_passed_over(void **state)
{
	struct symbolizer *s = with_kallsyms("\n\nx\nffffffff81000000\nffffffff81000000 T\n"
					     "ffffffff81000000 T \n  \t\n"
					     "ffffffff81000010 T good\nffffffff81000020 T cut");

	assert_kernel(s, 0xffffffff81000011, "good");
	symbolizer_close(s);
	run("rm kallsyms");
	s = open_symbolizer(&(struct symbolizer_options){.kallsyms = "kallsyms"});
	assert_kernel(s, 0xffffffff81000011, NULL);
	symbolizer_close(s);
}

/* Maps of a process that is alive: this one, in this directory. */
static void write_map(const char *mode, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "perf-%d.map", (int)getpid());
	f = fopen(path, mode);
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static struct perfmap *open_map(void)
{
	char here[512];
	struct perfmap *m;

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(perfmap_open(&(struct remote_process){NULL, getpid()}, here, NULL, &m), 0);
	return m;
}

static void assert_map(struct perfmap *m, uint64_t address, const char *expected)
{
	struct interval item;
	const char *name;
	int n = perfmap_find(m, address, &item, &name);

	assert_int_equal(n, expected ? 1 : 0);
	if (expected)
		assert_string_equal(name, expected);
}

static void perf_map_is_read_again_when_it_grew(void **state)
{
	struct perfmap *m = open_map();

	run("rm -f perf-*.map");
	assert_map(m, 0x1000, NULL);
	write_map("w",
		  "1000 20 void Foo.bar(int, java.lang.String)\n0x2000 0x10 two\n3000 10 part");
	assert_map(m, 0x101f, "void Foo.bar(int, java.lang.String)");
	assert_map(m, 0x2001, "two");
	assert_map(m, 0x1020, NULL);
	assert_map(m, 0x3000, NULL);
	write_map("a", "ial\n4000 1 four\n");
	assert_map(m, 0x3000, "partial");
	assert_map(m, 0x4000, "four");
	assert_map(m, 0x1000, "void Foo.bar(int, java.lang.String)");
	perfmap_close(m);
}

static void later_code_at_an_address_counts(void **state)
{
	struct perfmap *m = open_map();

	write_map("w", "1000 20 old\n1000 40 new\n5000 10 x\n");
	assert_map(m, 0x1000, "new");
	assert_map(m, 0x103f, "new");
	perfmap_close(m);
}

static void replaced_perf_map_is_read_from_its_start(void **state)
{
	struct perfmap *m = open_map();

	write_map("w", "1000 20 old\n");
	assert_map(m, 0x1000, "old");
	run("rm -f perf-*.map && touch keep-inode-away");
	write_map("w", "2000 20 longer_than_old\n");
	assert_map(m, 0x2000, "longer_than_old");
	perfmap_close(m);
}

static int ignore_line(struct symlist *l, const char *line)
{
	return 0;
}

static void hole_in_a_file_is_not_read_to_its_end(void **state)
{
	struct symlist list = {0};
	FILE *f;

	f = fopen("perf-copy.map", "w");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), (off_t)10 << 30), 0);
	f = freopen("perf-copy.map", "r", f);
	assert_non_null(f);
	assert_int_equal(symlist_read(f, ignore_line, &list), 0);
	assert_true(ftello(f) < (off_t)300 << 20);
	fclose(f);
	run("rm perf-copy.map");
}

static void nonsense_in_perf_maps_is_passed_over(void **state)
{
	struct perfmap *m = open_map();
	static char text[200000];
	size_t len = 0;

	strcpy(text, "\nx\n1000\n1000 20\n1000 20 \n1000 0 empty\nffffffffffffffff 20 wraps\n");
	len = strlen(text);
	len += (size_t)sprintf(text + len, "7000 10 ");
	memset(text + len, 'n', 100000);
	strcpy(text + len + 100000, "\n8000 10 good\n");
	write_map("w", text);
	assert_map(m, 0x8000, "good");
	assert_map(m, 0x1000, NULL);
	assert_map(m, 0x7000, NULL);
	assert_map(m, UINT64_MAX, NULL);
	perfmap_close(m);
}

static void perf_maps_of_other_kinds_are_not_opened(void **state)
{
	char path[64];
	struct perfmap *m = open_map();

	snprintf(path, sizeof(path), "perf-%d.map", (int)getpid());
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_map(m, 0x1000, NULL);
	unlink(path);
	write_text("target", "1000 20 linked\n");
	assert_int_equal(symlink("target", path), 0);
	assert_map(m, 0x1000, NULL);
	unlink(path);
	perfmap_close(m);
}

static void perf_maps_of_other_users_are_not_read(void **state)
{
	char path[64];
	struct perfmap *m;

	if (geteuid()) {
		print_message("only root can make a file of another user\n");
		skip();
	}
	m = open_map();
	snprintf(path, sizeof(path), "perf-%d.map", (int)getpid());
	write_map("w", "1000 20 forged\n");
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_map(m, 0x1000, NULL);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_map(m, 0x1000, "forged");
	perfmap_close(m);
}

static void symbolizer_reads_the_map_of_a_process(void **state)
{
	struct symbolizer *s = open_symbolizer(&(struct symbolizer_options){0});
	struct symbol f;
	bool is_there;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	assert_int_equal(symbolizer_perf_map(s, getpid(), NULL, 0x1010, &f, &is_there), 0);
	write_text(path, "1000 20 compiled\n");
	assert_int_equal(symbolizer_perf_map(s, getpid(), NULL, 0x1010, &f, &is_there), 1);
	assert_true(is_there);
	unlink(path);
	assert_string_equal(f.name, "compiled");
	assert_int_equal(f.start, 0x1000);
	assert_int_equal(f.size, 0x20);
	assert_int_equal(f.offset, 0x10);
	for (int pid = 1 << 22; pid < (1 << 22) + 200; pid++)
		assert_int_equal(symbolizer_perf_map(s, pid, NULL, 0x1010, &f, &is_there), 0);
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(innermost_range_is_found),
		cmocka_unit_test(every_address_is_in_its_smallest_late_range),
		cmocka_unit_test(kernel_functions_reach_to_the_next_symbol),
		cmocka_unit_test(hidden_kernel_addresses_have_no_names),
		cmocka_unit_test(nonsense_in_kallsyms_is_passed_over),
		cmocka_unit_test(perf_map_is_read_again_when_it_grew),
		cmocka_unit_test(later_code_at_an_address_counts),
		cmocka_unit_test(replaced_perf_map_is_read_from_its_start),
		cmocka_unit_test(nonsense_in_perf_maps_is_passed_over),
		cmocka_unit_test(hole_in_a_file_is_not_read_to_its_end),
		cmocka_unit_test(perf_maps_of_other_kinds_are_not_opened),
		cmocka_unit_test(perf_maps_of_other_users_are_not_read),
		cmocka_unit_test(symbolizer_reads_the_map_of_a_process),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
