/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fde.h - how to read a function descriptor entry.
 *
 * Inlined into bobbin_sframe_fde() and into lookups, which keep what they need
 * of an entry in registers.
 */
#ifndef BOBBIN_SFRAME_FDE_H
#define BOBBIN_SFRAME_FDE_H

#include "sframe/layout.h"

/* What V1 and V2 keep in the table and V3 in front of the rows. */
struct sframe_attributes {
	uint32_t num_fres;
	uint64_t fre_off;
	uint8_t info, info2, rep_size;
};

static BOBBIN_ALWAYS_INLINE bool sframe_read_attributes_v1_v2(const struct bobbin_sframe_view *view,
							      struct sframe_fdes *fdes,
							      uint64_t entry,
							      struct sframe_attributes *a)
{
	const uint8_t *p = fdes->data + entry;
	uint32_t off = memory_u32(p + SFRAME_FDE_AT_FRE_OFF, fdes->big_endian, &fdes->fault);

	if (off > view->fre_len)
		return false;
	a->num_fres = memory_u32(p + SFRAME_FDE_AT_NUM_FRES, fdes->big_endian, &fdes->fault);
	a->fre_off = view->fre_off + off;
	a->info = memory_u8(p + SFRAME_FDE_AT_INFO, &fdes->fault);
	a->info2 = 0;
	a->rep_size = fdes->version == 1 ? SFRAME_V1_REP_SIZE
					 : memory_u8(p + SFRAME_FDE_AT_REP_SIZE, &fdes->fault);
	return true;
}

static BOBBIN_ALWAYS_INLINE bool sframe_read_attributes_v3(const struct bobbin_sframe_view *view,
							   struct sframe_fdes *fdes, uint64_t entry,
							   struct sframe_attributes *a)
{
	const uint8_t *p = fdes->data + entry;
	uint32_t off = memory_u32(p + SFRAME_V3_FDE_AT_FRE_OFF, fdes->big_endian, &fdes->fault);

	if (view->fre_len < SFRAME_V3_ATTR_SIZE || off > view->fre_len - SFRAME_V3_ATTR_SIZE)
		return false;
	p = view->data + view->fre_off + off;
	a->num_fres = memory_u16(p, fdes->big_endian, &fdes->fault);
	a->fre_off = view->fre_off + off + SFRAME_V3_ATTR_SIZE;
	a->info = memory_u8(p + SFRAME_V3_ATTR_AT_INFO, &fdes->fault);
	a->info2 = memory_u8(p + SFRAME_V3_ATTR_AT_INFO2, &fdes->fault);
	a->rep_size = memory_u8(p + SFRAME_V3_ATTR_AT_REP_SIZE, &fdes->fault);
	return true;
}

/*
 * Unused bits are ignored, as in every known reader.  Unknown values of a field are
 * refused.
 */
static BOBBIN_ALWAYS_INLINE bool sframe_attributes_valid(const struct sframe_attributes *a)
{
	if ((a->info & SFRAME_FDE_FRE_TYPE) > SFRAME_FDE_FRE_TYPE_LAST)
		return false;
	if ((a->info2 & SFRAME_FDE_TYPE) > SFRAME_FDE_TYPE_FLEX)
		return false;
	return !(a->info & SFRAME_FDE_PCMASK) || a->rep_size;
}

/*
 * Nobody but the kernel bounds how long a walk takes: there rows are as many as version 3 can
 * count, and each but the last has a byte of code.  gas writes rows that start at the end.
 */
static BOBBIN_ALWAYS_INLINE bool sframe_row_count_valid(const struct sframe_attributes *a,
							uint32_t size)
{
#ifdef __KERNEL__
	uint32_t bytes = a->info & SFRAME_FDE_PCMASK ? a->rep_size : size;

	return a->num_fres <= U16_MAX && (!a->num_fres || a->num_fres - 1 <= bytes);
#else
	(void)a;
	(void)size;
	return true;
#endif
}

/**
 * sframe_read_fde() - bobbin_sframe_fde() by the offset of the entry
 * @view: a checked section
 * @fdes: its FDE table, best with constants for byte order and version
 * @entry: offset of an entry
 * @ret: the entry; untouched on failure
 *
 * Return: whether the entry was read and is sane.
 */
static BOBBIN_ALWAYS_INLINE bool sframe_read_fde(const struct bobbin_sframe_view *view,
						 struct sframe_fdes *fdes, uint64_t entry,
						 struct bobbin_sframe_fde *ret)
{
	uint64_t start = sframe_fde_start(fdes, entry);
	uint32_t size = sframe_fde_size(fdes, entry);
	struct sframe_attributes a;

	if (fdes->version >= 3 ? !sframe_read_attributes_v3(view, fdes, entry, &a)
			       : !sframe_read_attributes_v1_v2(view, fdes, entry, &a))
		return false;
	/* the first PC after the function must be representable */
	if (fdes->fault || !sframe_attributes_valid(&a) || size > UINT64_MAX - start)
		return false;
	if (!sframe_row_count_valid(&a, size))
		return false;
	ret->start = start;
	ret->size = size;
	ret->num_fres = a.num_fres;
	ret->fre_off = a.fre_off;
	ret->info = a.info;
	ret->info2 = a.info2;
	ret->rep_size = a.info & SFRAME_FDE_PCMASK ? a.rep_size : 0;
	ret->fre_type = 1 << (a.info & SFRAME_FDE_FRE_TYPE);
	ret->pcmask = a.info & SFRAME_FDE_PCMASK;
	ret->flex = a.info2 & SFRAME_FDE_TYPE;
	ret->signal = fdes->version >= 3 && a.info & SFRAME_FDE_SIGNAL;
	ret->key_b = sframe_arch(view)->pac_mask && a.info & SFRAME_FDE_KEY_B;
	return true;
}

#endif
