// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_calls.c - the calls of a kernel with bobbin's unwinder, with arguments of chance, while
 * the text and the sections that are registered come and go, and while perf walks the stacks.
 *
 *	fuzz_calls SECONDS [SEED]
 *
 * Each round is a process of a seed of its own, with threads.  Text and sections lie in one
 * piece of memory, so that calls of chance hit each other.  What is wrong the kernel tells; the
 * last line here says what was done, and each kind of call must have succeeded at times.
 */
#include <bobbin/code_abi.h>
#include <bobbin/sframe_builder.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/native_arch.h"

#define NR_SFRAME_REGISTER 472
#define NR_SFRAME_UNREGISTER 473
#define NR_CODECTL 474
#define PR_ADD_SFRAME 82
#define PR_REMOVE_SFRAME 83

#define PAGE 4096ull
#define ARENA 0x200000000000ull
#define PAGES 64
#define SECTION_SIZE 512
#define STEPS 400
#define THREADS 3
#define RING_PAGES 8

/* bits of struct perf_event_attr that older headers do not have */
#define DEFER_CALLCHAIN (1ull << 38)
#define DEFER_OUTPUT (1ull << 39)

enum deed {
	MAP,
	UNMAP,
	PROTECT,
	MOVE,
	FILL,
	SPOIL,
	REGISTER,
	UNREGISTER,
	ADD,
	REMOVE,
	ELF,
	TABLE_FILE,
	JIT,
	CODE_DROP,
	FORK,
	RUN,
	DEEDS
};

static const char *const names[DEEDS] = {"mmap",      "munmap",       "mprotect", "mremap",
					 "fill",      "spoil",        "register", "unregister",
					 "prctl add", "prctl remove", "elf",      "file",
					 "jit",       "drop",         "fork",     "run"};

/* shared with all rounds */
struct tally {
	atomic_ulong tried[DEEDS], done[DEEDS];
	atomic_ulong samples;
};

struct fuzzer {
	uint64_t random;
	int file, event;
	struct perf_event_mmap_page *ring;
	sigjmp_buf fault;
	uint8_t fault_stack[16384];
};

static struct tally *tally;
static _Thread_local struct fuzzer *self;

static uint64_t chance(uint64_t below)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return (self->random >> 11) % below;
}

static uint64_t any_page(void)
{
	return ARENA + chance(PAGES) * PAGE;
}

static uint64_t any_size(void)
{
	return (1 + chance(chance(8) ? 4 : PAGES)) * PAGE;
}

/* Mostly what it is; at times something near, or far. */
static uint64_t nearly(uint64_t value)
{
	static const uint64_t odd[] = {
		0, 1, 8, PAGE, UINT64_MAX, 1ull << 63, 0x7ffffffff000, 1ull << 40};

	switch (chance(40)) {
	case 0:
		return value + chance(17) - 8;
	case 1:
		return value ^ 1ull << chance(64);
	case 2:
		return odd[chance(sizeof(odd) / sizeof(*odd))];
	case 3:
		return any_page();
	default:
		return value;
	}
}

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(self->fault, 1);
}

/* A section for some pages of text; @where it will be. */
static size_t make_section(uint64_t where, uint64_t text, uint8_t room[SECTION_SIZE])
{
	struct bobbin_sframe_function function = {.start = text, .size = 64};
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[4];
	uint8_t rows[256];

	if (bobbin_sframe_builder_init(native_arch(), where, chance(3) ? 3 : 2, &builder))
		return 0;
	builder.fdes = fdes;
	builder.fde_max = 4;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	for (uint64_t i = chance(5); i; i--) {
		if (bobbin_sframe_builder_add(&builder, &function))
			return 0;
		function.start += 64;
	}
	if (bobbin_sframe_builder_finish(&builder, room, SECTION_SIZE))
		return 0;
	return bobbin_sframe_builder_size(&builder);
}

/* A page's section is for the text of the next page, mostly. */
static uint64_t text_of(uint64_t section)
{
	return section + (chance(8) ? PAGE : 2 * PAGE);
}

