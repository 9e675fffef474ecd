/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/section_maker.h"

#include "base/vector.h"

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

/* Room for @need elements of an array of the builder's, which counts them in 32 bits. */
static int grow(void *array, uint32_t *max, uint64_t need, size_t size)
{
	size_t capacity = *max;
	int r = vector_reserve(array, &capacity, need, size);

	*max = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
	return r;
}

static int grow_fdes(struct bobbin_sframe_builder *b, uint64_t need)
{
	return grow(&b->fdes, &b->fde_max, need, sizeof(*b->fdes));
}

static int grow_fres(struct bobbin_sframe_builder *b, uint64_t need)
{
	return grow(&b->fres, &b->fre_max, need, 1);
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
	int r;

	if (fdes > INT32_MAX || bytes > INT32_MAX)
		return -ERANGE;
	r = grow_fdes(b, fdes);
	return r ? r : grow_fres(b, bytes);
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
