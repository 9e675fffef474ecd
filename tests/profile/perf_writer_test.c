/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_reader reads the same as perf_writer has written, and a file is whole or does not
 * exist.  perf_agreement.sh compares with perf.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../own_directory.h"
#include "profile/cgroup_table.h"
#include "profile/perf_format.h"
#include "profile/perf_reader.h"
#include "profile/perf_writer.h"

static const uint64_t ids[] = {10, 11};
/* As it may be asked of the kernel: with what is not written. */
static const struct sample_event cpu_clock = {
	.attr = {.type = PERF_TYPE_SOFTWARE,
		 .config = PERF_COUNT_SW_CPU_CLOCK,
		 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		 .sample_regs_user = 0xff,
		 .sample_stack_user = 8192},
	.name = "cpu-clock",
	.ids = ids,
	.nr_ids = 2,
};
static const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000000, PERF_CONTEXT_USER,
				 0x401000};

static const struct perf_event sample = {
	.type = PERF_RECORD_SAMPLE,
	.misc = PERF_RECORD_MISC_USER,
	.pid = 1,
	.tid = 2,
	.cpu = 3,
	.time = 4000,
	.id = 11,
	.sample = {.ip = 0x401000,
		   .period = 5,
		   .callchain = chain,
		   .callchain_nr = 4,
		   .raw = "raw bytes",
		   .raw_size = 9,
		   .cgroup = 77},
};

static unsigned int files_here(void)
{
	DIR *dir = opendir(".");
	unsigned int nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static void make_file(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	fputs(content, file);
	fclose(file);
}

static struct perf_writer *open_writer(const char *path)
{
	struct perf_writer *writer = NULL;

	assert_int_equal(perf_writer_open(path, &cpu_clock, 1, &writer), 0);
	return writer;
}

static struct perf_reader *open_reader(const char *path)
{
	struct perf_reader *reader = NULL;

	assert_int_equal(perf_reader_open(path, NULL, &reader), 0);
	assert_false(perf_reader_truncated(reader));
	return reader;
}

static struct perf_event next(struct perf_reader *reader)
{
	struct perf_event event = {0};

	assert_int_equal(perf_reader_next(reader, NULL, &event), 1);
	return event;
}

/* Write one event, read it again.  The reader is for the caller to close. */
static struct perf_event round_trip(const struct perf_event *event, struct perf_reader **reader)
{
	struct perf_writer *writer = open_writer("data");
	struct perf_event got;

	assert_int_equal(perf_writer_put(writer, event), 0);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	*reader = open_reader("data");
	got = next(*reader);
	assert_int_equal(got.type, event->type);
	assert_int_equal(got.misc, event->misc);
	assert_int_equal(got.pid, event->pid);
	assert_int_equal(got.tid, event->tid);
	assert_int_equal(got.cpu, event->cpu);
	assert_int_equal(got.time, event->time);
	assert_int_equal(got.id, event->id);
	return got;
}

static void sample_is_read_as_it_was_written(void **state)
{
	struct perf_reader *reader;
	struct perf_event got = round_trip(&sample, &reader);

	assert_int_equal(got.sample.ip, 0x401000);
	assert_int_equal(got.sample.period, 5);
	assert_int_equal(got.sample.callchain_nr, 4);
	assert_memory_equal(got.sample.callchain, chain, sizeof(chain));
	assert_int_equal(got.sample.raw_size, 12);
	assert_memory_equal(got.sample.raw, "raw bytes\0\0\0", 12);
	assert_int_equal(got.sample.cgroup, 77);
	assert_string_equal(got.attr->name, "cpu-clock");
	perf_reader_close(reader);
}

static void attributes_say_what_is_written(void **state)
{
	struct perf_reader *reader;
	struct perf_event got = round_trip(&sample, &reader);
	const struct perf_event_attr *attr = &got.attr->attr;

	assert_int_equal(attr->config, PERF_COUNT_SW_CPU_CLOCK);
	assert_false(attr->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER));
	assert_true(attr->sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_true(attr->sample_id_all);
	assert_int_equal(attr->sample_regs_user, 0);
	assert_int_equal(attr->sample_stack_user, 0);
	perf_reader_close(reader);
}

static struct perf_event mmap2(void)
{
	return (struct perf_event){
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.pid = 1,
		.tid = 2,
		.cpu = 3,
		.time = 4,
		.id = 10,
		.mmap = {.addr = 0x400000,
			 .len = 0x1000,
			 .pgoff = 0x2000,
			 .maj = 8,
			 .min = 9,
			 .ino = 10,
			 .ino_gen = 11,
			 .prot = 5,
			 .flags = 2,
			 .filename = "/bin/true"},
	};
}

static void samples_are_of_the_event_that_has_their_id(void **state)
{
	static const uint64_t other_ids[] = {20};
	const struct sample_event events[] = {
		cpu_clock,
		{.attr = cpu_clock.attr, .name = "other", .ids = other_ids, .nr_ids = 1}};
	struct perf_event of_other = sample;
	struct perf_writer *writer;
	struct perf_reader *reader;

	(void)state;
	of_other.id = 20;
	of_other.time++;
	assert_int_equal(perf_writer_open("data", events, 2, &writer), 0);
	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_put(writer, &of_other), 0);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	reader = open_reader("data");
	assert_string_equal(next(reader).attr->name, "cpu-clock");
	assert_string_equal(next(reader).attr->name, "other");
	perf_reader_close(reader);
}

