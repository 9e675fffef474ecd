/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/root_code.h"

#include "core/deps.h"

struct pattern {
	uint8_t size;
	uint8_t code[ROOT_CODE_SIZE];
};

/* x86-64, after the call of a thread's function: exit with its result. */
static const struct pattern returns_to[] = {
	/* glibc: mov %rax, %rdi; mov $__NR_exit, %eax; syscall */
	{10, {0x48, 0x89, 0xc7, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05}},
	/* musl: mov %eax, %edi; xor %eax, %eax; mov $__NR_exit, %al; syscall */
	{8, {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05}},
	/* glibc's __start_context: mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi */
	{10, {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff}},
};

/* x86-64, after endbr64: clear the frame pointer, or hand on the stack pointer. */
static const struct pattern entries[] = {
	{2, {0x31, 0xed}},       /* xor %ebp, %ebp */
	{3, {0x48, 0x31, 0xed}}, /* xor %rbp, %rbp */
	{3, {0x48, 0x89, 0xe7}}, /* mov %rsp, %rdi */
};

/*
 * x86-64, boost's make_fcontext(), of which PHP has a copy: push %rbp; jmp *%rbx, then
 * xor %rdi, %rdi; call _exit; hlt.  No call is before that, so nobody returns there who was called.
 */
static const struct pattern fcontext = {7, {0x55, 0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8}};
#define FCONTEXT_HLT 11
#define HLT 0xf4

static const struct pattern endbr64 = {4, {0xf3, 0x0f, 0x1e, 0xfa}};

static bool begins(const uint8_t *code, const uint8_t *with, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (code[i] != with[i])
			return false;
	return true;
}

static bool is_fcontext(const uint8_t code[ROOT_CODE_AROUND])
{
	return begins(code, fcontext.code, fcontext.size) && code[FCONTEXT_HLT] == HLT;
}

bool root_code(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_AROUND])
{
	if (!arch->default_ra_off)
		return false;
	if (is_fcontext(code))
		return true;
	code += ROOT_CODE_BEFORE;
	for (unsigned int i = 0; i < sizeof(returns_to) / sizeof(returns_to[0]); i++)
		if (begins(code, returns_to[i].code, returns_to[i].size))
			return true;
	return false;
}

bool root_code_entry(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_SIZE])
{
	if (!arch->default_ra_off)
		return true;
	if (begins(code, endbr64.code, endbr64.size))
		code += endbr64.size;
	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (begins(code, entries[i].code, entries[i].size))
			return true;
	return false;
}
