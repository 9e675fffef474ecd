/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that are kept come back, and nothing else is taken for one.
 */
#include "table/table_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "table/table_builder.h"

#define TEXT 0x401000
#define TABLE_AT 128 /* in a file */

struct kept {
	struct table_cache *cache;
	char folder[64];
	struct table_key key;
	uint8_t *data;
	uint64_t size;
};

static void make_table(uint8_t **data, uint64_t *size)
{
	struct table_builder b;
	uint32_t rule;

	assert_int_equal(table_builder_init(bobbin_arch_amd64(), NULL, 0, &b), 0);
	assert_int_equal(rule_pool_of_word(&b.rows.rules, 1, &rule), 0);
	assert_int_equal(table_builder_begin(&b, TEXT), 0);
	assert_int_equal(table_builder_row(&b, TEXT, rule), 0);
	assert_int_equal(table_builder_end(&b, TEXT + 16), 0);
	assert_int_equal(table_builder_make(&b, data, size), 0);
	table_builder_fini(&b);
}

static int setup(void **state)
{
	struct kept *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	strcpy(k->folder, "/tmp/table-cache-XXXXXX");
	assert_non_null(mkdtemp(k->folder));
	strcat(k->folder, "/a/b");
	assert_int_equal(table_cache_open(k->folder, 0, NULL, &k->cache), 0);
	memset(k->key.digest, 0xab, sizeof(k->key.digest));
	make_table(&k->data, &k->size);
	assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), 0);
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	struct kept *k = *state;
	char command[128];

	table_cache_close(k->cache);
	snprintf(command, sizeof(command), "rm -r %.23s", k->folder);
	assert_int_equal(system(command), 0);
	free(k->data);
	free(k);
	return 0;
}

static char *path_of(const struct kept *k, const struct table_key *key)
{
	static char path[256];
	int length = snprintf(path, sizeof(path), "%s/", k->folder);

	for (int i = 0; i < CONTENT_DIGEST_SIZE; i++)
		snprintf(path + length + 2 * i, 3, "%02x", key->digest[i]);
	strcat(path, ".table");
	return path;
}

static unsigned int count_files(const struct kept *k)
{
	DIR *dir = opendir(k->folder);
	struct dirent *entry;
	unsigned int count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void assert_found(struct kept *k)
{
	struct kept_table found;
	struct compiled_row row;

	assert_int_equal(table_cache_find(k->cache, &k->key, NULL, &found), 0);
	assert_int_equal(compiled_table_find(&found.table, TEXT + 3, &row), 0);
	assert_int_equal(row.word, 1);
	assert_int_equal(row.end, TEXT + 16);
	kept_table_fini(&found);
}

/* It is refused, is gone, and can be kept again. */
static void assert_refused(struct kept *k, int error, enum bobbin_reason reason)
{
	struct bobbin_error why = {0};
	struct kept_table found;

	assert_int_equal(table_cache_find(k->cache, &k->key, &why, &found), error);
	assert_int_equal(why.reason, reason);
	assert_int_equal(table_cache_find(k->cache, &k->key, &why, &found), -ENOENT);
	assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), 0);
	assert_found(k);
}

static void what_is_kept_is_found(void **state)
{
	struct kept *k = *state;
	struct table_cache *other;
	struct kept_table found;

	assert_found(k);
	/* another process would see the same, and may keep it, too */
	assert_int_equal(table_cache_open(k->folder, 0, NULL, &other), 0);
	assert_int_equal(table_cache_keep(other, &k->key, k->data, k->size), 0);
	table_cache_close(other);
	assert_found(k);
	assert_int_equal(count_files(k), 1);
	/* one that was found stays, whatever becomes of the file */
	assert_int_equal(table_cache_find(k->cache, &k->key, NULL, &found), 0);
	assert_int_equal(unlink(path_of(k, &k->key)), 0);
	assert_int_equal(found.table.start, TEXT & -(1 << TABLE_CELL_SHIFT));
	kept_table_fini(&found);
	k->key.digest[31]++;
	assert_int_equal(table_cache_find(k->cache, &k->key, NULL, &found), -ENOENT);
}

