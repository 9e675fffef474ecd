/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bounded_calls.c - what a process can make the kernel do for it, and for how long.
 *
 * Root starts it: others may not have a userfaultfd that waits for the kernel.  What is counted
 * is page faults, bytes, and how times compare; no clock has to be right.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "called_code.h"

#define PAGE 4096UL
#define LARGE (128UL << 20)
/* a program has some hundred; each page of LARGE would be one */
#define FEW_FAULTS 4096
#define RANGES 1025
#define PT_GNU_SFRAME 0x6474e554

static uint8_t large[LARGE] __attribute__((aligned(4096)));

static long faults(void)
{
	struct rusage usage;

	promise(!getrusage(RUSAGE_SELF, &usage));
	return usage.ru_minflt;
}

static int exit_code(pid_t pid)
{
	int status;

	promise(pid >= 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* This program, with a note that is called a section, of zeros. */
static int program_with_large_section(void)
{
	int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("program", 0);
	Elf64_Phdr phdr;
	Elf64_Ehdr head;
	struct stat st;

	promise(from >= 0 && to >= 0 && !fstat(from, &st));
	for (off_t left = st.st_size; left > 0;) {
		ssize_t got = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
		char room[65536];

		if (got <= 0) {
			got = read(from, room, sizeof(room));
			promise(got > 0 && write(to, room, (size_t)got) == got);
		}
		left -= got;
	}
	promise(pread(to, &head, sizeof(head), 0) == sizeof(head));
	for (off_t at = (off_t)head.e_phoff;; at += (off_t)sizeof(phdr)) {
		promise(pread(to, &phdr, sizeof(phdr), at) == sizeof(phdr));
		if (phdr.p_type != PT_NOTE)
			continue;
		phdr.p_type = PT_GNU_SFRAME;
		phdr.p_vaddr = (uintptr_t)large;
		phdr.p_memsz = sizeof(large);
		promise(pwrite(to, &phdr, sizeof(phdr), at) == sizeof(phdr));
		break;
	}
	close(from);
	return to;
}

static void exec_does_not_read_a_section(void)
{
	int program = program_with_large_section();
	char *const argv[] = {"bounded_calls", "faults", NULL}, *const none[] = {NULL};
	pid_t child = fork();

	if (!child) {
		fexecve(program, argv, none);
		_exit(2);
	}
	promise(!exit_code(child));
	close(program);
}

static void registration_does_not_read_a_section(void)
{
	struct called_code code = called_code_open(1);
	long before = faults();

	promise(!called_code_register(&code, large, sizeof(large)));
	promise(faults() - before < FEW_FAULTS);
	promise(!called_code_unregister(large));
	called_code_close(&code);
}

/* A table of functions without end, which a kernel that validates looks at. */
static void registration_can_be_killed(void)
{
	struct called_code code = called_code_open(1);
	const uint32_t size = LARGE - 28;
	const uint32_t words[] = {0x0503dee2, 0xf8000003, size / 16, 0, 0, 0, size};
	pid_t child = fork();

	if (!child) {
		memcpy(large, words, sizeof(words));
		called_code_register(&code, large, sizeof(large));
		for (;;)
			pause();
	}
	promise(child > 0);
	usleep(100000);
	promise(!kill(child, SIGKILL));
	alarm(120);
	promise(exit_code(child) == -1);
	alarm(0);
	called_code_close(&code);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Text of so many pieces, in sections of @each; how long it takes to unmap. */
static uint64_t time_of_unmapping(unsigned int each, unsigned int pieces)
{
	static struct code_text_range ranges[RANGES];
	const size_t size = (size_t)pieces * 32;
	uint8_t *text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start;

	promise(text != MAP_FAILED);
	for (unsigned int i = 0; i < pieces; i += each) {
		uint64_t at = (uintptr_t)text + (uint64_t)i * 32;
		const struct code_elf_info info = {.text_start = at,
						   .text_end = at + 16,
						   .text_ranges = each > 1 ? (uintptr_t)ranges : 0,
						   .text_range_count = each - 1};

		for (unsigned int n = 1; n < each; n++)
			ranges[n - 1] = (struct code_text_range){at + 32 * n, at + 32 * n + 16};
		promise(!guest_codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0));
	}
	start = now();
	promise(!munmap(text, size));
	return now() - start;
}

static uint64_t least_time_of_unmapping(unsigned int each, unsigned int pieces)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t time = time_of_unmapping(each, pieces);

		least = time < least ? time : least;
	}
	return least;
}

