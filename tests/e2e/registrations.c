/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registrations HOW MS [COUNT] - main > call > code without a frame pointer > back > spin
 *
 * Like registered.c, but what is registered changes.  COUNT pieces of code have frames of different
 * sizes, and so different sections.  HOW:
 *
 *	many	all are registered, and run in turn
 *	swap	two take turns in the same place
 *	child	a child takes the place of its parent's code, while both run
 *	corrupt	what a section says is overwritten after its registration
 *	exec	a piece runs, then the program "next" in its place
 *	churn	while a piece runs, a thread registers others and removes them
 */
#include "catch_up.h"
#include "spin.h"

#include <bobbin/arch.h>
#include <bobbin/codectl.h>
#include <bobbin/sframe_builder.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 8192
#define ROOM 64 /* of a piece's code */

/* int code(int (*function)(long), long argument); the size of its frame is in it twice */
static const unsigned char code[] = {
	0x55,                         /*  0: push %rbp */
	0x48, 0x81, 0xec, 0, 0, 0, 0, /*  1: sub $size, %rsp */
	0x31, 0xed,                   /*  8: xor %ebp, %ebp */
	0x48, 0x89, 0xf8,             /* 10: mov %rdi, %rax */
	0x48, 0x89, 0xf7,             /* 13: mov %rsi, %rdi */
	0xff, 0xd0,                   /* 16: call *%rax */
	0x48, 0x81, 0xc4, 0, 0, 0, 0, /* 18: add $size, %rsp */
	0x5d,                         /* 25: pop %rbp */
	0xc3,                         /* 26: ret */
};

static unsigned char *text;
static uint8_t sections[MOST][256];

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned char *text_of(unsigned int piece)
{
	return text + (size_t)piece * ROOM;
}

static struct bobbin_sframe_row row(uint32_t start, int32_t cfa, bool saved)
{
	struct bobbin_sframe_row r = {.start = start};

	r.rule.index = BOBBIN_NO_INDEX;
	r.rule.cfa.how = BOBBIN_HOW_AT_REG;
	r.rule.cfa.reg = bobbin_arch_amd64()->sp;
	r.rule.cfa.off = cfa;
	r.rule.ra.how = BOBBIN_HOW_IN_CFA_MEM;
	r.rule.ra.off = -8;
	r.rule.fp.how = saved ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME;
	r.rule.fp.off = saved ? -16 : 0;
	return r;
}

static size_t build_section(const unsigned char *at, int32_t frame, uint8_t *section)
{
	const struct bobbin_sframe_row rows[] = {row(0, 8, false), row(1, 16, true),
						 row(8, 16 + frame, true), row(25, 16, true),
						 row(26, 8, false)};
	const struct bobbin_sframe_function function = {
		.start = (uintptr_t)at, .size = sizeof(code), .rows = rows, .count = 5};
	struct bobbin_sframe_built fdes[1];
	uint8_t fres[128];
	struct bobbin_sframe_builder b;

	bobbin_sframe_builder_init(bobbin_arch_amd64(), (uintptr_t)section, 3, &b);
	b.fdes = fdes;
	b.fde_max = 1;
	b.fres = fres;
	b.fre_max = sizeof(fres);
	if (bobbin_sframe_builder_add(&b, &function) ||
	    bobbin_sframe_builder_finish(&b, section, sizeof(*sections)))
		give_up("the section");
	return bobbin_sframe_builder_size(&b);
}

/* Write a piece's code with a frame of so many bytes, a multiple of 16. */
static void write_code(unsigned int piece, int32_t frame)
{
	unsigned char *at = text_of(piece);

	if (mprotect(text, (size_t)MOST * ROOM, PROT_READ | PROT_WRITE))
		give_up("mprotect");
	memcpy(at, code, sizeof(code));
	memcpy(at + 4, &frame, sizeof(frame));
	memcpy(at + 21, &frame, sizeof(frame));
	if (mprotect(text, (size_t)MOST * ROOM, PROT_READ | PROT_EXEC))
		give_up("mprotect");
}

