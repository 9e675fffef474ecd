/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/sframe_builder.h>

#include "sframe/built_function.h"
#include "sframe/fre_encode.h"
#include "sframe/heap_sort.h"

/* Slots of @shared that are searched for equal rows. */
#define SHARED_PROBES 8

/* Writes to memory that was checked to be large enough. */
struct output {
	uint8_t *at;
	bool big_endian;
};

static BOBBIN_ALWAYS_INLINE void put(struct output *out, uint64_t value, unsigned int n)
{
	out->at = bytes_store(out->at, value, n, out->big_endian);
}

BOBBIN_API int bobbin_sframe_builder_init(const struct bobbin_arch *arch, uint64_t addr,
					  unsigned int version, struct bobbin_sframe_builder *ret)
{
	if (version != 2 && version != 3)
		return -BOBBIN_EINVAL;
	*ret = (struct bobbin_sframe_builder){
		.arch = arch,
		.addr = addr,
		.version = (uint8_t)version,
	};
	return 0;
}

BOBBIN_API bool bobbin_sframe_builder_can_express(const struct bobbin_sframe_builder *builder,
						  const struct bobbin_rule *rule)
{
	struct fre_words words;

	return fre_words_of(builder->arch, builder->version, false, rule, &words) ||
	       fre_words_of(builder->arch, builder->version, true, rule, &words);
}

/**
 * struct encoding - the rows of a function on their way to bytes
 * @builder, @function: as given
 * @out, @end: where to write, and the end of the memory for it
 * @start_type: 0, 1, 2: starts of one, two, four bytes
 * @flex: all rows are flexible ones
 * @key_b: signed return addresses are signed with key B
 * @mangled: there are some
 */
struct encoding {
	const struct bobbin_sframe_builder *builder;
	const struct bobbin_sframe_function *function;
	struct output out;
	const uint8_t *end;
	uint8_t start_type;
	bool flex, key_b, mangled;
};

static bool row_in_place(const struct bobbin_sframe_function *f, uint32_t i)
{
	uint32_t limit = f->rep_size ? f->rep_size : f->size;

	if (i && f->rows[i].start <= f->rows[i - 1].start)
		return false;
	/* functions without code may have rows as well */
	return f->rows[i].start < limit || !f->rows[i].start;
}

/* A function's rows agree about keys and signals. */
static bool row_agrees(struct encoding *e, const struct bobbin_rule *rule)
{
	bool key_b = rule->flags & BOBBIN_RULE_KEY_B;

	if (!(rule->flags & BOBBIN_RULE_SIGNAL) != !e->function->signal)
		return false;
	if (!(rule->flags & BOBBIN_RULE_MANGLED))
		return true;
	if (e->mangled && key_b != e->key_b)
		return false;
	e->mangled = true;
	e->key_b = key_b;
	return true;
}

static int put_row(struct encoding *e, uint32_t start, const struct fre_words *w)
{
	if (e->end - e->out.at < (1 << e->start_type) + 1 + (w->count << fre_words_shift(w)))
		return -BOBBIN_ENOBUFS;
	put(&e->out, start, 1u << e->start_type);
	e->out.at += fre_words_put(w, e->out.big_endian, e->out.at);
	return 0;
}

static int encode_rows(struct encoding *e)
{
	const struct bobbin_sframe_function *f = e->function;
	struct fre_words words;
	int r;

	for (uint32_t i = 0; i < f->count; i++) {
		if (!row_in_place(f, i) || !row_agrees(e, &f->rows[i].rule))
			return -BOBBIN_EINVAL;
		if (!fre_words_of(e->builder->arch, e->builder->version, e->flex, &f->rows[i].rule,
				  &words))
			return -BOBBIN_ERANGE;
		r = put_row(e, f->rows[i].start, &words);
		if (r)
			return r;
	}
	return 0;
}

/* Encode rows after those of other functions; V3's attribute record gets room before them. */
static int encode(struct bobbin_sframe_builder *b, const struct bobbin_sframe_function *f,
		  struct encoding *ret)
{
	uint32_t last = f->count ? f->rows[f->count - 1].start : 0;
	uint32_t room = b->fre_max - b->fre_len;
	int r;

