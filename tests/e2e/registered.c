/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registered WHEN MS - main > call > code without a frame pointer > back > spin
 *
 * The code is machine code in memory without a file.  WHEN it is registered: "first";
 * "later": after half of the time; "never"; "child": first, then it runs in a forked
 * child; "jit": first, as a table that grows when the code has run for a while.
 * The file "ready" says that it runs.  MS 0: the code does not spin but sleeps.
 */
#include "catch_up.h"
#include "spin.h"

#include <bobbin/arch.h>
#include <bobbin/codectl.h>
#include <bobbin/sframe_builder.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

/*
 * int code(int (*function)(long), long argument): a frame of 64 bytes, and nothing
 * in the frame pointer that could be taken for one
 */
static const unsigned char code[] = {
	0x55,                   /*  0: push %rbp */
	0x48, 0x83, 0xec, 0x30, /*  1: sub $48, %rsp */
	0x31, 0xed,             /*  5: xor %ebp, %ebp */
	0x48, 0x89, 0xf8,       /*  7: mov %rdi, %rax */
	0x48, 0x89, 0xf7,       /* 10: mov %rsi, %rdi */
	0xff, 0xd0,             /* 13: call *%rax */
	0x48, 0x83, 0xc4, 0x30, /* 15: add $48, %rsp */
	0x5d,                   /* 19: pop %rbp */
	0xc3,                   /* 20: ret */
};

struct row {
	uint32_t start;
	int32_t cfa_off;
	bool saved;
};

static const struct row rows[] = {
	{0, 8, false}, {1, 16, true}, {5, 64, true}, {19, 16, true}, {20, 8, false}};
#define ROWS (sizeof(rows) / sizeof(*rows))

/* Away from other data: the first byte of the page is not the code's. */
static unsigned char *text;
static uint8_t section[1024];
static struct {
	struct code_jit_unwind_table head;
	struct code_jit_unwind_fre fres[ROWS];
} table;

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static size_t build_section(void)
{
	struct bobbin_sframe_row built[ROWS];
	struct bobbin_sframe_function function = {
		.start = (uintptr_t)text, .size = sizeof(code), .rows = built, .count = ROWS};
	struct bobbin_sframe_built fdes[1];
	uint8_t fres[256];
	struct bobbin_sframe_builder b;

	for (unsigned int i = 0; i < ROWS; i++) {
		built[i] = (struct bobbin_sframe_row){.start = rows[i].start};
		built[i].rule.index = BOBBIN_NO_INDEX;
		built[i].rule.cfa.how = BOBBIN_HOW_AT_REG;
		built[i].rule.cfa.reg = bobbin_arch_amd64()->sp;
		built[i].rule.cfa.off = rows[i].cfa_off;
		built[i].rule.ra.how = BOBBIN_HOW_IN_CFA_MEM;
		built[i].rule.ra.off = -8;
		built[i].rule.fp.how = rows[i].saved ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME;
		built[i].rule.fp.off = rows[i].saved ? -16 : 0;
	}
	bobbin_sframe_builder_init(bobbin_arch_amd64(), (uintptr_t)section, 3, &b);
	b.fdes = fdes;
	b.fde_max = 1;
	b.fres = fres;
	b.fre_max = sizeof(fres);
	if (bobbin_sframe_builder_add(&b, &function) ||
	    bobbin_sframe_builder_finish(&b, section, sizeof(section)))
		give_up("the section");
	return bobbin_sframe_builder_size(&b);
}

static void register_section(void)
{
	struct sframe_setup setup = {
		.sframe_start = (uintptr_t)section,
		.sframe_size = build_section(),
		.text_start = (uintptr_t)text,
		.text_size = sizeof(code),
	};

	if (sframe_register(&setup, sizeof(setup)))
		give_up("sframe_register");
}

static void register_table(void)
{
	struct code_jit_info info = {
		.text_start = (uintptr_t)text,
		.text_end = (uintptr_t)text + sizeof(code),
		.unwind_head = (uintptr_t)&table,
	};

	table.head.reserved_len = sizeof(table.fres);
	for (unsigned int i = 0; i < ROWS; i++) {
		uint32_t end = i + 1 < ROWS ? rows[i + 1].start : sizeof(code);

		table.fres[i] = (struct code_jit_unwind_fre){
			.size = end - rows[i].start,
			.ip_off = rows[i].start,
			.cfa_off = rows[i].cfa_off,
			.fp_off = rows[i].saved ? -16 : 0,
			.info = (rows[i].saved ? 2 : 1) << 1 | CODE_JIT_FRE_BASE_SP,
		};
	}
	if (codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0))
		give_up("codectl");
}

static NOINLINE int back(long ms)
{
	if (ms)
		spin(ms);
	else
		pause();
	NO_TAIL_CALL();
	return 7;
}

static NOINLINE int call(long ms)
{
	int result = ((int (*)(int (*)(long), long))(uintptr_t)text)(back, ms);

	NO_TAIL_CALL();
	return result;
}

static void load(void)
{
	text = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		give_up("mmap");
	memcpy(text, code, sizeof(code));
	if (mprotect(text, PAGE, PROT_READ | PROT_EXEC))
		give_up("mprotect");
}

static void wait_for_child(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		return;
	if (child < 0 || wait(&status) < 0)
		give_up("fork");
	exit(WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[2]) : 500;
	const char *when = argc > 1 ? argv[1] : "";
	pid_t recorder = getppid();

	load();
	if (!strcmp(when, "first") || !strcmp(when, "child"))
		register_section();
	if (!strcmp(when, "jit"))
		register_table();
	if (!strcmp(when, "child"))
		wait_for_child();
	fclose(fopen("ready", "w"));
	if (!strcmp(when, "later")) {
		call(ms / 2);
		register_section();
	}
	if (!strcmp(when, "jit")) {
		if (ms)
			call(ms / 2);
		let_catch_up(recorder);
		__atomic_store_n(&table.head.used_len, sizeof(table.fres), __ATOMIC_RELEASE);
	}
	if (call(ms) != 7)
		return 1;
	let_catch_up(recorder);
	_exit(0); /* no samples in a sanitizer's work at the end */
}