static void mapping_is_read_as_it_was_written(void **state)
{
	struct perf_event event = mmap2(), got;
	struct perf_reader *reader;

	got = round_trip(&event, &reader);
	assert_int_equal(got.mmap.addr, 0x400000);
	assert_int_equal(got.mmap.len, 0x1000);
	assert_int_equal(got.mmap.pgoff, 0x2000);
	assert_int_equal(got.mmap.maj, 8);
	assert_int_equal(got.mmap.min, 9);
	assert_int_equal(got.mmap.ino, 10);
	assert_int_equal(got.mmap.ino_gen, 11);
	assert_int_equal(got.mmap.prot, 5);
	assert_int_equal(got.mmap.flags, 2);
	assert_string_equal(got.mmap.filename, "/bin/true");
	assert_int_equal(got.mmap.build_id_len, 0);
	perf_reader_close(reader);
}

static void mapping_with_build_id_is_read_as_it_was_written(void **state)
{
	struct perf_event event = mmap2(), got;
	struct perf_reader *reader;

	event.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	event.mmap.build_id_len = 16;
	memcpy(event.mmap.build_id, "sixteen bytes!!", 16);
	got = round_trip(&event, &reader);
	assert_int_equal(got.mmap.build_id_len, 16);
	assert_memory_equal(got.mmap.build_id, "sixteen bytes!!", 16);
	assert_int_equal(got.mmap.prot, 5);
	assert_string_equal(got.mmap.filename, "/bin/true");
	perf_reader_close(reader);
}

static void other_records_are_read_as_they_were_written(void **state)
{
	struct perf_event event = {.pid = 1, .tid = 2, .cpu = 3, .time = 4, .id = 10};
	struct perf_reader *reader;
	struct perf_event got;

	event.type = PERF_RECORD_COMM;
	event.misc = PERF_RECORD_MISC_COMM_EXEC;
	event.comm.comm = "a comm";
	event.comm.exec = true;
	got = round_trip(&event, &reader);
	assert_string_equal(got.comm.comm, "a comm");
	assert_true(got.comm.exec);
	perf_reader_close(reader);

	event.misc = 0;
	event.task.ppid = 5;
	event.task.ptid = 6;
	event.type = PERF_RECORD_FORK;
	got = round_trip(&event, &reader);
	assert_int_equal(got.task.ppid, 5);
	assert_int_equal(got.task.ptid, 6);
	perf_reader_close(reader);
	event.type = PERF_RECORD_EXIT;
	got = round_trip(&event, &reader);
	assert_int_equal(got.task.ptid, 6);
	perf_reader_close(reader);

	event.ksymbol = (struct perf_ksymbol){0xffffffffc0001000, 80, true, "bpf_prog_1"};
	event.type = PERF_RECORD_KSYMBOL;
	got = round_trip(&event, &reader);
	assert_int_equal(got.ksymbol.addr, 0xffffffffc0001000);
	assert_int_equal(got.ksymbol.len, 80);
	assert_true(got.ksymbol.gone);
	assert_string_equal(got.ksymbol.name, "bpf_prog_1");
	perf_reader_close(reader);

	event.lost = 77;
	event.type = PERF_RECORD_LOST;
	assert_int_equal(round_trip(&event, &reader).lost, 77);
	perf_reader_close(reader);
	event.type = PERF_RECORD_LOST_SAMPLES;
	assert_int_equal(round_trip(&event, &reader).lost, 77);
	perf_reader_close(reader);
}

