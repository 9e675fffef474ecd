/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/jit_names.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4
#define LINES 500

static char folder[] = "/tmp/bobbin-names.XXXXXX";
static char map_path[64], dump_path[64];
static uint8_t content[1 << 20];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(map_path, sizeof(map_path), "%s/perf-%d.map", folder, (int)getpid());
	snprintf(dump_path, sizeof(dump_path), "%s/jit-%d.dump", folder, (int)getpid());
	return 0;
}

static int remove_folder(void **state)
{
	char other[64];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	unlink(map_path);
	unlink(dump_path);
	unlink(other);
	return rmdir(folder);
}

/* Bytes of a file, which are in @content. */
static size_t read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, content, sizeof(content) - 1);
	close(fd);
	assert_true(n >= 0);
	content[n] = '\0';
	return (size_t)n;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* As if a process had written it that ended long ago. */
static void age(const char *path)
{
	const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_perf_map_has_a_line_for_each_function(void **state)
{
	struct bobbin_perf_map *map;
	struct stat st;

	(void)state;
	assert_int_equal(bobbin_perf_map_open(folder, &map), 0);
	assert_int_equal(bobbin_perf_map_add(map, 0x7f0012340000, 0x40, "first function"), 0);
	assert_int_equal(bobbin_perf_map_add(map, 0x7f0012340040, 1,
					     "a\nb\x7f"
					     "c\xc3\xa4"),
			 0);
	assert_int_equal(bobbin_perf_map_add(map, 1, 0, "empty"), -EINVAL);
	assert_int_equal(bobbin_perf_map_add(map, UINT64_MAX, 2, "wraps"), -EINVAL);
	assert_int_equal(bobbin_perf_map_add(map, 1, 1, ""), -EINVAL);
	assert_int_equal(bobbin_perf_map_add(map, 1, 1, NULL), -EINVAL);
	bobbin_perf_map_close(map);
	read_file(map_path);
	assert_string_equal((char *)content, "7f0012340000 40 first function\n"
					     "7f0012340040 1 a?b?c\xc3\xa4\n");
	assert_int_equal(stat(map_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void long_names_are_cut(void **state)
{
	struct bobbin_perf_map *map;
	char name[5000];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(bobbin_perf_map_open(folder, &map), 0);
	assert_int_equal(bobbin_perf_map_add(map, UINT64_MAX - 1, 1, name), 0);
	bobbin_perf_map_close(map);
	assert_int_equal(read_file(map_path), strlen("fffffffffffffffe 1 \n") + 4000);
}

static void what_the_process_has_written_before_stays(void **state)
{
	struct bobbin_perf_map *a, *b;

	(void)state;
	assert_int_equal(bobbin_perf_map_open(folder, &a), 0);
	assert_int_equal(bobbin_perf_map_add(a, 1, 1, "a"), 0);
	assert_int_equal(bobbin_perf_map_open(folder, &b), 0);
	assert_int_equal(bobbin_perf_map_add(b, 2, 1, "b"), 0);
	assert_int_equal(bobbin_perf_map_add(a, 3, 1, "c"), 0);
	bobbin_perf_map_close(a);
	bobbin_perf_map_close(b);
	read_file(map_path);
	assert_string_equal((char *)content, "1 1 a\n2 1 b\n3 1 c\n");
}

static void what_an_earlier_process_left_is_removed(void **state)
{
	struct bobbin_perf_map *map;

	(void)state;
	write_file(map_path, "1 1 old\n");
	age(map_path);
	assert_int_equal(bobbin_perf_map_open(folder, &map), 0);
	assert_int_equal(bobbin_perf_map_add(map, 2, 1, "new"), 0);
	bobbin_perf_map_close(map);
	read_file(map_path);
	assert_string_equal((char *)content, "2 1 new\n");
}

static void links_are_not_followed(void **state)
{
	struct bobbin_perf_map *map = NULL;
	struct bobbin_jitdump *dump = NULL;
	char other[64];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	write_file(other, "precious\n");
	age(other);
	assert_int_equal(symlink(other, map_path), 0);
	assert_int_equal(symlink(other, dump_path), 0);
	assert_int_equal(bobbin_perf_map_open(folder, &map), -EEXIST);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), -EEXIST);
	unlink(map_path);
	unlink(dump_path);
	assert_int_equal(link(other, map_path), 0);
	assert_int_equal(bobbin_perf_map_open(folder, &map), -EEXIST);
	unlink(map_path);
	assert_int_equal(link(other, dump_path), 0);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), -EEXIST);
	assert_null(map);
	assert_null(dump);
	read_file(other);
	assert_string_equal((char *)content, "precious\n");
}