/* With a search through its other ranges for each, one is fifty times the other. */
static void unmapping_is_linear(void)
{
	const unsigned int pieces = 8 * RANGES;
	uint64_t one = least_time_of_unmapping(1, pieces),
		 many = least_time_of_unmapping(RANGES, pieces);

	promise(many < 8 * one);
}

/* In the registers of a 32-bit call. */
static int call_32(unsigned int number, unsigned int a, unsigned int b, unsigned int c,
		   unsigned int d, unsigned int e)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory", "r8", "r9", "r10", "r11");
	return -result;
}

#define PRCTL_32 172

static void tasks_of_32_bits_have_no_sections(void)
{
	uint8_t *low = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	unsigned int at = (unsigned int)(uintptr_t)low;

	promise(low != MAP_FAILED);
	promise(call_32(PRCTL_32, PR_ADD_SFRAME, at, at + 100, at + PAGE, at + 2 * PAGE) == EINVAL);
	/* the same is right for others */
	promise(!prctl(PR_ADD_SFRAME, at, at + 100, at + PAGE, at + 2 * PAGE));
	munmap(low, 2 * PAGE);
}

/* Where the kernel has mapped a file. */
static uint8_t *place_of(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[512];

	promise(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, name) && sscanf(line, "%lx-", &start) == 1)
			break;
	fclose(maps);
	return strstr(line, name) ? (uint8_t *)start : NULL;
}

static void unregistering_unmaps_what_is_its_own(void)
{
	struct called_code code = called_code_open(1);
	int fd = memfd_create("the-table", 0);
	const struct code_elf_info info = {.text_start = (uintptr_t)code.text,
					   .text_end = (uintptr_t)code.text + code.size,
					   .table_flags = CODE_TABLE_FILE,
					   .table_fd = fd,
					   .table_size = 3 * PAGE,
					   .table_addr = (uintptr_t)code.text};
	uint8_t *at, core[3];

	promise(fd >= 0 && !ftruncate(fd, 3 * PAGE));
	promise(!guest_codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0));
	at = place_of("the-table");
	promise(at);
	promise(mmap(at + PAGE, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at + PAGE);
	at[PAGE] = 42;
	promise(!guest_codectl(CODE_UNREGISTER, &info, sizeof(info), 0));
	promise(!place_of("the-table"));
	promise(!mincore(at + PAGE, PAGE, core) && at[PAGE] == 42);
	promise(mincore(at, PAGE, core) && errno == ENOMEM);
	promise(mincore(at + 2 * PAGE, PAGE, core) && errno == ENOMEM);
	close(fd);
	called_code_close(&code);
}

static void children_lack_text_that_is_not_theirs(void)
{
	struct called_code code = called_code_open(1);
	static uint8_t section[2][256] __attribute__((aligned(8)));
	size_t size = called_code_section(&code, section[0], sizeof(section[0]));
	pid_t child;

	called_code_section(&code, section[1], sizeof(section[1]));
	promise(!called_code_register(&code, section[0], size));
	promise(!madvise(code.text, code.size, MADV_DONTFORK));
	child = fork();
	if (!child) {
		promise(mmap(code.text, code.size, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			     0) == code.text);
		_exit(called_code_register(&code, section[1], size));
	}
	promise(!exit_code(child));
	promise(!called_code_unregister(section[0]));
	called_code_close(&code);
}

