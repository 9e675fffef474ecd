/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signal handlers: by libc's restorer and own ones, on the stack and on another one, and nested. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define RESTORER 0x04000000

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

#define MAKE_RESTORER(name, code) \
	void name(void); \
	__asm__(".text\n.type " #name ",@function\n" #name ":" code "\n.size " #name ",.-" #name \
		"\n");
MAKE_RESTORER(restore_quad, "movq $15,%rax; syscall")
MAKE_RESTORER(restore_word, "movl $15,%eax; syscall")
MAKE_RESTORER(restore_branch, "endbr64; movq $15,%rax; syscall")
MAKE_RESTORER(restore_branch_word, "endbr64; movl $15,%eax; syscall")
MAKE_RESTORER(restore_pushed, "pushq $15; popq %rax; syscall")
MAKE_RESTORER(restore_sum, "xorl %eax,%eax; addl $15,%eax; syscall")
MAKE_RESTORER(restore_address, "cld; leal 15,%eax; syscall")
MAKE_RESTORER(restore_absolute, "xorl %edi,%edi; movabsq $15,%rax; syscall")

volatile long sink;

NOINLINE long leaf(long a)
{
	return a * 3 + 1;
}

static void on_inner(int number)
{
	sink += leaf(number);
}

static void on_signal(int number)
{
	volatile char room[100];

	room[number] = 1;
	sink += leaf(number) + room[2];
	if (number == SIGUSR1)
		raise(SIGUSR2);
}

NOINLINE long kick(long a)
{
	raise(SIGUSR1);
	return a + leaf(a);
}

/* A signal at an instruction of a leaf. */
NOINLINE long faults(volatile long *at)
{
	return *at + 1;
}

static volatile long *volatile fixed;

/* The instruction is tried again. */
static void on_fault(int number)
{
	sink += leaf(number);
	mprotect((void *)fixed, 4096, PROT_READ | PROT_WRITE);
}

NOINLINE long outer(long a)
{
	volatile long r = kick(a);

	mprotect((void *)fixed, 4096, PROT_NONE);
	r += faults(fixed);
	return r;
}

int main(void)
{
	static void (*const restorers[])(void) = {
		restore_quad,   restore_word, restore_branch,  restore_branch_word,
		restore_pushed, restore_sum,  restore_address, restore_absolute};
	const size_t size = 64 << 10;
	/* far from the other one */
	stack_t stack = {.ss_size = size};
	struct sigaction inner = {.sa_handler = on_inner};
	struct sigaction fault = {.sa_handler = on_fault};

	stack.ss_sp = mmap((void *)0x10000000, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fixed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &inner, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	for (unsigned int n = 0; n < 64; n++) {
		struct kernel_action action = {on_signal, RESTORER, restorers[n % 8], 0};

		if (n & 8)
			action.flags |= SA_ONSTACK;
		syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8);
		sink += outer(n);
	}
	return 0;
}