	*ret = (struct encoding){
		.builder = b,
		.function = f,
		.end = b->fres + b->fre_max,
		.start_type = last > 0xffff ? 2 : last > 0xff,
	};
	if (b->version >= 3 && room < SFRAME_V3_ATTR_SIZE)
		return -BOBBIN_ENOBUFS;
	for (unsigned int flex = 0; flex <= (b->version >= 3); flex++) {
		ret->flex = flex;
		ret->mangled = false;
		ret->out = (struct output){b->fres + b->fre_len, b->arch->big_endian};
		if (b->version >= 3)
			ret->out.at += SFRAME_V3_ATTR_SIZE;
		r = encode_rows(ret);
		if (r != -BOBBIN_ERANGE)
			break;
	}
	return r;
}

static uint32_t hash(const uint8_t *bytes, uint32_t size)
{
	uint32_t h = 2166136261u;

	for (uint32_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 16777619u; /* FNV-1a */
	return h ^ h >> 15;
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/*
 * Find equal rows in the section, or note these for later searches.  The rows include
 * V3's attribute record, but not V2's FDE, so its fields must be the same.
 */
static bool find_shared(struct bobbin_sframe_builder *b, struct bobbin_sframe_built *fde,
			uint32_t size)
{
	uint32_t h = hash(b->fres + fde->fre_off, size);

	for (uint32_t i = 0; i < SHARED_PROBES; i++) {
		uint32_t *slot = &b->shared[(h + i) & (b->shared_max - 1)];
		const struct bobbin_sframe_built *other;

		if (!*slot) {
			*slot = b->fde_count + 1;
			return false;
		}
		other = &b->fdes[*slot - 1];
		if (other->num_fres == fde->num_fres && other->info == fde->info &&
		    other->rep_size == fde->rep_size &&
		    (uint64_t)other->fre_off + size <= fde->fre_off &&
		    same_bytes(b->fres + other->fre_off, b->fres + fde->fre_off, size)) {
			fde->fre_off = other->fre_off;
			return true;
		}
	}
	return false;
}

/* V2 fields are 32 bits wide, at most 20 bytes a function away from the start. */
bool built_function_in_reach(const struct bobbin_sframe_builder *b, uint64_t start)
{
	int64_t distance = (int64_t)(start - b->addr);
	int64_t reach = (int64_t)INT32_MAX - SFRAME_HEADER_SIZE -
			(int64_t)SFRAME_V2_FDE_SIZE * b->fde_max;

	return b->version >= 3 || (distance >= -reach && distance <= reach);
}

int built_function_append(struct bobbin_sframe_builder *b, uint32_t size)
{
	struct bobbin_sframe_built *fde = &b->fdes[b->fde_count];

	if (size > INT32_MAX - b->fre_len)
		return -BOBBIN_ERANGE;
	fde->fre_off = b->fre_len;
	if (!b->shared || !find_shared(b, fde, size))
		b->fre_len += size;
	b->fde_count++;
	b->num_fres += fde->num_fres;
	return 0;
}

BOBBIN_API int bobbin_sframe_builder_add(struct bobbin_sframe_builder *builder,
					 const struct bobbin_sframe_function *function)
{
	struct bobbin_sframe_built *fde;
	struct encoding rows;
	uint8_t *first;
	int r;

	if (function->size > UINT64_MAX - function->start)
		return -BOBBIN_EINVAL;
	if (function->count > BOBBIN_SFRAME_MAX_ROWS ||
	    (function->signal && builder->version < 3) ||
	    !built_function_in_reach(builder, function->start))
		return -BOBBIN_ERANGE;
	if (builder->fde_count >= builder->fde_max)
		return -BOBBIN_ENOBUFS;
	r = encode(builder, function, &rows);
	if (r)
		return r;
	fde = &builder->fdes[builder->fde_count];
	*fde = (struct bobbin_sframe_built){
		.start = function->start,
		.size = function->size,
		.num_fres = function->count,
		.rep_size = function->rep_size,
		.flex = rows.flex,
		.info = rows.start_type | (function->rep_size ? SFRAME_FDE_PCMASK : 0) |
			(rows.key_b ? SFRAME_FDE_KEY_B : 0) |
			(function->signal ? SFRAME_FDE_SIGNAL : 0),
	};
	first = builder->fres + builder->fre_len;
	sframe_put_attribute(builder, fde, first);
	return built_function_append(builder, (uint32_t)(rows.out.at - first));
}

static uint8_t fde_bytes(const struct bobbin_sframe_builder *b)
{
	return sframe_fde_size_of(b->version);
}

BOBBIN_API uint64_t bobbin_sframe_builder_size(const struct bobbin_sframe_builder *builder)
{
	return SFRAME_HEADER_SIZE + (uint64_t)builder->fde_count * fde_bytes(builder) +
	       builder->fre_len;
}

/* By the distance from the section, as lookups search: addresses may wrap around. */
static bool comes_before(uint64_t addr, const struct bobbin_sframe_built *a,
			 const struct bobbin_sframe_built *b)
{
	int64_t x = (int64_t)(a->start - addr), y = (int64_t)(b->start - addr);

	return x != y ? x < y : a->size < b->size;
}

static void sort(uint64_t addr, struct bobbin_sframe_built *fdes, uint32_t count)
{
	bool sorted = true;

	for (uint32_t i = 1; i < count && sorted; i++)
		sorted = !comes_before(addr, &fdes[i], &fdes[i - 1]);
	if (!sorted)
		heap_sort(fdes, count, a, b, comes_before(addr, a, b));
}

static uint8_t abi_of(const struct bobbin_arch *arch)
{
	if (arch->default_ra_off)
		return SFRAME_ABI_AMD64_LITTLE;
	if (is_sframe_s390x(arch))
		return SFRAME_ABI_S390X_BIG;
	return arch->big_endian ? SFRAME_ABI_AARCH64_BIG : SFRAME_ABI_AARCH64_LITTLE;
}

/*
 * Starts are relative to their fields, or to the section.  binutils 2.44 reads only the
 * latter, which the errata for s390x abolished.
 */
static bool is_pcrel(const struct bobbin_sframe_builder *b)
{
	return b->version >= 3 || is_sframe_s390x(b->arch);
}

static void put_header(const struct bobbin_sframe_builder *b, struct output *out)
{
	put(out, SFRAME_MAGIC, 2);
	put(out, b->version, 1);
	put(out, BOBBIN_SFRAME_SORTED | (is_pcrel(b) ? BOBBIN_SFRAME_PCREL : 0), 1);
	put(out, abi_of(b->arch), 1);
	put(out, 0, 1);
	put(out, (uint8_t)b->arch->default_ra_off, 1);
	put(out, 0, 1);
	put(out, b->fde_count, 4);
	put(out, b->num_fres, 4);
	put(out, b->fre_len, 4);
	put(out, 0, 4);
	put(out, (uint64_t)b->fde_count * fde_bytes(b), 4);
}

static void put_fde(const struct bobbin_sframe_builder *b, const struct bobbin_sframe_built *fde,
		    uint64_t field, struct output *out)
{
	uint64_t distance = fde->start - (is_pcrel(b) ? field : b->addr);

	put(out, distance, b->version >= 3 ? 8 : 4);
	put(out, fde->size, 4);
	put(out, fde->fre_off, 4);
	if (b->version >= 3)
		return;
	put(out, fde->num_fres, 4);
	put(out, fde->info, 1);
	put(out, fde->rep_size, 1);
	put(out, 0, 2);
}

BOBBIN_API int bobbin_sframe_builder_finish(struct bobbin_sframe_builder *builder, void *out,
					    uint64_t size)
{
	struct output o = {out, builder->arch->big_endian};

	if (size < bobbin_sframe_builder_size(builder))
		return -BOBBIN_ENOBUFS;
	/* equal rows are found by an FDE's place, which changes now */
	for (uint32_t i = 0; builder->shared && i < builder->shared_max; i++)
		builder->shared[i] = 0;
	sort(builder->addr, builder->fdes, builder->fde_count);
	put_header(builder, &o);
	for (uint32_t i = 0; i < builder->fde_count; i++)
		put_fde(builder, &builder->fdes[i],
			builder->addr + SFRAME_HEADER_SIZE + (uint64_t)i * fde_bytes(builder), &o);
	if (builder->fre_len)
		__builtin_memcpy(o.at, builder->fres, builder->fre_len);
	return 0;
}
