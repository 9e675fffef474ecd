/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rpn_jit [SECONDS [DIRECTORY]] - a just-in-time compiler that can be profiled.
 *
 * Compiles a small program, runs it for some seconds of CPU time (2), and tells of its code in
 * both ways that <bobbin/jit.h> has: functions that stay in a table, those that
 * serve one round in sections of their own.  With a directory it writes a jitdump
 * there.  README.md shows what a profile of it looks like.
 */
#include <bobbin/codectl.h>
#include <bobbin/jit.h>
#include <bobbin/jit_names.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rpn_compiler.h"

#define TEXT_SIZE (256 << 10)
#define MAX_FUNCTIONS 16
#define ALIGNMENT 16
#define ROUND_SECONDS 0.1

struct jit {
	uint8_t *text; /* of functions that stay */
	size_t used;
	struct code_jit_info info;
	struct bobbin_jit_table *table;
	struct bobbin_perf_map *names;
	struct bobbin_jitdump *dump; /* or NULL */
	struct rpn_function functions[MAX_FUNCTIONS];
	unsigned int count;
	struct piece {
		uint8_t *text;
		struct bobbin_jit_code *code;
		struct rpn_function function;
	} piece; /* of this round: freed again */
};

static const char *const program[] = {
	": fib n 2 < if n else n 1 - fib n 2 - fib + end ;",
	": work n fib spin ;",
	": outer n work n 1 - work + ;",
};

static volatile int64_t spun;

/* What the program calls of ours: the way back into C. */
static __attribute__((noinline)) int64_t spin(int64_t n)
{
	for (int64_t i = 0; i < 20 * n; i++)
		spun += i;
	return n;
}

static void check(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "rpn_jit: %s: %s\n", what, strerror(-status));
	exit(1);
}

static uint64_t find(void *ctx, const char *name)
{
	const struct jit *jit = ctx;

	if (!strcmp(name, "spin"))
		return (uintptr_t)spin;
	for (unsigned int i = 0; i < jit->count; i++)
		if (!strcmp(jit->functions[i].name, name))
			return jit->functions[i].start;
	return 0;
}

static struct bobbin_sframe_function rows_of(const struct rpn_function *f)
{
	return (struct bobbin_sframe_function){
		.start = f->start, .size = f->size, .rows = f->rows, .count = f->row_count};
}

static void *map_text(size_t size)
{
	void *text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(text == MAP_FAILED ? -errno : 0, "mmap");
	return text;
}

/* Never writable and executable at once; nothing runs here meanwhile. */
static void write_text(uint8_t *text, size_t text_size, const struct rpn_function *f)
{
	check(mprotect(text, text_size, PROT_READ | PROT_WRITE) ? -errno : 0, "mprotect");
	memcpy((void *)(uintptr_t)f->start, f->code, f->size);
	check(mprotect(text, text_size, PROT_READ | PROT_EXEC) ? -errno : 0, "mprotect");
}

static void name_function(struct jit *jit, const struct rpn_function *f)
{
	check(bobbin_perf_map_add(jit->names, f->start, f->size, f->name), "perf map");
	if (jit->dump)
		check(bobbin_jitdump_add(jit->dump, (void *)(uintptr_t)f->start, f->size, f->name),
		      "jitdump");
}

/* A function that stays: a few entries more in the table. */
static void define(struct jit *jit, const char *definition)
{
	struct rpn_function *f = &jit->functions[jit->count];
	struct bobbin_sframe_function rows;

	check(jit->count == MAX_FUNCTIONS || TEXT_SIZE - jit->used < RPN_MAX_CODE ? -ENOSPC : 0,
	      definition);
	check(rpn_compile(definition, (uintptr_t)jit->text + jit->used, find, jit, f), definition);
	write_text(jit->text, TEXT_SIZE, f);
	rows = rows_of(f);
	check(bobbin_jit_table_append(jit->table, &rows), "table");
	name_function(jit, f);
	jit->used += (f->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	jit->count++;
}

static void open_jit(struct jit *jit, const char *directory)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();

	jit->text = map_text(TEXT_SIZE);
	check(bobbin_jit_table_open(arch, (uintptr_t)jit->text, TEXT_SIZE, &jit->table), "table");
	bobbin_jit_table_info(jit->table, &jit->info);
	check(bobbin_codectl(CODE_REGISTER_JIT, &jit->info, sizeof(jit->info), 0, NULL), "codectl");
	check(bobbin_perf_map_open(NULL, &jit->names), "perf map");
	if (directory)
		check(bobbin_jitdump_open(directory, arch, &jit->dump), "jitdump");
}

static void close_jit(struct jit *jit)
{
	check(bobbin_jitdump_close(jit->dump), "jitdump");
	bobbin_perf_map_close(jit->names);
	check(bobbin_codectl(CODE_UNREGISTER, &jit->info, sizeof(jit->info), 0, NULL), "codectl");
	bobbin_jit_table_close(jit->table);
	munmap(jit->text, TEXT_SIZE);
}

/* A function for one round: a section of its own. */
static void open_piece(struct jit *jit, const char *definition)
{
	struct piece *piece = &jit->piece;
	struct bobbin_sframe_function rows;

	piece->text = map_text(RPN_MAX_CODE);
	check(rpn_compile(definition, (uintptr_t)piece->text, find, jit, &piece->function),
	      definition);
	write_text(piece->text, RPN_MAX_CODE, &piece->function);
	rows = rows_of(&piece->function);
	check(bobbin_jit_code_open(bobbin_arch_amd64(), &rows, 1, &piece->code), "section");
	name_function(jit, &piece->function);
}

static void close_piece(struct piece *piece)
{
	check(bobbin_jit_code_close(piece->code), "section");
	munmap(piece->text, RPN_MAX_CODE);
}

static double now(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t run(const struct rpn_function *f, int64_t n)
{
	return ((rpn_entry)(uintptr_t)f->start)(n);
}

static int64_t run_round(struct jit *jit, unsigned int number)
{
	double end = now() + ROUND_SECONDS;
	char definition[64];
	int64_t result = 0;

	snprintf(definition, sizeof(definition), ": round%u n %u + outer ;", number, number % 3);
	open_piece(jit, definition);
	do
		result += run(&jit->piece.function, 15);
	while (now() < end);
	close_piece(&jit->piece);
	return result;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);
	static struct jit jit;
	unsigned int rounds = 0;
	int64_t result = 0;

	open_jit(&jit, argc > 2 ? argv[2] : NULL);
	for (size_t i = 0; i < sizeof(program) / sizeof(*program); i++)
		define(&jit, program[i]);
	printf("fib 20 is %lld\n", (long long)run(&jit.functions[0], 20));
	while (now() < end)
		result += run_round(&jit, rounds++);
	printf("%u rounds, sum %lld\n", rounds, (long long)result);
	close_jit(&jit);
	return 0;
}
