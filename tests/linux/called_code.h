/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * called_code.h - functions that are made at run time, and a section for them.
 *
 *	struct called_code code = called_code_open(4);
 *	called_code_section(&code, room, size, (uintptr_t)room);
 *	called_code_call(&code, 2, function);
 *
 * Each has a stack frame of 32 bytes, and calls what it is given.
 */
#ifndef TEST_CALLED_CODE_H
#define TEST_CALLED_CODE_H

#include <bobbin/jit.h>
#include <bobbin/sframe_builder.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../promise.h"
#include "base/native_arch.h"
#include "guest_calls.h"

#define CALLED_STEP 16

struct called_code {
	uint8_t *text;
	size_t size;
	uint32_t count;
};

static const uint8_t called_bytes[] = {
	0x48, 0x83, 0xec, 0x18, /* sub $24, %rsp */
	0xff, 0xd7,             /* call *%rdi */
	0x48, 0x83, 0xc4, 0x18, /* add $24, %rsp */
	0xc3,                   /* ret */
};

static inline struct called_code called_code_open(uint32_t count)
{
	struct called_code code = {.count = count,
				   .size = ((size_t)count * CALLED_STEP + 4095) & -4096UL};

	code.text = mmap(NULL, code.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	promise(code.text != MAP_FAILED);
	for (uint32_t i = 0; i < count; i++)
		memcpy(code.text + (size_t)i * CALLED_STEP, called_bytes, sizeof(called_bytes));
	promise(!mprotect(code.text, code.size, PROT_READ | PROT_EXEC));
	return code;
}

static inline void called_code_close(struct called_code *code)
{
	munmap(code->text, code->size);
}

/* Write the section of functions @first to @first + @count; @return: its size. */
static inline size_t called_code_part(const struct called_code *code, uint32_t first,
				      uint32_t count, void *out, size_t size)
{
	const struct bobbin_sframe_row rows[] = {
		{0, bobbin_jit_rule_sp(native_arch(), 8, 0, 0)},
		{4, bobbin_jit_rule_sp(native_arch(), 32, 0, 0)},
		{10, bobbin_jit_rule_sp(native_arch(), 8, 0, 0)},
	};
	struct bobbin_sframe_built *fdes = calloc(count, sizeof(*fdes));
	struct bobbin_sframe_builder builder;
	uint8_t *fres = malloc(16 + (size_t)count * 32);
	size_t made;

	promise(fdes && fres);
	promise(!bobbin_sframe_builder_init(native_arch(), (uintptr_t)out, 3, &builder));
	builder.fdes = fdes;
	builder.fde_max = count;
	builder.fres = fres;
	builder.fre_max = 16 + count * 32;
	for (uint32_t i = first; i < first + count; i++) {
		const struct bobbin_sframe_function f = {.start = (uintptr_t)code->text +
								  (uint64_t)i * CALLED_STEP,
							 .size = sizeof(called_bytes),
							 .rows = rows,
							 .count = 3};

		promise(!bobbin_sframe_builder_add(&builder, &f));
	}
	promise(!bobbin_sframe_builder_finish(&builder, out, size));
	made = bobbin_sframe_builder_size(&builder);
	free(fdes);
	free(fres);
	return made;
}

static inline size_t called_code_section(const struct called_code *code, void *out, size_t size)
{
	return called_code_part(code, 0, code->count, out, size);
}

static inline void called_code_call(const struct called_code *code, uint32_t n,
				    void (*function)(void))
{
	void (*called)(void (*)(void));
	const void *at = code->text + (size_t)n * CALLED_STEP;

	memcpy(&called, &at, sizeof(called));
	called(function);
}

static inline int called_code_register(const struct called_code *code, const void *section,
				       size_t size)
{
	const struct sframe_setup setup = {.sframe_start = (uintptr_t)section,
					   .sframe_size = size,
					   .text_start = (uintptr_t)code->text,
					   .text_size = code->size};

	return guest_register(&setup, sizeof(setup));
}

static inline int called_code_unregister(const void *section)
{
	const struct sframe_setup key = {.sframe_start = (uintptr_t)section};

	return guest_unregister(&key, sizeof(key));
}

#endif