static void files_of_others_and_pipes_are_refused(void **state)
{
	struct bobbin_perf_map *map;

	(void)state;
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_int_equal(bobbin_perf_map_open(folder, &map), -EEXIST);
	unlink(map_path);
	assert_int_equal(bobbin_perf_map_open("/proc/self/fd/none", &map), -ENOENT);
	if (geteuid()) {
		print_message("files of others need root\n");
		skip();
	}
	write_file(map_path, "");
	assert_int_equal(chown(map_path, 65534, 65534), 0);
	assert_int_equal(bobbin_perf_map_open(folder, &map), -EEXIST);
}

struct many {
	struct bobbin_perf_map *map;
	struct bobbin_jitdump *dump;
	int failed;
};

static void *write_many(void *arg)
{
	struct many *many = arg;

	for (unsigned int i = 1; i <= LINES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function%u", i);
		if (bobbin_perf_map_add(many->map, i, i, name) ||
		    bobbin_jitdump_add(many->dump, content, i, name))
			__atomic_store_n(&many->failed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Records of a dump in @content after its header: the number of each kind, [0] and [3]. */
static void count_records(size_t size, unsigned int count[4])
{
	size_t at = 40;

	memset(count, 0, 4 * sizeof(*count));
	while (at < size) {
		uint32_t id, total;
		uint64_t code, index;

		memcpy(&id, content + at, 4);
		memcpy(&total, content + at + 4, 4);
		assert_true(id == 0 || id == 3);
		assert_true(total >= 16 && total <= size - at);
		if (id == 0) {
			memcpy(&code, content + at + 40, 8);
			memcpy(&index, content + at + 48, 8);
			assert_int_equal(index, count[0]);
			assert_int_equal(total, 56 + strlen((char *)content + at + 56) + 1 + code);
		}
		count[id]++;
		at += total;
	}
	assert_int_equal(at, size);
}

static void threads_write_whole_lines_and_records(void **state)
{
	struct many many = {0};
	pthread_t threads[THREADS];
	unsigned int lines = 0, count[4];

	(void)state;
	assert_int_equal(bobbin_perf_map_open(folder, &many.map), 0);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &many.dump), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &many), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(many.failed, 0);
	bobbin_perf_map_close(many.map);
	assert_int_equal(bobbin_jitdump_close(many.dump), 0);
	count_records(read_file(dump_path), count);
	assert_int_equal(count[0], THREADS * LINES);
	assert_int_equal(count[3], 1);
	read_file(map_path);
	for (char *line = strtok((char *)content, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned int a, b, c;

		assert_int_equal(sscanf(line, "%x %x function%u", &a, &b, &c), 3);
		assert_true(a == b && b == c);
		lines++;
	}
	assert_int_equal(lines, THREADS * LINES);
}

static uint64_t word_at(size_t at, size_t size)
{
	uint32_t half;
	uint64_t word;

	memcpy(&half, content + at, 4);
	memcpy(&word, content + at, 8);
	return size == 4 ? half : word;
}

static void a_jitdump_is_what_perf_documents(void **state)
{
	static const uint8_t code[] = {0x55, 0x5d, 0xc3};
	struct bobbin_jitdump *dump;
	struct timespec now;

	(void)state;
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), 0);
	assert_int_equal(bobbin_jitdump_add(dump, code, sizeof(code), "mul"), 0);
	assert_int_equal(bobbin_jitdump_add(dump, code, 0, "empty"), -EINVAL);
	assert_int_equal(bobbin_jitdump_add(dump, code, 1, ""), -EINVAL);
	assert_int_equal(bobbin_jitdump_add(dump, code, UINT64_MAX, "wraps"), -EINVAL);
	assert_int_equal(bobbin_jitdump_add(dump, NULL, 1ull << 32, "large"), -E2BIG);
	assert_int_equal(bobbin_jitdump_close(dump), 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_int_equal(read_file(dump_path), 40 + 56 + 4 + 3 + 16);
	assert_int_equal(word_at(0, 4), 0x4a695444);
	assert_int_equal(word_at(4, 4), 1);
	assert_int_equal(word_at(8, 4), 40);
	assert_int_equal(word_at(12, 4), 62);
	assert_int_equal(word_at(16, 4), 0);
	assert_int_equal(word_at(20, 4), getpid());
	assert_int_equal(word_at(32, 8), 0);
	assert_int_equal(word_at(40, 4), 0);
	assert_int_equal(word_at(44, 4), 56 + 4 + 3);
	assert_true(word_at(48, 8) >= word_at(24, 8));
	assert_true(word_at(48, 8) / 1000000000 <= (uint64_t)now.tv_sec);
	assert_int_equal(word_at(56, 4), getpid());
	assert_int_equal(word_at(60, 4), gettid());
	assert_int_equal(word_at(64, 8), (uintptr_t)code);
	assert_int_equal(word_at(72, 8), (uintptr_t)code);
	assert_int_equal(word_at(80, 8), sizeof(code));
	assert_int_equal(word_at(88, 8), 0);
	assert_memory_equal(content + 96, "mul\0\x55\x5d\xc3", 7);
	assert_int_equal(word_at(103, 4), 3);
	assert_int_equal(word_at(107, 4), 16);
}

/* Mappings of the dump that are executable. */
static unsigned int count_markers(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int found = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		found += strstr(line, dump_path) && strstr(line, " r-xp ");
	fclose(maps);
	return found;
}

static void perf_sees_a_jitdump_by_its_mapping(void **state)
{
	struct bobbin_jitdump *dump;

	(void)state;
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), 0);
	assert_int_equal(count_markers(), 1);
	assert_int_equal(bobbin_jitdump_close(dump), 0);
	assert_int_equal(count_markers(), 0);
	assert_int_equal(bobbin_jitdump_close(NULL), 0);
}

