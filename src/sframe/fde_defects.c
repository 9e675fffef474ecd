/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of one function.  bobbin_sframe_fde() refuses an entry as a whole
 * and ignores what it does not need; here each field is looked at on its own.
 */
#include "sframe/defects.h"

#define V1_INFO_UNUSED 0xc0
#define V3_INFO_UNUSED 0x40
#define INFO2_UNUSED 0xe0
#define V2_AT_PADDING 18

/* Offsets of the fields that are elsewhere in V3. */
struct fields {
	uint64_t num_fres, info, info2, rep_size;
};

static uint64_t entry_of(const struct defects *d)
{
	return d->view->fde_off + (uint64_t)d->fde * d->view->fde_size;
}

uint64_t defects_rows_field(const struct defects *d)
{
	return entry_of(d) +
	       (d->view->version >= 3 ? SFRAME_V3_FDE_AT_FRE_OFF : SFRAME_FDE_AT_FRE_OFF);
}

/* false: there is no room for V3's attributes, or for any row. */
static bool find_fields(struct defects *d, struct fields *ret)
{
	const struct bobbin_sframe_view *view = d->view;
	uint64_t entry = entry_of(d);
	uint32_t rows = defects_load(d, defects_rows_field(d), 4);
	uint64_t room = view->version >= 3 ? SFRAME_V3_ATTR_SIZE : 0, at = view->fre_off + rows;

	if (view->version < 3)
		*ret = (struct fields){
			.num_fres = entry + SFRAME_FDE_AT_NUM_FRES,
			.info = entry + SFRAME_FDE_AT_INFO,
			.rep_size = entry + SFRAME_FDE_AT_REP_SIZE,
		};
	else
		*ret = (struct fields){
			.num_fres = at,
			.info = at + SFRAME_V3_ATTR_AT_INFO,
			.info2 = at + SFRAME_V3_ATTR_AT_INFO2,
			.rep_size = at + SFRAME_V3_ATTR_AT_REP_SIZE,
		};
	return view->fre_len >= room && rows <= view->fre_len - room;
}

static void check_info(struct defects *d, const struct fields *at)
{
	uint8_t info = (uint8_t)defects_load(d, at->info, 1);
	uint8_t unused = d->view->version < 3 ? V1_INFO_UNUSED : V3_INFO_UNUSED;

	if ((info & SFRAME_FDE_FRE_TYPE) > SFRAME_FDE_FRE_TYPE_LAST)
		defects_add(d, at->info, BOBBIN_REASON_SFRAME_FRE_TYPE);
	if (info & unused)
		defects_add(d, at->info, BOBBIN_REASON_SFRAME_RESERVED);
	if (info & SFRAME_FDE_KEY_B && !d->view->arch->pac_mask)
		defects_add(d, at->info, BOBBIN_REASON_SFRAME_KEY);
}

static void check_info2(struct defects *d, const struct fields *at)
{
	uint8_t info2;

	if (d->view->version < 3)
		return;
	info2 = (uint8_t)defects_load(d, at->info2, 1);
	if ((info2 & SFRAME_FDE_TYPE) > SFRAME_FDE_TYPE_FLEX)
		defects_add(d, at->info2, BOBBIN_REASON_SFRAME_FDE_TYPE);
	if (info2 & INFO2_UNUSED)
		defects_add(d, at->info2, BOBBIN_REASON_SFRAME_RESERVED);
}

static void check_blocks(struct defects *d, const struct fields *at, uint32_t size)
{
	bool repeats = (uint8_t)defects_load(d, at->info, 1) & SFRAME_FDE_PCMASK,
	     has_field = d->view->version > 1;
	uint8_t block = has_field ? (uint8_t)defects_load(d, at->rep_size, 1) : SFRAME_V1_REP_SIZE;

	if (repeats && !block)
		defects_add(d, at->rep_size, BOBBIN_REASON_SFRAME_REP_ZERO);
	else if (repeats && size % block)
		defects_add(d, at->info, BOBBIN_REASON_SFRAME_REP_REST);
	else if (!repeats && block && has_field)
		defects_add(d, at->rep_size, BOBBIN_REASON_SFRAME_REP_UNUSED);
}

/* Each row but the last needs a byte of code for itself. */
static void check_count(struct defects *d, const struct fields *at, uint32_t num_fres)
{
	struct bobbin_sframe_fde fde;

	if (!num_fres && d->view->version < 3)
		defects_add(d, at->num_fres, BOBBIN_REASON_SFRAME_NO_ROWS);
	if (bobbin_sframe_fde(d->view, d->fde, NULL, &fde))
		return;
	if (num_fres > (uint64_t)sframe_fre_limit(&fde) + 1)
		defects_add(d, at->num_fres, BOBBIN_REASON_SFRAME_ROW_COUNT);
}

bool defects_of_fde(struct defects *d, uint32_t *num_fres)
{
	const struct bobbin_sframe_view *view = d->view;
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t entry = entry_of(d);
	uint64_t start = sframe_fde_start(&fdes, entry);
	uint32_t size = sframe_fde_size(&fdes, entry);
	struct bobbin_sframe_fde fde;
	struct fields at;

	if (fdes.fault) {
		defects_add(d, entry, BOBBIN_REASON_NO_MEMORY);
		return false;
	}
	if (size > UINT64_MAX - start)
		defects_add(d, entry, BOBBIN_REASON_SFRAME_WRAP);
	if (!size)
		defects_add(d, entry, BOBBIN_REASON_SFRAME_NO_CODE);
	if (view->version == 2 && defects_load(d, entry + V2_AT_PADDING, 2))
		defects_add(d, entry + V2_AT_PADDING, BOBBIN_REASON_SFRAME_RESERVED);
	if (!find_fields(d, &at)) {
		defects_add(d, defects_rows_field(d), BOBBIN_REASON_SFRAME_ROWS_OUTSIDE);
		return false;
	}
	*num_fres = defects_load(d, at.num_fres, view->version < 3 ? 4 : 2);
	check_info(d, &at);
	check_info2(d, &at);
	check_blocks(d, &at, size);
	check_count(d, &at, *num_fres);
	return !bobbin_sframe_fde(view, d->fde, NULL, &fde);
}
