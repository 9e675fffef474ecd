/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crashing HOW - crash, with the handler of libbobbin-crash.
 *
 * Each way is a function that crash_site() calls, in the chain main, outer, middle, crash_site.
 */
#define _GNU_SOURCE
#include <bobbin/crash.h>

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#define LINK __attribute__((noipa))
/* After a call that is not to become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")
#define THREADS 50

static const char *how;
/* As code it would be: pop %rax; pop %rax; ret. */
static char data[64] = {0x58, 0x58, (char)0xc3};
static atomic_int waiting;
static sigjmp_buf recovery;

typedef void (*function)(void);

LINK void null_call(void)
{
	((function)(uintptr_t)0)();
	STAY();
}

LINK void wild_call(void)
{
	((function)(uintptr_t)0x123450)();
	STAY();
}

LINK void data_call(void)
{
	((function)(uintptr_t)data)();
	STAY();
}

LINK void heap_call(void)
{
	((function)(uintptr_t)calloc(1, 64))();
	STAY();
}

LINK void null_read(void)
{
	*(volatile int *)(uintptr_t)16;
	STAY();
}

LINK unsigned int overflow(unsigned int depth)
{
	volatile char room[64];
	unsigned int r;

	room[0] = (char)depth;
	r = overflow(depth + 1);
	STAY();
	return r + (unsigned int)room[0];
}

LINK void stack_overflow(void)
{
	overflow(0);
	STAY();
}

static void *thread_overflow(void *arg)
{
	stack_overflow();
	STAY();
	return arg;
}

static int c_thread_overflow(void *arg)
{
	stack_overflow();
	STAY();
	return !arg;
}

LINK void overflow_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_overflow, NULL);
	pthread_join(thread, NULL);
}

LINK void overflow_in_c_thread(void)
{
	thrd_t thread;

	thrd_create(&thread, c_thread_overflow, NULL);
	thrd_join(thread, NULL);
}

/* What malloc() keeps before a block is overwritten. */
LINK void corrupted_heap(void)
{
	char *volatile block = malloc(24);

	memset(block - 8, 'A', 32);
	free(block);
	STAY();
}

/* Beyond the last block nothing can be read: malloc() crashes, with its lock held. */
LINK void crash_in_malloc(void)
{
	char *volatile block;
	char *end, *page;

	do {
		block = malloc(1000);
		end = sbrk(0);
	} while (block + 65536 < end || block > end);
	page = (char *)(((uintptr_t)block + 4095) & ~(uintptr_t)4095);
	mprotect(page, (size_t)(end - page), PROT_NONE);
	for (int i = 0; i < 4096; i++)
		block = malloc(1000);
	STAY();
}

LINK void call_abort(void)
{
	abort();
}

LINK void in_handler(void)
{
	null_read();
	STAY();
}

static void on_user(int number)
{
	(void)number;
	in_handler();
	STAY();
}

LINK void crash_in_handler(void)
{
	signal(SIGUSR1, on_user);
	raise(SIGUSR1);
	STAY();
}

/* Room for two signals and hardly more, below which nothing may be written. */
LINK void small_stack(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = (2 * getauxval(AT_MINSIGSTKSZ) + 2047) / 1024 * 1024;
	char *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	const stack_t stack = {.ss_sp = memory + page, .ss_size = size};
	const struct sigaction action = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};

	mprotect(memory, page, PROT_NONE);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	STAY();
}

static struct sigaction before_it;

/* As Ruby's, which knows of no more arguments. */
static void pass_number(int number)
{
	((void (*)(int))(uintptr_t)before_it.sa_sigaction)(number);
	STAY();
}

LINK void number_alone(void)
{
	const struct sigaction action = {.sa_handler = pass_number, .sa_flags = SA_ONSTACK};

	sigaction(SIGSEGV, &action, &before_it);
	null_read();
	STAY();
}

LINK void divide(void)
{
	volatile int zero = 0, one = 1;

	one /= zero;
	STAY();
}

LINK void trap(void)
{
	__asm__ volatile("int3; nop");
	STAY();
}

LINK void illegal(void)
{
	__asm__ volatile("ud2");
	STAY();
}

/* The return address and what is above it are letters. */
__attribute__((noipa, optimize("no-stack-protector"))) void smash(unsigned long size)
{
	volatile char room[16];

	for (unsigned long i = 0; i < size; i++)
		((volatile char *)room)[i] = 'A';
	STAY();
}

LINK void smashed_stack(void)
{
	smash(128);
	STAY();
}

static void *stay(void *arg)
{
	atomic_fetch_add(&waiting, 1);
	for (;;)
		pause();
	return arg;
}