static volatile bool ended;
static volatile unsigned long sink;

static void compute(void)
{
	while (!ended)
		sink++;
}

/* Have perf walk the stacks of this thread before it returns to user space. */
static void be_walked(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 200000,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
				       .exclude_kernel = 1,
				       .exclude_callchain_kernel = 1};
	/* defer_callchain, defer_output: older headers do not have them */
	uint64_t flags;
	int fd;

	memcpy(&flags, (char *)&attr + 40, sizeof(flags));
	flags |= 3ull << 38;
	memcpy((char *)&attr + 40, &flags, sizeof(flags));
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	promise(fd >= 0);
	promise(mmap(NULL, 9 * PAGE, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
}

static void *walked(void *arg)
{
	be_walked();
	called_code_call(arg, 0, compute);
	return NULL;
}

static long slab_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	promise(file);
	while (fgets(line, sizeof(line), file) && sscanf(line, "Slab: %ld", &kib) != 1)
		;
	fclose(file);
	return kib;
}

static void register_often(const struct called_code *code, unsigned int times)
{
	static uint8_t section[256] __attribute__((aligned(8)));
	size_t size = called_code_section(code, section, sizeof(section));

	for (unsigned int i = 0; i < times; i++) {
		promise(!called_code_register(code, section, size));
		promise(!called_code_unregister(section));
	}
}

/* While a walk waits for a page of one section, all others are freed. */
static void waiting_keeps_one_section(void)
{
	struct called_code code = called_code_open(1), other = called_code_open(1);
	uint8_t *room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	struct uffdio_register range = {.range = {(uintptr_t)room, PAGE},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct uffdio_api api = {.api = UFFD_API};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct pollfd waits = {.fd = fd, .events = POLLIN};
	uint8_t copy[PAGE];
	struct uffdio_copy answer = {.dst = (uintptr_t)room, .src = (uintptr_t)copy, .len = PAGE};
	pthread_t thread;
	long before;

	promise(room != MAP_FAILED && fd >= 0);
	promise(!called_code_register(&code, room, called_code_section(&code, room, PAGE)));
	memcpy(copy, room, PAGE);
	promise(!madvise(room, PAGE, MADV_DONTNEED));
	promise(!ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range));
	promise(!pthread_create(&thread, NULL, walked, &code));
	promise(poll(&waits, 1, -1) == 1);
	register_often(&other, 1000);
	before = slab_kib();
	register_often(&other, 50000);
	/* RCU frees when it has time */
	for (int i = 0; i < 100 && slab_kib() - before > 2048; i++)
		usleep(100000);
	promise(slab_kib() - before <= 2048);
	ended = true;
	promise(!ioctl(fd, UFFDIO_COPY, &answer));
	pthread_join(thread, NULL);
	close(fd);
	called_code_close(&code);
	called_code_close(&other);
}

int main(int argc, char **argv __attribute__((unused)))
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"exec does not read a section", exec_does_not_read_a_section},
		{"registration does not read a section", registration_does_not_read_a_section},
		{"registration can be killed", registration_can_be_killed},
		{"unmapping is linear", unmapping_is_linear},
		{"tasks of 32 bits have no sections", tasks_of_32_bits_have_no_sections},
		{"unregistering unmaps what is its own", unregistering_unmaps_what_is_its_own},
		{"children lack text that is not theirs", children_lack_text_that_is_not_theirs},
		{"waiting keeps one section", waiting_keeps_one_section},
	};
	unsigned int done = 0;

	/* exec did it */
	if (argc > 1)
		return faults() >= FEW_FAULTS;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pid_t child = fork();

		if (!child) {
			cases[i].run();
			_exit(0);
		}
		if (exit_code(child))
			printf("bounded: %s: no\n", cases[i].name);
		else
			done++;
	}
	if (done == sizeof(cases) / sizeof(*cases))
		printf("bounded: %u calls: done\n", done);
	return 0;
}
