/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_stacks.c - stacks that begin in, and lead through, code that is made at run time and
 * registered by codectl(2).  A perf map has its name.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest_calls.h"

#define NOINLINE __attribute__((noinline, noclone))
#define PAGE 4096

static volatile unsigned long sink;

/* void f_jitted(void (*function)(void)): compute a while, call, return */
static const uint8_t code[] = {
	0x48, 0x83, 0xec, 0x18,       /* sub $24, %rsp */
	0xb8, 0x40, 0x0d, 0x03, 0x00, /* mov $200000, %eax */
	0xff, 0xc8,                   /* dec %eax */
	0x75, 0xfc,                   /* jnz -4 */
	0xff, 0xd7,                   /* call *%rdi */
	0x48, 0x83, 0xc4, 0x18,       /* add $24, %rsp */
	0xc3,                         /* ret */
};

NOINLINE void f_leaf(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 200000; i++)
		sum += (i * 3) ^ (sum >> 3);
	sink += sum;
}

static struct code_jit_unwind_table *make_table(void)
{
	const struct code_jit_unwind_fre rows[] = {
		{.size = 4, .ip_off = 0, .cfa_off = 8},
		{.size = 15, .ip_off = 4, .cfa_off = 32},
		{.size = 1, .ip_off = 19, .cfa_off = 8},
	};
	struct code_jit_unwind_table *table = malloc(sizeof(*table) + sizeof(rows));

	if (!table)
		exit(1);
	*table = (struct code_jit_unwind_table){.reserved_len = sizeof(rows),
						.used_len = sizeof(rows)};
	memcpy(table->fre, rows, sizeof(rows));
	for (int i = 0; i < 3; i++)
		table->fre[i].info = CODE_JIT_FRE_BASE_SP | 1 << 1;
	return table;
}

static void write_name(const void *text)
{
	char name[64];
	FILE *map;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	map = fopen(name, "w");
	if (!map)
		exit(1);
	fprintf(map, "%lx %zx f_jitted\n", (unsigned long)text, sizeof(code));
	fclose(map);
}

NOINLINE void f_jit(void (*jitted)(void (*)(void)), int rounds)
{
	for (int i = 0; i < rounds; i++) {
		jitted(f_leaf);
		sink++;
	}
}

int main(int argc, char **argv)
{
	void *text = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct code_jit_info info = {.text_start = (uintptr_t)text,
				     .text_end = (uintptr_t)text + sizeof(code)};
	void (*jitted)(void (*)(void));
	int error;

	if (text == MAP_FAILED)
		return 1;
	memcpy(text, code, sizeof(code));
	if (mprotect(text, PAGE, PROT_READ | PROT_EXEC))
		return 1;
	write_name(text);
	info.unwind_head = (uintptr_t)make_table();
	error = guest_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0);
	if (error && error != ENOSYS)
		printf("jit: codectl: errno %d\n", error);
	memcpy(&jitted, &text, sizeof(jitted));
	f_jit(jitted, argc == 2 ? atoi(argv[1]) : 0);
	if (!error)
		error = guest_codectl(CODE_UNREGISTER, &info, sizeof(info), 0);
	return error && error != ENOSYS;
}