static void damage_is_found(void **state)
{
	struct kept *k = *state;

	for (uint64_t at = 0; at < TABLE_AT + k->size; at += at < TABLE_AT ? 1 : 97) {
		int fd = open(path_of(k, &k->key), O_RDWR);
		uint8_t byte;

		/* the end of the head is not used */
		if (at == 12)
			at = 16;
		if (at == 64)
			at = TABLE_AT;
		assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
		byte ^= 4;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		close(fd);
		assert_refused(k, -EBADMSG, BOBBIN_REASON_KEPT_TABLE);
	}
}

static void what_is_cut_off_is_refused(void **state)
{
	struct kept *k = *state;

	for (off_t size = 0; size < (off_t)(TABLE_AT + k->size); size += 111) {
		assert_int_equal(truncate(path_of(k, &k->key), size), 0);
		assert_refused(k, -EBADMSG, BOBBIN_REASON_KEPT_TABLE);
	}
}

static void another_tables_file_is_refused(void **state)
{
	struct kept *k = *state;
	char old[256];

	strcpy(old, path_of(k, &k->key));
	k->key.digest[0]++;
	assert_int_equal(rename(old, path_of(k, &k->key)), 0);
	assert_refused(k, -EBADMSG, BOBBIN_REASON_KEPT_TABLE);
}

/* What is sound in itself, but is no table. */
static void other_bytes_are_refused(void **state)
{
	struct kept *k = *state;

	k->data[0]++;
	assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), 0);
	k->data[0]--;
	assert_refused(k, -EBADMSG, BOBBIN_REASON_TABLE_MAGIC);
}

/* Whoever can put another folder in the place of one above it. */
static void folders_above_are_looked_at(void **state)
{
	struct kept *k = *state;
	struct table_cache *cache;
	struct bobbin_error error = {0};
	char above[256], folder[300], link[256];

	snprintf(above, sizeof(above), "%s/above", k->folder);
	snprintf(folder, sizeof(folder), "%s/tables", above);
	snprintf(link, sizeof(link), "%s/link", k->folder);
	assert_int_equal(table_cache_open(folder, 0, &error, &cache), 0);
	table_cache_close(cache);
	assert_int_equal(chmod(above, 0777), 0);
	assert_int_equal(table_cache_open(folder, 0, &error, &cache), -EPERM);
	assert_int_equal(error.reason, BOBBIN_REASON_KEPT_OWNER);
	assert_int_equal(chmod(above, 01777), 0);
	assert_int_equal(table_cache_open(folder, 0, &error, &cache), 0);
	table_cache_close(cache);
	if (!geteuid()) {
		assert_int_equal(chown(above, 1234, 1234), 0);
		assert_int_equal(table_cache_open(folder, 0, &error, &cache), -EPERM);
		assert_int_equal(chown(above, 0, 0), 0);
		assert_int_equal(symlink("above", link), 0);
		assert_int_equal(lchown(link, 1234, 1234), 0);
		strcat(link, "/tables");
		assert_int_equal(table_cache_open(link, 0, &error, &cache), -EPERM);
		assert_int_equal(error.reason, BOBBIN_REASON_KEPT_OWNER);
	}
}