static void add(unsigned int piece, int32_t frame)
{
	struct sframe_setup setup = {
		.sframe_start = (uintptr_t)sections[piece],
		.sframe_size = build_section(text_of(piece), frame, sections[piece]),
		.text_start = (uintptr_t)text_of(piece),
		.text_size = sizeof(code),
	};

	if (sframe_register(&setup, sizeof(setup)))
		give_up("sframe_register");
}

static void take_away(unsigned int piece)
{
	struct sframe_setup setup = {.sframe_start = (uintptr_t)sections[piece]};

	if (sframe_unregister(&setup, sizeof(setup)))
		give_up("sframe_unregister");
}

static NOINLINE int back(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
	return 7;
}

static NOINLINE void call(unsigned int piece, long ms)
{
	if (((int (*)(int (*)(long), long))(uintptr_t)text_of(piece))(back, ms) != 7)
		give_up("the code");
	NO_TAIL_CALL();
}

static void many(long end, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned char *at = text_of(i);
		int32_t frame = 16 + 16 * (int32_t)i;

		memcpy(at, code, sizeof(code));
		memcpy(at + 4, &frame, sizeof(frame));
		memcpy(at + 21, &frame, sizeof(frame));
	}
	if (mprotect(text, (size_t)MOST * ROOM, PROT_READ | PROT_EXEC))
		give_up("mprotect");
	for (unsigned int i = 0; i < count; i++)
		add(i, 16 + 16 * (int32_t)i);
	for (unsigned int i = 0; thread_ms() < end; i++)
		call(i % count, 1);
}

extern const char _start[];

/* Where the code's frame will be: who takes it for a smaller one finds the program's root there. */
static NOINLINE void leave_roots(void)
{
	uintptr_t words[1024];

	for (unsigned int i = 0; i < 1024; i++)
		words[i] = (uintptr_t)_start + 8;
	__asm__ volatile("" ::"r"(words) : "memory");
}

/* What was sampled is walked before something else is registered. */
static void swap(long end, pid_t recorder)
{
	for (int32_t frame = 1024; thread_ms() < end; frame ^= 1024 ^ 4096) {
		write_code(0, frame);
		add(0, frame);
		leave_roots();
		call(0, 150);
		let_catch_up(recorder);
		take_away(0);
	}
}

static void take_place_in_child(long ms)
{
	int status;
	pid_t child;

	write_code(0, 1024);
	add(0, 1024);
	child = fork();
	if (child < 0)
		give_up("fork");
	if (!child) {
		call(0, ms / 4);
		take_away(0);
		write_code(0, 4096);
		add(0, 4096);
	}
	call(0, ms / 2);
	if (child && (wait(&status) < 0 || status))
		give_up("the child");
}

static void corrupt(long ms)
{
	write_code(0, 1024);
	add(0, 1024);
	/* the rows come last */
	memset(sections[0] + 60, 0xff, 20);
	call(0, ms);
}

static void *churn(void *arg)
{
	for (;;) {
		add(1, 64);
		take_away(1);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long ms = argc > 2 ? atol(argv[2]) : 500;
	unsigned int count = argc > 3 ? (unsigned int)atol(argv[3]) : 1;
	pthread_t thread;

	text = mmap(NULL, (size_t)MOST * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (text == MAP_FAILED || count > MOST)
		give_up("mmap");
	if (!strcmp(how, "many"))
		many(thread_ms() + ms, count);
	if (!strcmp(how, "swap"))
		swap(thread_ms() + ms, getppid());
	if (!strcmp(how, "child"))
		take_place_in_child(ms);
	if (!strcmp(how, "corrupt"))
		corrupt(ms);
	if (!strcmp(how, "exec") || !strcmp(how, "churn")) {
		write_code(0, 1024);
		add(0, 1024);
	}
	if (!strcmp(how, "churn") && pthread_create(&thread, NULL, churn, NULL))
		give_up("pthread_create");
	if (!strcmp(how, "exec") || !strcmp(how, "churn"))
		call(0, ms);
	if (!strcmp(how, "exec"))
		execl("next", "next", argv[2], NULL);
	_exit(0);
}
