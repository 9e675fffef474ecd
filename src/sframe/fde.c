/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fde.c - function descriptor entries.
 */
#include "core/bytes.h"
#include "sframe/layout.h"

/* What V1 and V2 keep in the table and V3 in front of the rows. */
struct attributes {
	uint32_t num_fres;
	uint64_t fre_off;
	uint8_t info, info2, rep_size;
};

static int read_v1_v2(const struct bobbin_sframe_view *view, uint64_t entry,
		      struct bobbin_error *err, struct attributes *a)
{
	const uint8_t *p = view->data + entry;
	bool big_endian = view->arch->big_endian;
	uint32_t off = load_u32(p + SFRAME_FDE_AT_FRE_OFF, big_endian);

	if (off > view->fre_len)
		return refuse(err, entry, BOBBIN_SFRAME_FDE);
	a->num_fres = load_u32(p + SFRAME_FDE_AT_NUM_FRES, big_endian);
	a->fre_off = view->fre_off + off;
	a->info = p[SFRAME_FDE_AT_INFO];
	a->info2 = 0;
	a->rep_size = view->version == 1 ? SFRAME_V1_REP_SIZE : p[SFRAME_FDE_AT_REP_SIZE];
	return 0;
}

static int read_v3(const struct bobbin_sframe_view *view, uint64_t entry, struct bobbin_error *err,
		   struct attributes *a)
{
	bool big_endian = view->arch->big_endian;
	uint32_t off = load_u32(view->data + entry + SFRAME_V3_FDE_AT_FRE_OFF, big_endian);
	const uint8_t *p;

	if (view->fre_len < SFRAME_V3_ATTR_SIZE || off > view->fre_len - SFRAME_V3_ATTR_SIZE)
		return refuse(err, entry, BOBBIN_SFRAME_FDE);
	p = view->data + view->fre_off + off;
	a->num_fres = load_u16(p, big_endian);
	a->fre_off = view->fre_off + off + SFRAME_V3_ATTR_SIZE;
	a->info = p[SFRAME_V3_ATTR_AT_INFO];
	a->info2 = p[SFRAME_V3_ATTR_AT_INFO2];
	a->rep_size = p[SFRAME_V3_ATTR_AT_REP_SIZE];
	return 0;
}

/*
 * Unused bits are ignored, as every known reader does; a number that we would
 * have to interpret is refused.
 */
static bool attributes_valid(const struct attributes *a)
{
	if ((a->info & SFRAME_FDE_FRE_TYPE) > SFRAME_FDE_FRE_TYPE_LAST)
		return false;
	if ((a->info2 & SFRAME_FDE_TYPE) > SFRAME_FDE_TYPE_FLEX)
		return false;
	return !(a->info & SFRAME_FDE_PCMASK) || a->rep_size;
}

int bobbin_sframe_read_fde(const struct bobbin_sframe_view *view, uint64_t entry,
			   struct bobbin_error *err, struct bobbin_sframe_fde *ret)
{
	bool big_endian = view->arch->big_endian;
	const struct sframe_starts starts = sframe_starts_of(view, big_endian, view->version);
	struct attributes a;
	uint64_t start;
	uint32_t size;
	int status;

	status = view->version >= 3 ? read_v3(view, entry, err, &a)
				    : read_v1_v2(view, entry, err, &a);
	if (status)
		return status;
	start = sframe_fde_start(&starts, entry);
	size = sframe_fde_size(view, entry, big_endian, view->version);
	/* the first PC behind the function must be representable */
	if (!attributes_valid(&a) || size > UINT64_MAX - start)
		return refuse(err, entry, BOBBIN_SFRAME_FDE);
	*ret = (struct bobbin_sframe_fde){
		.start = start,
		.size = size,
		.num_fres = a.num_fres,
		.fre_off = a.fre_off,
		.info = a.info,
		.info2 = a.info2,
		.rep_size = a.info & SFRAME_FDE_PCMASK ? a.rep_size : 0,
		.fre_type = 1 << (a.info & SFRAME_FDE_FRE_TYPE),
		.pcmask = a.info & SFRAME_FDE_PCMASK,
		.flex = a.info2 & SFRAME_FDE_TYPE,
		.signal = view->version >= 3 && a.info & SFRAME_FDE_SIGNAL,
		.key_b = view->arch->pac_mask && a.info & SFRAME_FDE_KEY_B,
	};
	return 0;
}

BOBBIN_API int bobbin_sframe_fde(const struct bobbin_sframe_view *view, uint32_t index,
				 struct bobbin_error *err, struct bobbin_sframe_fde *ret)
{
	if (index >= view->num_fdes)
		return refuse_as(-BOBBIN_ENOENT, err, view->fde_off, BOBBIN_NO_FUNCTION);
	return bobbin_sframe_read_fde(view, view->fde_off + (uint64_t)index * view->fde_size, err,
				      ret);
}