static bool fill(void)
{
	uint64_t at = any_page();
	uint8_t room[SECTION_SIZE];
	size_t size = make_section(at, text_of(at), room);

	if (mmap((void *)at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		return false;
	if (size)
		memcpy((void *)at, room, size);
	return size;
}

static bool spoil(void)
{
	volatile uint8_t *at = (volatile uint8_t *)any_page();

	for (uint64_t i = 1 + chance(8); i; i--)
		at[chance(chance(4) ? 64 : PAGE)] ^= (uint8_t)(1 + chance(255));
	return true;
}

/* A loop that perf finds the process in, and returns. */
static bool run(void)
{
	static const uint8_t code[] = {0xb9, 0x00, 0x00, 0x04, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	uint64_t at = any_page();

	if (mprotect((void *)at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	memcpy((void *)(at + 4 * chance(32)), code, sizeof(code));
	memcpy((void *)at, code, sizeof(code));
	((void (*)(void))at)();
	return true;
}

static struct sframe_setup setup_of(uint64_t section)
{
	return (struct sframe_setup){.sframe_start = nearly(section),
				     .sframe_size = nearly(chance(2) ? PAGE : SECTION_SIZE),
				     .text_start = nearly(text_of(section)),
				     .text_size = nearly(PAGE),
				     .flags = nearly(0)};
}

static size_t size_of(size_t size)
{
	return chance(16) ? size : chance(8192);
}

static bool registers(void)
{
	struct sframe_setup setup = setup_of(any_page());

	return !syscall(NR_SFRAME_REGISTER, nearly((uintptr_t)&setup), size_of(sizeof(setup)));
}

static bool unregisters(void)
{
	struct sframe_setup setup = {.sframe_start = nearly(any_page()), .flags = nearly(0)};

	return !syscall(NR_SFRAME_UNREGISTER, nearly((uintptr_t)&setup), size_of(sizeof(setup)));
}

static bool adds(void)
{
	struct sframe_setup s = setup_of(any_page());

	return !prctl(PR_ADD_SFRAME, s.sframe_start, s.sframe_start + s.sframe_size, s.text_start,
		      s.text_start + s.text_size);
}

static bool code_call(unsigned int option, void *info, size_t size)
{
	return !syscall(NR_CODECTL, nearly(option), nearly((uintptr_t)info), size_of(size),
			nearly(0));
}

/* Its one more range may be anything. */
static bool register_elf(bool in_file, unsigned int option)
{
	uint64_t section = any_page(), text = text_of(section);
	struct code_text_range more = {nearly(any_page()), nearly(any_page())};
	uint8_t room[SECTION_SIZE];
	struct code_elf_info info = {.text_start = nearly(text),
				     .text_end = nearly(text + PAGE),
				     .pathname = chance(8) ? 0 : (uintptr_t) "name",
				     .reserved = (uint32_t)nearly(0)};

	if (!chance(4)) {
		info.text_ranges = nearly((uintptr_t)&more);
		info.text_range_count = (uint32_t)nearly(1);
	}
	if (in_file) {
		size_t size = make_section(section, text, room);

		info.table_flags = (uint32_t)nearly(CODE_TABLE_FILE);
		info.table_fd = (int32_t)nearly((uint64_t)self->file);
		info.table_offset = nearly(chance(4) * PAGE / 2);
		info.table_size = nearly(size);
		info.table_addr = nearly(section);
		if (pwrite(self->file, room, size, (off_t)(info.table_offset & 0xffff)) < 0)
			return false;
	} else if (chance(8)) {
		info.sframe_start = nearly(section);
		info.sframe_end = nearly(section + PAGE);
	}
	return code_call(option, &info, chance(4) ? sizeof(info) : CODE_ELF_INFO_SIZE_VER0);
}

static bool register_jit(unsigned int option)
{
	uint64_t at = any_page(), text = text_of(at);
	struct code_jit_info info = {nearly(text), nearly(text + PAGE), nearly(at)};
	struct code_jit_unwind_table table = {
		.reserved_len = nearly(240), .used_len = nearly(24), .next = nearly(0)};
	struct code_jit_unwind_fre fre = {.size = PAGE, .cfa_off = 8, .info = 3};

	if (option == CODE_REGISTER_JIT && chance(2)) {
		memcpy((void *)at, &table, sizeof(table));
		memcpy((void *)(at + sizeof(table)), &fre, sizeof(fre));
	}
	return code_call(option, &info, sizeof(info));
}

static bool drops(void)
{
	return chance(2) ? register_jit(CODE_UNREGISTER) : register_elf(chance(2), CODE_UNREGISTER);
}

static bool maps(void)
{
	int prot = (int)(chance(4) ? PROT_READ | PROT_EXEC : chance(8));

	return mmap((void *)any_page(), any_size(), prot,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static bool moves(void)
{
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (chance(4) ? 0 : MREMAP_DONTUNMAP);
	uint64_t size = any_size();

	return mremap((void *)any_page(), size, flags & MREMAP_DONTUNMAP ? size : any_size(), flags,
		      any_page()) != MAP_FAILED;
}

static bool one_deed(enum deed deed);

/* A child, which lives on with what it got; at times it executes a program. */
static bool forks(void)
{
	char *const argv[] = {"fuzz_calls", "0", NULL};
	int status;
	pid_t pid = fork();

	if (pid)
		return pid > 0 && waitpid(pid, &status, 0) == pid;
	for (int i = 0; i < 20; i++)
		if (!sigsetjmp(self->fault, 1))
			one_deed((enum deed)chance(FORK));
	if (!chance(4))
		execv("/proc/self/exe", argv);
	_exit(0);
}

static bool one_deed(enum deed deed)
{
	switch (deed) {
	case MAP:
		return maps();
	case UNMAP:
		return !munmap((void *)any_page(), any_size());
	case PROTECT:
		return !mprotect((void *)any_page(), any_size(),
				 chance(2) ? PROT_READ | PROT_EXEC : (int)chance(8));
	case MOVE:
		return moves();
	case FILL:
		return fill();
	case SPOIL:
		return spoil();
	case REGISTER:
		return registers();
	case UNREGISTER:
		return unregisters();
	case ADD:
		return adds();
	case REMOVE:
		return !prctl(PR_REMOVE_SFRAME, nearly(any_page()), nearly(0), nearly(0),
			      nearly(0));
	case ELF:
		return register_elf(false, CODE_REGISTER_ELF);
	case TABLE_FILE:
		return register_elf(true, CODE_REGISTER_ELF);
	case JIT:
		return register_jit(CODE_REGISTER_JIT);
	case CODE_DROP:
		return drops();
	case FORK:
		return forks();
	default:
		return run();
	}
}

/* Have perf walk the stacks of this thread, after the fact. */
static int be_walked(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 200000,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
				       .exclude_kernel = 1,
				       .exclude_callchain_kernel = 1};
	uint64_t flags;
	int fd;

	/* the flags come after five words */
	memcpy(&flags, (char *)&attr + 40, sizeof(flags));
	flags |= DEFER_CALLCHAIN | DEFER_OUTPUT;
	memcpy((char *)&attr + 40, &flags, sizeof(flags));
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		return -1;
	self->ring = mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	return self->ring == MAP_FAILED ? -1 : fd;
}

/* Code of chance may lose its stack before it faults. */
static void catch_faults(void)
{
	const stack_t stack = {.ss_sp = self->fault_stack, .ss_size = sizeof(self->fault_stack)};

	sigaltstack(&stack, NULL);
}

static void *fuzz(void *arg)
{
	struct fuzzer fuzzer = {.random = (uintptr_t)arg * 0x9e3779b97f4a7c15 + 1};

	self = &fuzzer;
	catch_faults();
	fuzzer.file = memfd_create("table", 0);
	if (ftruncate(fuzzer.file, 4 * PAGE))
		return NULL;
	fuzzer.event = be_walked();
	for (volatile int i = 0; i < STEPS; i++) {
		enum deed deed = (enum deed)chance(chance(16) ? FORK : DEEDS);

		atomic_fetch_add(&tally->tried[deed], 1);
		if (!sigsetjmp(fuzzer.fault, 1) && one_deed(deed))
			atomic_fetch_add(&tally->done[deed], 1);
		if (!sigsetjmp(fuzzer.fault, 1) && !(i % 8))
			atomic_fetch_add(&tally->done[RUN], run());
	}
	if (fuzzer.event >= 0 && fuzzer.ring->data_head)
		atomic_fetch_add(&tally->samples, 1);
	return NULL;
}

static void one_round(uint64_t seed)
{
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};
	pthread_t threads[THREADS];

	for (int signal = SIGILL; signal <= SIGSEGV; signal++)
		if (signal == SIGILL || signal == SIGTRAP || signal == SIGBUS || signal == SIGFPE ||
		    signal == SIGSEGV)
			sigaction(signal, &action, NULL);
	alarm(60);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, fuzz, (void *)(seed * THREADS + (uint64_t)i)))
			_exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/* Whether each deed was done at times, and stacks were walked meanwhile. */
static bool is_enough(void)
{
	for (int i = 0; i < DEEDS; i++)
		if (!tally->done[i])
			return false;
	return tally->samples;
}

static void report(uint64_t first, uint64_t end)
{
	for (int i = 0; i < DEEDS; i++)
		printf("fuzz: %s: %lu of %lu\n", names[i], tally->done[i], tally->tried[i]);
	printf("fuzz: seeds %llu to %llu, %lu walked: %s\n", (unsigned long long)first,
	       (unsigned long long)end, tally->samples, is_enough() ? "done" : "too little");
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? atol(argv[1]) : 60;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL), seed = first;
	time_t end = time(NULL) + seconds;

	if (!seconds)
		return 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		return 1;
	printf("fuzz: from seed %llu\n", (unsigned long long)first);
	/* a busy machine gets more time */
	for (; time(NULL) < (is_enough() ? end : end + 20 * seconds); seed++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			one_round(seed);
		if (waitpid(pid, &status, 0) == pid && status)
			printf("fuzz: seed %llu: status %#x\n", (unsigned long long)seed, status);
	}
	report(first, seed);
	return !is_enough();
}
