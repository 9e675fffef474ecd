/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * made_code - make a function while the program runs, and walk through it.
 *
 * The function has no frame pointer and no file.  Registered with its rows, it is unwound in
 * this process, and by `bobbin record` and `bobbin stack` in others.  examples/jit is a
 * compiler that does so.
 */
#include <bobbin/backtrace.h>
#include <bobbin/jit.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* void made(void (*function)(void)) { function(); } */
static const uint8_t code[] = {
	0x48, 0x83, 0xec, 0x18, /* sub $24, %rsp */
	0xff, 0xd7,             /* call *%rdi */
	0x48, 0x83, 0xc4, 0x18, /* add $24, %rsp */
	0xc3,                   /* ret */
};

static void print_stack(void)
{
	struct bobbin_frame frames[64];
	struct bobbin_trace trace = {.frames = frames, .max = 64};

	bobbin_backtrace_here(&trace);
	for (uint32_t i = 0; i < trace.count; i++)
		printf("0x%016" PRIx64 " %s\n", frames[i].pc, bobbin_source_str(frames[i].source));
	printf("%s\n", bobbin_reason_str(trace.reason));
}

/* What the stack pointer is away from the CFA, from which byte of the code on. */
static int register_code(uint64_t start, struct bobbin_jit_code **ret)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	const struct bobbin_sframe_row rows[] = {
		{0, bobbin_jit_rule_sp(arch, 8, 0, 0)},
		{4, bobbin_jit_rule_sp(arch, 32, 0, 0)},
		{10, bobbin_jit_rule_sp(arch, 8, 0, 0)},
	};
	const struct bobbin_sframe_function function = {
		.start = start, .size = sizeof(code), .rows = rows, .count = 3};

	return bobbin_jit_code_open(arch, &function, 1, ret);
}

int main(void)
{
	void *text = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct bobbin_jit_code *registered;
	void (*made)(void (*)(void));
	int r;

	if (text == MAP_FAILED)
		return 1;
	memcpy(text, code, sizeof(code));
	if (mprotect(text, sizeof(code), PROT_READ | PROT_EXEC))
		return 1;
	r = register_code((uintptr_t)text, &registered);
	if (r) {
		fprintf(stderr, "made_code: %s\n", strerror(-r));
		return 1;
	}
	memcpy(&made, &text, sizeof(made));
	made(print_stack);
	bobbin_jit_code_close(registered);
	munmap(text, sizeof(code));
	return 0;
}