static void what_others_can_write_is_refused(void **state)
{
	struct kept *k = *state;
	struct table_cache *cache;
	struct bobbin_error error = {0};
	char link[256];

	assert_int_equal(chmod(path_of(k, &k->key), 0620), 0);
	assert_refused(k, -EPERM, BOBBIN_REASON_KEPT_OWNER);
	if (!geteuid()) {
		assert_int_equal(chown(path_of(k, &k->key), 1234, 1234), 0);
		assert_refused(k, -EPERM, BOBBIN_REASON_KEPT_OWNER);
	}
	/* a symbolic link, even one to a sound table */
	snprintf(link, sizeof(link), "%s/target", k->folder);
	assert_int_equal(rename(path_of(k, &k->key), link), 0);
	assert_int_equal(symlink("target", path_of(k, &k->key)), 0);
	assert_refused(k, -EPERM, BOBBIN_REASON_KEPT_OWNER);
	assert_int_equal(unlink(path_of(k, &k->key)), 0);
	assert_int_equal(mkfifo(path_of(k, &k->key), 0600), 0);
	assert_refused(k, -EBADMSG, BOBBIN_REASON_KEPT_TABLE);

	assert_int_equal(chmod(k->folder, 0777), 0);
	assert_int_equal(table_cache_open(k->folder, 0, &error, &cache), -EPERM);
	assert_int_equal(error.reason, BOBBIN_REASON_KEPT_OWNER);
	assert_int_equal(chmod(k->folder, 0700), 0);
	snprintf(link, sizeof(link), "%s/../link", k->folder);
	assert_int_equal(symlink(k->folder, link), 0);
	assert_int_equal(table_cache_open(link, 0, &error, &cache), -ENOTDIR);
	if (!geteuid()) {
		assert_int_equal(chown(k->folder, 1234, 1234), 0);
		assert_int_equal(table_cache_open(k->folder, 0, &error, &cache), -EPERM);
	}
}

/* Files' ages count, in days before today; the last is the youngest. */
static void what_was_not_used_for_longest_goes_first(void **state)
{
	const unsigned int count = 16;
	struct kept *k = *state;
	struct table_cache *small;
	struct kept_table found;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

	for (unsigned int i = 0; i < count; i++) {
		k->key.digest[0] = (uint8_t)(i * 37);
		assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), 0);
		times[1].tv_sec = (time_t)(1000000000 + i * 86400);
		assert_int_equal(utimensat(AT_FDCWD, path_of(k, &k->key), times, 0), 0);
	}
	/* the oldest is used again */
	k->key.digest[0] = 0;
	assert_found(k);
	assert_int_equal(table_cache_open(k->folder, 8 * (TABLE_AT + k->size), NULL, &small), 0);
	k->key.digest[1]++;
	assert_int_equal(table_cache_keep(small, &k->key, k->data, k->size), 0);
	table_cache_close(small);
	assert_int_equal(count_files(k), 6);
	k->key.digest[1]--;
	for (unsigned int i = 0; i < count; i++) {
		k->key.digest[0] = (uint8_t)(i * 37);
		assert_int_equal(table_cache_find(k->cache, &k->key, NULL, &found),
				 i && i < 13 ? -ENOENT : 0);
		if (!i || i >= 13)
			kept_table_fini(&found);
	}
	assert_int_equal(table_cache_open(k->folder, k->size, NULL, &small), 0);
	assert_int_equal(table_cache_keep(small, &k->key, k->data, k->size), -EFBIG);
	table_cache_close(small);
}

/* They would never be the oldest, and what is new would go at once. */
static void times_to_come_keep_nothing(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
	const unsigned int count = 8;
	struct kept *k = *state;
	struct table_cache *small;
	struct stat st;

	assert_int_equal(utimensat(AT_FDCWD, path_of(k, &k->key), times, 0), 0);
	assert_found(k);
	assert_int_equal(stat(path_of(k, &k->key), &st), 0);
	assert_true(st.st_mtim.tv_sec < 4000000000);
	for (unsigned int i = 0; i < count; i++) {
		k->key.digest[0] = (uint8_t)i;
		assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), 0);
		assert_int_equal(utimensat(AT_FDCWD, path_of(k, &k->key), times, 0), 0);
	}
	assert_int_equal(table_cache_open(k->folder, 4 * (TABLE_AT + k->size), NULL, &small), 0);
	k->key.digest[0] = 0x77;
	assert_int_equal(table_cache_keep(small, &k->key, k->data, k->size), 0);
	table_cache_close(small);
	assert_int_equal(count_files(k), 3);
	assert_found(k);
}