static void *stay_blocked(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return stay(arg);
}

LINK void start_threads(void *(*run)(void *), int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < count; i++)
		pthread_create(&thread, &attributes, run, NULL);
	while (waiting < count)
		usleep(1000);
}

LINK void many_threads(void)
{
	start_threads(stay, THREADS);
	null_read();
	STAY();
}

LINK void blocked_thread(void)
{
	start_threads(stay_blocked, 1);
	null_read();
	STAY();
}

static void *crash_too(void *arg)
{
	atomic_fetch_add(&waiting, 1);
	while (waiting < 2)
		sched_yield();
	null_read();
	STAY();
	return arg;
}

/* Two threads at once. */
LINK void two_crashes(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, crash_too, NULL);
	crash_too(NULL);
	STAY();
}

/* The stack pointer leads nowhere. */
LINK void lost_stack(void)
{
	__asm__ volatile("xorl %%esp, %%esp; pushq %%rax" ::: "memory");
}

LINK void wait_for_signal(void)
{
	close(creat("ready", 0600));
	for (;;)
		pause();
}

static int forbid_table(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		uint64_t at = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;

		if (object->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			mprotect((void *)(at & ~(uint64_t)4095), 4096, PROT_NONE);
	}
	/* that of the program is enough */
	return 1;
}

/* What the report reads is gone, for all threads that are in the program. */
LINK void unreadable_tables(void)
{
	start_threads(stay, 1);
	dl_iterate_phdr(forbid_table, NULL);
	null_read();
	STAY();
}

LINK void crash_in_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		null_read();
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
}

LINK void file_size(void)
{
	const struct rlimit limit = {4096, 4096};
	char bytes[8192] = {0};
	FILE *file = tmpfile();

	setrlimit(RLIMIT_FSIZE, &limit);
	while (write(fileno(file), bytes, sizeof(bytes)) > 0)
		;
}

static const struct {
	const char *name;
	function crash;
} ways[] = {
	{"null-call", null_call},
	{"wild-call", wild_call},
	{"data-call", data_call},
	{"heap-call", heap_call},
	{"null-read", null_read},
	{"overflow", stack_overflow},
	{"overflow-in-thread", overflow_in_thread},
	{"overflow-in-c-thread", overflow_in_c_thread},
	{"corrupted-heap", corrupted_heap},
	{"crash-in-malloc", crash_in_malloc},
	{"abort", call_abort},
	{"crash-in-handler", crash_in_handler},
	{"small-stack", small_stack},
	{"number-alone", number_alone},
	{"divide", divide},
	{"trap", trap},
	{"illegal", illegal},
	{"smashed-stack", smashed_stack},
	{"many-threads", many_threads},
	{"blocked-thread", blocked_thread},
	{"two-crashes", two_crashes},
	{"no-stack", lost_stack},
	{"wait", wait_for_signal},
	{"unreadable-tables", unreadable_tables},
	{"child", crash_in_child},
	{"file-size", file_size},
};

LINK void crash_site(void)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, how))
			ways[i].crash();
	STAY();
}

LINK void middle(void)
{
	crash_site();
	STAY();
}

LINK void outer(void)
{
	middle();
	STAY();
}

/* The program's own handlers, which were there first. */
static void on_crash(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	printf("own handler: signal %d, address %p, pc %llx\n", number, info->si_addr,
	       (unsigned long long)registers[REG_RIP]);
	fflush(stdout);
	if (getenv("RECOVER"))
		siglongjmp(recovery, 1);
	_exit(3);
}

/* A descriptor that takes a part of the report only. */
static int full_pipe(void)
{
	int ends[2];

	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0)
		exit(99);
	return ends[1];
}

static void install(void)
{
	const int fd = getenv("FULL_PIPE") ? full_pipe() : STDERR_FILENO;
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	unsigned int flags = getenv("ONE_THREAD") ? BOBBIN_CRASH_ONE_THREAD : 0;

	if (getenv("SOURCES"))
		flags |= BOBBIN_CRASH_SOURCES;
	if (getenv("OWN_HANDLER"))
		sigaction(SIGSEGV, &action, NULL);
	if (getenv("IGNORE"))
		signal(SIGABRT, SIG_IGN);
	if (!getenv("BOBBIN_CRASH") && bobbin_install_crash_handler(fd, flags))
		exit(99);
}

int main(int argc, char **argv)
{
	how = argc > 1 ? argv[1] : "";
	install();
	if (!sigsetjmp(recovery, 1))
		outer();
	STAY();
	printf("went on\n");
	return 0;
}