static void a_process_has_one_jitdump_in_a_folder(void **state)
{
	struct bobbin_jitdump *dump;

	(void)state;
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), 0);
	assert_int_equal(bobbin_jitdump_close(dump), 0);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), -EEXIST);
	age(dump_path);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), 0);
	assert_int_equal(bobbin_jitdump_close(dump), 0);
	assert_int_equal(read_file(dump_path), 40 + 16);
}

/* In a child: 0 if writes to both files fail. */
static int try_as_child(struct bobbin_perf_map *map, struct bobbin_jitdump *dump)
{
	return bobbin_perf_map_add(map, 1, 1, "child") != -ECHILD ||
	       bobbin_jitdump_add(dump, content, 1, "child") != -ECHILD ||
	       bobbin_jitdump_close(dump) != 0;
}

static void a_forked_child_does_not_write_to_its_parents_files(void **state)
{
	struct bobbin_perf_map *map;
	struct bobbin_jitdump *dump;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(bobbin_perf_map_open(folder, &map), 0);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(try_as_child(map, dump));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	bobbin_perf_map_close(map);
	assert_int_equal(bobbin_jitdump_close(dump), 0);
	assert_int_equal(read_file(map_path), 0);
	assert_int_equal(read_file(dump_path), 40 + 16);
}