/* What cannot be removed does not count as removed. */
static void folders_are_no_tables(void **state)
{
	struct kept *k = *state;
	struct table_cache *small;
	char folder[256];

	for (unsigned int i = 0; i < 4; i++) {
		k->key.digest[1] = (uint8_t)i;
		assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), 0);
	}
	snprintf(folder, sizeof(folder), "%s/old.table", k->folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(table_cache_open(k->folder, 4 * (TABLE_AT + k->size), NULL, &small), 0);
	assert_int_equal(table_cache_keep(small, &k->key, k->data, k->size), 0);
	table_cache_close(small);
	assert_int_equal(count_files(k), 4);
	assert_found(k);
}

static void what_was_begun_and_not_ended_goes(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct kept *k = *state;
	struct table_cache *cache;
	char path[256];

	snprintf(path, sizeof(path), "%s/old.new", k->folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	snprintf(path, sizeof(path), "%s/young.new", k->folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(table_cache_open(k->folder, 0, NULL, &cache), 0);
	assert_int_equal(table_cache_keep(cache, &k->key, k->data, k->size), 0);
	table_cache_close(cache);
	assert_int_equal(count_files(k), 2);
}

static void what_cannot_be_written_leaves_nothing(void **state)
{
	const struct rlimit most = {TABLE_AT + 100, RLIM_INFINITY};
	struct rlimit before;
	struct kept *k = *state;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
	k->key.digest[0]++;
	assert_int_equal(table_cache_keep(k->cache, &k->key, k->data, k->size), -EFBIG);
	k->key.digest[0]--;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(count_files(k), 1);
	assert_found(k);
}

static struct table_key key_of(const struct bobbin_cfi_view *view, uint8_t id_length)
{
	const struct table_sources sources = {
		.arch = bobbin_arch_amd64(), .cfi = view, .cfi_count = 1};
	struct table_key key;

	table_key_of(&sources, (const uint8_t[4]){1, 2, 3, 4}, id_length, &key);
	return key;
}

static void assert_other_key(const struct bobbin_cfi_view *view, uint8_t id_length,
			     const struct table_key *key)
{
	struct table_key other = key_of(view, id_length);

	assert_memory_not_equal(&other, key, sizeof(other));
}

static void all_that_a_table_is_made_of_is_in_its_key(void **state)
{
	const struct bobbin_range code[] = {{1, 2}, {3, 4}};
	uint8_t frame[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct bobbin_cfi_view view = {
		.arch = bobbin_arch_amd64(), .frame = frame, .frame_size = 8, .frame_addr = 77};
	struct table_key key = key_of(&view, 4), same = key_of(&view, 4);

	assert_memory_equal(&key, &same, sizeof(key));
	assert_other_key(&view, 3, &key);
	frame[7]++;
	assert_other_key(&view, 4, &key);
	frame[7]--;
	view.frame_size--;
	assert_other_key(&view, 4, &key);
	view.frame_size++;
	view.frame_addr++;
	assert_other_key(&view, 4, &key);
	view.frame_addr--;
	view.debug_frame = true;
	assert_other_key(&view, 4, &key);
	view.debug_frame = false;
	view.code = code;
	assert_other_key(&view, 4, &key);
	key = key_of(&view, 4);
	view.code_count = 1;
	assert_other_key(&view, 4, &key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_kept_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_cut_off_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(another_tables_file_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(other_bytes_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_above_are_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(what_others_can_write_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_used_for_longest_goes_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(times_to_come_keep_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_are_no_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_begun_and_not_ended_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_written_leaves_nothing, setup,
						teardown),
		cmocka_unit_test(all_that_a_table_is_made_of_is_in_its_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
