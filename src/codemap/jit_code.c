/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_code.c - a section of its own for a piece of code that is freed again.
 */
#include <bobbin/codectl.h>
#include <bobbin/jit.h>

#include <errno.h>
#include <stdlib.h>

#include "core/deps.h"

/* An FRE of the widest start, with its info byte and the most words. */
#define MAX_ROW_SIZE (4 + 1 + 6 * 4)

struct bobbin_jit_code {
	uint64_t size;
	uint8_t section[];
};

static void free_memory(struct bobbin_sframe_builder *builder)
{
	free(builder->fdes);
	free(builder->fres);
}

/* Memory for what the functions need at most. */
static int take_memory(struct bobbin_sframe_builder *builder,
		       const struct bobbin_sframe_function *functions, size_t count)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows += functions[i].count;
	if (count > UINT32_MAX || rows > UINT32_MAX / MAX_ROW_SIZE)
		return -ERANGE;
	builder->fde_max = (uint32_t)count;
	builder->fre_max = (uint32_t)(rows ? rows : 1) * MAX_ROW_SIZE;
	builder->fdes = calloc(builder->fde_max, sizeof(*builder->fdes));
	builder->fres = malloc(builder->fre_max);
	return builder->fdes && builder->fres ? 0 : -ENOMEM;
}

static int add_all(struct bobbin_sframe_builder *builder,
		   const struct bobbin_sframe_function *functions, size_t count)
{
	int status = take_memory(builder, functions, count);

	for (size_t i = 0; !status && i < count; i++)
		status = bobbin_sframe_builder_add(builder, &functions[i]);
	return status;
}

/* Its address is only known now, and starts of functions are relative to it. */
static int finish(struct bobbin_sframe_builder *builder, struct bobbin_jit_code **ret)
{
	uint64_t size = bobbin_sframe_builder_size(builder);
	struct bobbin_jit_code *code = malloc(sizeof(*code) + size);

	if (!code)
		return -ENOMEM;
	code->size = size;
	builder->addr = (uintptr_t)code->section;
	*ret = code;
	return bobbin_sframe_builder_finish(builder, code->section, size);
}

static int make_section(const struct bobbin_arch *arch,
			const struct bobbin_sframe_function *functions, size_t count,
			struct bobbin_jit_code **ret)
{
	struct bobbin_sframe_builder builder;
	int status = bobbin_sframe_builder_init(arch, functions[0].start, 3, &builder);

	if (!status)
		status = add_all(&builder, functions, count);
	if (!status)
		status = finish(&builder, ret);
	free_memory(&builder);
	return status;
}

/* From the first byte of the lowest function to the last of the highest. */
static int find_text(const struct bobbin_sframe_function *functions, size_t count,
		     struct sframe_setup *ret)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (size_t i = 0; i < count; i++) {
		const struct bobbin_sframe_function *f = &functions[i];

		if (!f->size || f->start + f->size < f->start)
			return -EINVAL;
		start = f->start < start ? f->start : start;
		end = f->start + f->size > end ? f->start + f->size : end;
	}
	if (!count)
		return -EINVAL;
	ret->text_start = start;
	ret->text_size = end - start;
	return 0;
}

BOBBIN_API int bobbin_jit_code_open(const struct bobbin_arch *arch,
				    const struct bobbin_sframe_function *functions, size_t count,
				    struct bobbin_jit_code **ret)
{
	struct sframe_setup setup = {0};
	struct bobbin_jit_code *code = NULL;
	int status = find_text(functions, count, &setup);

	if (!status)
		status = make_section(arch, functions, count, &code);
	if (status) {
		free(code);
		return status;
	}
	setup.sframe_start = (uintptr_t)code->section;
	setup.sframe_size = code->size;
	status = bobbin_sframe_register(&setup, sizeof(setup), NULL);
	if (status) {
		free(code);
		return status;
	}
	*ret = code;
	return 0;
}

BOBBIN_API int bobbin_jit_code_close(struct bobbin_jit_code *code)
{
	struct sframe_setup setup = {0};
	int status;

	if (!code)
		return 0;
	setup.sframe_start = (uintptr_t)code->section;
	status = bobbin_sframe_unregister(&setup, sizeof(setup));
	if (!status)
		free(code);
	return status;
}