/* In a child, with a limit to the size of files. */
static int try_with_limit(void)
{
	const struct rlimit limit = {200, 200};
	struct bobbin_perf_map *map;
	struct bobbin_jitdump *dump;
	char map_file[64];
	int bad;

	signal(SIGXFSZ, SIG_IGN);
	snprintf(map_file, sizeof(map_file), "%s/perf-%d.map", folder, (int)getpid());
	if (bobbin_perf_map_open(folder, &map) ||
	    bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump))
		return 1;
	setrlimit(RLIMIT_FSIZE, &limit);
	memset(content, 'x', 250);
	content[250] = '\0';
	bad = bobbin_jitdump_add(dump, content, 100, "large") != -EFBIG ||
	      bobbin_jitdump_add(dump, content, 10, "small") != 0 ||
	      bobbin_perf_map_add(map, 1, 1, (char *)content) != -ENOSPC ||
	      bobbin_perf_map_add(map, 1, 1, "more") != -EFBIG;
	unlink(map_file);
	return bad || bobbin_jitdump_close(dump);
}

static void what_does_not_fit_leaves_no_half_record(void **state)
{
	char path[64];
	unsigned int count[4];
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child)
		_exit(try_with_limit());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)child);
	count_records(read_file(path), count);
	assert_int_equal(count[0], 1);
	assert_int_equal(count[3], 1);
	unlink(path);
}

static void code_that_cannot_be_read_is_refused_as_such(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bobbin_jitdump *dump;
	unsigned int count[4];
	uint8_t *code = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(mprotect(code + page, page, PROT_NONE), 0);
	assert_int_equal(bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump), 0);
	assert_int_equal(bobbin_jitdump_add(dump, code, 2 * page, "half"), -EFAULT);
	assert_int_equal(bobbin_jitdump_add(dump, code + page, page, "none"), -EFAULT);
	assert_int_equal(bobbin_jitdump_add(dump, code, page, "all"), 0);
	assert_int_equal(bobbin_jitdump_close(dump), 0);
	count_records(read_file(dump_path), count);
	assert_int_equal(count[0], 1);
	assert_int_equal(count[3], 1);
	munmap(code, 2 * page);
}

/* In a child: 0 if nothing is left of a dump that could not be begun, and a retry begins it. */
static int try_without_room(void)
{
	const struct rlimit limit = {10, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
	struct bobbin_jitdump *dump;
	char path[64];
	int bad;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	bad = bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump) != -EFBIG ||
	      access(path, F_OK) == 0;
	setrlimit(RLIMIT_FSIZE, &none);
	if (bad || bobbin_jitdump_open(folder, bobbin_arch_amd64(), &dump))
		return 1;
	unlink(path);
	return bobbin_jitdump_close(dump);
}

static void a_jitdump_that_cannot_be_begun_leaves_no_file(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child)
		_exit(try_without_room());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
		TEST(a_perf_map_has_a_line_for_each_function),
		TEST(long_names_are_cut),
		TEST(what_the_process_has_written_before_stays),
		TEST(what_an_earlier_process_left_is_removed),
		TEST(links_are_not_followed),
		TEST(files_of_others_and_pipes_are_refused),
		TEST(threads_write_whole_lines_and_records),
		TEST(a_jitdump_is_what_perf_documents),
		TEST(perf_sees_a_jitdump_by_its_mapping),
		TEST(a_process_has_one_jitdump_in_a_folder),
		TEST(a_forked_child_does_not_write_to_its_parents_files),
		TEST(what_does_not_fit_leaves_no_half_record),
		TEST(code_that_cannot_be_read_is_refused_as_such),
		TEST(a_jitdump_that_cannot_be_begun_leaves_no_file),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