static void cgroups_are_known_from_the_beginning_on(void **state)
{
	const struct perf_event event = {
		.type = PERF_RECORD_CGROUP, .id = 10, .cgroup = {77, "/a/b: c"}};
	struct perf_writer *writer = open_writer("data");
	struct perf_reader *reader;
	struct perf_event got;

	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_put(writer, &event), 0);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	reader = open_reader("data");
	assert_null(perf_reader_cgroup(reader, 0));
	assert_null(perf_reader_cgroup(reader, 78));
	assert_string_equal(perf_reader_cgroup(reader, next(reader).sample.cgroup)->path,
			    "/a/b: c");
	got = next(reader);
	assert_int_equal(got.type, PERF_RECORD_CGROUP);
	assert_int_equal(got.cgroup.id, 77);
	assert_string_equal(got.cgroup.path, "/a/b: c");
	perf_reader_close(reader);
}

static void features_are_read_as_they_were_written(void **state)
{
	const char *words[] = {"bobbin", "record", "", "a b", NULL};
	struct perf_writer_info info = {.version = "1.2", .argv = words};
	struct perf_writer *writer = open_writer("data");
	struct perf_reader *reader;
	const uint32_t nr_cpus[] = {(uint32_t)sysconf(_SC_NPROCESSORS_CONF),
				    (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	struct utsname machine;
	struct perf_span cmdline;
	const char *string;

	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_finish(writer, &info), 0);

	reader = open_reader("data");
	uname(&machine);
	assert_int_equal(
		perf_feature_string(perf_reader_feature(reader, PERF_FILE_HOSTNAME), &string), 0);
	assert_string_equal(string, machine.nodename);
	assert_int_equal(perf_feature_string(perf_reader_feature(reader, PERF_FILE_ARCH), &string),
			 0);
	assert_string_equal(string, machine.machine);
	assert_int_equal(
		perf_feature_string(perf_reader_feature(reader, PERF_FILE_OSRELEASE), &string), 0);
	assert_string_equal(string, machine.release);
	assert_int_equal(
		perf_feature_string(perf_reader_feature(reader, PERF_FILE_VERSION), &string), 0);
	assert_string_equal(string, "1.2");
	assert_int_equal(perf_feature_string(perf_reader_feature(reader, 9), &string), -ENODATA);
	assert_int_equal(perf_reader_feature(reader, PERF_FILE_NRCPUS).size, sizeof(nr_cpus));
	assert_memory_equal(perf_reader_feature(reader, PERF_FILE_NRCPUS).data, nr_cpus,
			    sizeof(nr_cpus));
	cmdline = perf_reader_feature(reader, PERF_FILE_CMDLINE);
	assert_int_equal(cmdline.size, 4 + 4 * (4 + PERF_FILE_STRING_ALIGN));
	for (size_t i = 0; words[i]; i++)
		assert_string_equal((const char *)cmdline.data + 8 +
					    i * (4 + PERF_FILE_STRING_ALIGN),
				    words[i]);
	assert_int_equal(perf_reader_feature(reader, PERF_FILE_SAMPLE_TIME).size, 16);
	perf_reader_close(reader);
}

static void rounds_do_not_disturb(void **state)
{
	struct perf_writer *writer = open_writer("data");
	struct perf_reader *reader;

	for (int i = 0; i < 10000; i++) {
		assert_int_equal(perf_writer_put(writer, &sample), 0);
		assert_int_equal(perf_writer_round(writer), 0);
	}
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	reader = open_reader("data");
	assert_int_equal(perf_reader_stats(reader)->samples, 10000);
	perf_reader_close(reader);
}

static void sample_that_does_not_fit_is_refused_alone(void **state)
{
	static const uint64_t deep[8192];
	struct perf_writer *writer = open_writer("data");
	struct perf_event large = sample;
	struct perf_reader *reader;

	large.sample.callchain = deep;
	large.sample.callchain_nr = 8192;
	assert_int_equal(perf_writer_put(writer, &large), -E2BIG);
	large.sample.callchain_nr = 8182;
	assert_int_equal(perf_writer_put(writer, &large), -E2BIG);
	large.sample.callchain_nr = 8180;
	assert_int_equal(perf_writer_put(writer, &large), 0);
	large.sample.callchain_nr = UINT64_MAX / 8;
	assert_int_equal(perf_writer_put(writer, &large), -E2BIG);
	large.type = PERF_RECORD_SWITCH;
	assert_int_equal(perf_writer_put(writer, &large), -EINVAL);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	reader = open_reader("data");
	assert_int_equal(perf_reader_stats(reader)->events, 1);
	assert_int_equal(next(reader).sample.callchain_nr, 8180);
	perf_reader_close(reader);
}

static void nothing_has_the_name_before_the_end(void **state)
{
	struct perf_writer *writer = open_writer("data");

	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(size_of("data"), -1);
	assert_int_equal(files_here(), 1);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	assert_true(size_of("data") > 0);
	assert_int_equal(files_here(), 1);
}

static void aborted_recording_leaves_nothing(void **state)
{
	struct perf_writer *writer = open_writer("data");

	assert_int_equal(perf_writer_put(writer, &sample), 0);
	perf_writer_abort(writer);
	perf_writer_abort(NULL);
	assert_int_equal(files_here(), 0);
}

static void existing_file_becomes_old(void **state)
{
	struct perf_writer *writer;

	make_file("data", "before");
	make_file("data.old", "long before");
	writer = open_writer("data");
	assert_int_equal(size_of("data"), 6);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	assert_int_equal(size_of("data.old"), 6);
	assert_true(size_of("data") > 100);
	assert_int_equal(files_here(), 2);
}

static void empty_file_is_simply_replaced(void **state)
{
	make_file("data", "");
	assert_int_equal(perf_writer_finish(open_writer("data"), NULL), 0);
	assert_true(size_of("data") > 100);
	assert_int_equal(files_here(), 1);
}

static void new_file_is_for_its_owner_only(void **state)
{
	struct stat st;

	assert_int_equal(perf_writer_finish(open_writer("data"), NULL), 0);
	assert_int_equal(stat("data", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void symbolic_link_is_followed(void **state)
{
	struct perf_writer *writer;
	struct stat st;

	assert_int_equal(mkdir("there", 0700), 0);
	make_file("there/real", "before");
	assert_int_equal(symlink("there/real", "data"), 0);
	assert_int_equal(perf_writer_finish(open_writer("data"), NULL), 0);
	assert_int_equal(lstat("data", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_true(size_of("there/real") > 100);
	assert_int_equal(size_of("there/real.old"), 6);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(perf_writer_open("dangling", &cpu_clock, 1, &writer), -ENOENT);
}

static void working_directory_may_change_meanwhile(void **state)
{
	struct perf_writer *writer = open_writer("data");

	assert_int_equal(chdir("/"), 0);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	assert_int_equal(chdir(*state), 0);
	assert_true(size_of("data") > 100);
}

static void devices_are_written_directly(void **state)
{
	struct perf_writer *writer = open_writer("/dev/null");
	struct stat st;

	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(perf_writer_finish(open_writer("/dev/full"), NULL), -ENOSPC);
	assert_int_equal(stat("/dev/full", &st), 0);
}

static void what_cannot_be_replaced_is_refused(void **state)
{
	struct perf_writer *writer;

	assert_int_equal(perf_writer_open(".", &cpu_clock, 1, &writer), -EISDIR);
	assert_int_equal(perf_writer_open("new/", &cpu_clock, 1, &writer), -EISDIR);
	assert_int_equal(perf_writer_open("no/data", &cpu_clock, 1, &writer), -ENOENT);
	assert_int_equal(mkdir("data.old", 0700), 0);
	assert_int_equal(perf_writer_open("data", &cpu_clock, 1, &writer), -EISDIR);
	assert_int_equal(files_here(), 1);
}

/* A writer to a pipe whose other end is @fd. */
static struct perf_writer *open_stream(int *fd)
{
	struct perf_writer *writer;
	char path[32];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	writer = open_writer(path);
	close(fds[1]);
	*fd = fds[0];
	return writer;
}

static void a_pipe_gets_records_at_each_round(void **state)
{
	static _Alignas(8) uint8_t bytes[65536];
	struct perf_reader *reader;
	struct perf_event event;
	const char *arch;
	ssize_t size, n;
	int fd;
	struct perf_writer *writer = open_stream(&fd);

	assert_true(perf_writer_is_stream(writer));
	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_round(writer), 0);
	size = read(fd, bytes, sizeof(bytes));
	assert_int_equal(perf_reader_open_bytes(bytes, (size_t)size, NULL, &reader), 0);
	assert_int_equal(perf_reader_stats(reader)->samples, 1);
	perf_reader_close(reader);

	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	while ((n = read(fd, bytes + size, sizeof(bytes) - (size_t)size)) > 0)
		size += n;
	assert_int_equal(perf_reader_open_bytes(bytes, (size_t)size, NULL, &reader), 0);
	assert_false(perf_reader_truncated(reader));
	assert_int_equal(perf_feature_string(perf_reader_feature(reader, PERF_FILE_ARCH), &arch),
			 0);
	event = next(reader);
	assert_string_equal(event.attr->name, cpu_clock.name);
	assert_int_equal(event.sample.callchain_nr, sample.sample.callchain_nr);
	assert_int_equal(next(reader).time, sample.time);
	perf_reader_close(reader);
	close(fd);
	assert_int_equal(files_here(), 0);
}

static void a_pipe_that_nobody_reads_is_an_error(void **state)
{
	int fd;
	struct perf_writer *writer = open_stream(&fd);

	close(fd);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(perf_writer_put(writer, &sample), 0);
	assert_int_equal(perf_writer_round(writer), -EPIPE);
	assert_int_equal(perf_writer_put(writer, &sample), -EPIPE);
	assert_int_equal(perf_writer_finish(writer, NULL), -EPIPE);
}

/* A header of 65,535 bytes is the largest: of a single event some ids may be missing. */
static void a_pipe_takes_an_event_of_many_ids(void **state)
{
	static uint64_t many[20000];
	struct sample_event event = cpu_clock;
	struct perf_writer *writer;

	event.ids = many;
	event.nr_ids = 20000;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_not_equal(open("fifo", O_RDWR), -1);
	assert_int_equal(perf_writer_open("fifo", &event, 1, &writer), 0);
	perf_writer_abort(writer);
}

/* Returns through the exit status, so that the limit dies with the process. */
static int write_too_much(uint64_t *kept)
{
	struct rlimit limit = {1 << 20, 1 << 20};
	struct perf_writer *writer;
	int r = 0;

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) || perf_writer_open("data", &cpu_clock, 1, &writer))
		return 1;
	for (int i = 0; i < 100000 && !r; i++)
		r = perf_writer_put(writer, &sample);
	if (r != -EFBIG || perf_writer_put(writer, &sample) != -EFBIG)
		return 2;
	return perf_writer_finish(writer, &(struct perf_writer_info){.kept = kept}) == -EFBIG ? 0
											      : 3;
}

/* The events are whole, and followed by the features. */
static void assert_cut(uint64_t kept)
{
	struct perf_reader *reader = open_reader("data");
	const char *arch;

	assert_false(perf_reader_truncated(reader));
	assert_true(kept > 1000);
	assert_int_equal(perf_reader_stats(reader)->samples, kept);
	assert_int_equal(perf_feature_string(perf_reader_feature(reader, PERF_FILE_ARCH), &arch),
			 0);
	perf_reader_close(reader);
}

static void file_that_cannot_grow_keeps_what_fits(void **state)
{
	uint64_t *kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0);
	int status;
	pid_t pid;

	make_file("data", "before");
	pid = fork();
	if (!pid)
		_exit(write_too_much(kept));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(size_of("data") <= 1 << 20);
	assert_int_equal(size_of("data.old"), 6);
	assert_int_equal(files_here(), 2);
	assert_cut(*kept);
	munmap(kept, 4096);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sample_is_read_as_it_was_written),
		TEST(attributes_say_what_is_written),
		TEST(samples_are_of_the_event_that_has_their_id),
		TEST(mapping_is_read_as_it_was_written),
		TEST(mapping_with_build_id_is_read_as_it_was_written),
		TEST(other_records_are_read_as_they_were_written),
		TEST(cgroups_are_known_from_the_beginning_on),
		TEST(features_are_read_as_they_were_written),
		TEST(rounds_do_not_disturb),
		TEST(sample_that_does_not_fit_is_refused_alone),
		TEST(nothing_has_the_name_before_the_end),
		TEST(aborted_recording_leaves_nothing),
		TEST(existing_file_becomes_old),
		TEST(empty_file_is_simply_replaced),
		TEST(new_file_is_for_its_owner_only),
		TEST(symbolic_link_is_followed),
		TEST(working_directory_may_change_meanwhile),
		TEST(devices_are_written_directly),
		TEST(what_cannot_be_replaced_is_refused),
		TEST(a_pipe_gets_records_at_each_round),
		TEST(a_pipe_that_nobody_reads_is_an_error),
		TEST(a_pipe_takes_an_event_of_many_ids),
		TEST(file_that_cannot_grow_keeps_what_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
