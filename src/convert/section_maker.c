/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/section_maker.h"

#include <errno.h>
#include <stdlib.h>

/* Rows take about 3 to 5 bytes, functions about 9 rows. */
#define BYTES_PER_FUNCTION 48

static int reserve_shared(struct bobbin_sframe_builder *b, uint32_t functions)
{
	uint32_t slots = 64;

	while (slots < functions + functions / 2 && slots < 1u << 30)
		slots *= 2;
	b->shared = calloc(slots, sizeof(*b->shared));
	if (!b->shared)
		return -ENOMEM;
	b->shared_max = slots;
	return 0;
}

/* Half as much again, and at least @least. */
static uint32_t larger(uint32_t size, uint32_t least)
{
	uint64_t more = (uint64_t)size + size / 2;

	if (more < least)
		more = least;
	return more > UINT32_MAX ? UINT32_MAX : (uint32_t)more;
}

static int grow_fdes(struct bobbin_sframe_builder *b, uint32_t least)
{
	uint32_t more = larger(b->fde_max, least);
	struct bobbin_sframe_built *fdes = reallocarray(b->fdes, more, sizeof(*fdes));

	if (!fdes)
		return -ENOMEM;
	b->fdes = fdes;
	b->fde_max = more;
	return 0;
}

static int grow_fres(struct bobbin_sframe_builder *b, uint32_t least)
{
	uint32_t more = larger(b->fre_max, least);
	uint8_t *fres = realloc(b->fres, more);

	if (!fres)
		return -ENOMEM;
	b->fres = fres;
	b->fre_max = more;
	return 0;
}

int section_maker_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
		       bool share, uint32_t functions, struct section_maker *ret)
{
	uint32_t fdes = functions > 64 ? functions : 64, fres = UINT32_MAX;
	struct section_maker maker = {0};
	int r = bobbin_sframe_builder_init(arch, addr, version, &maker.builder);

	if (r)
		return r;
	if (fdes < UINT32_MAX / BYTES_PER_FUNCTION)
		fres = fdes * BYTES_PER_FUNCTION;
	r = grow_fres(&maker.builder, fres);
	if (!r)
		r = grow_fdes(&maker.builder, fdes);
	if (!r && share)
		r = reserve_shared(&maker.builder, functions);
	if (r)
		section_maker_fini(&maker);
	else
		*ret = maker;
	return r;
}

int section_maker_reserve(struct section_maker *maker, uint64_t fdes, uint64_t bytes)
{
	struct bobbin_sframe_builder *b = &maker->builder;
	int r = 0;

	if (fdes > INT32_MAX || bytes > INT32_MAX)
		return -ERANGE;
	if (b->fde_max < fdes)
		r = grow_fdes(b, (uint32_t)fdes);
	if (!r && b->fre_max < bytes)
		r = grow_fres(b, (uint32_t)bytes);
	return r;
}

int section_maker_add(struct section_maker *maker, const struct bobbin_sframe_function *function)
{
	struct bobbin_sframe_builder *b = &maker->builder;
	int r;

	while ((r = bobbin_sframe_builder_add(b, function)) == -ENOBUFS) {
		r = b->fde_count >= b->fde_max ? grow_fdes(b, 64)
					       : grow_fres(b, 64 * BYTES_PER_FUNCTION);
		if (r)
			return r;
	}
	return r;
}

int section_maker_finish(struct section_maker *maker, uint8_t **data, uint64_t *size)
{
	uint64_t need = bobbin_sframe_builder_size(&maker->builder);
	uint8_t *bytes = malloc(need);
	int r;

	if (!bytes)
		return -ENOMEM;
	if (maker->in_place)
		maker->builder.addr = (uintptr_t)bytes;
	r = bobbin_sframe_builder_finish(&maker->builder, bytes, need);
	if (r) {
		free(bytes);
		return r;
	}
	*data = bytes;
	*size = need;
	return 0;
}

void section_maker_fini(struct section_maker *maker)
{
	free(maker->builder.fdes);
	free(maker->builder.fres);
	free(maker->builder.shared);
	*maker = (struct section_maker){0};
}
