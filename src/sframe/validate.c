/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * validate.c - a section as a whole.
 *
 * Functions are looked at one by one, then in the order of their addresses, then
 * their rows in the order of their bytes.  The same memory sorts both.
 */
#include "sframe/default_rule.h"
#include "sframe/defects.h"

/* Bytes of rows that a function may share, on average, before it takes too long. */
#define SHARED_BYTES 64

/* struct bobbin_sframe_order.key of a function whose rows cannot be read */
#define NO_ROWS UINT64_MAX

struct validation {
	struct defects defects;
	const struct bobbin_sframe_view *view;
	const struct bobbin_sframe_bounds *bounds;
	struct bobbin_sframe_order *order; /* or NULL */
	struct rows_walked rows;           /* the last that were */
	uint64_t num_fres;                 /* of all functions */
	bool readable;                     /* all of them are */
	bool shared;
};

static void check_trailing(struct validation *v)
{
	for (uint64_t i = v->view->size; i < v->bounds->available; i++) {
		bool fault = false;
		uint8_t byte = memory_u8(v->view->data + i, &fault);

		if (!byte && !fault)
			continue;
		defects_add(&v->defects, i,
			    fault ? BOBBIN_REASON_NO_MEMORY : BOBBIN_REASON_SFRAME_TRAILING);
		return;
	}
}

static void check_header(struct validation *v)
{
	const struct bobbin_sframe_view *view = v->view;
	struct defects *d = &v->defects;
	uint8_t auxiliary = (uint8_t)defects_load(d, SFRAME_AT_AUX_LEN, 1);

	if (v->bounds->arch && v->bounds->arch != view->arch)
		defects_add(d, SFRAME_AT_ABI, BOBBIN_REASON_SFRAME_FOREIGN);
	if (view->flags & BOBBIN_SFRAME_FRAME_POINTER)
		defects_add(d, SFRAME_AT_FLAGS, BOBBIN_REASON_SFRAME_KEEPS_FP);
	if (view->version >= 3 && !(view->flags & BOBBIN_SFRAME_PCREL))
		defects_add(d, SFRAME_AT_FLAGS, BOBBIN_REASON_SFRAME_SECTION_RELATIVE);
	if (!view->sorted && view->num_fdes > 1)
		defects_add(d, SFRAME_AT_FLAGS, BOBBIN_REASON_SFRAME_UNSORTED);
	if (view->fixed_fp)
		defects_add(d, SFRAME_AT_FIXED_FP, BOBBIN_REASON_SFRAME_FIXED);
	if (view->fixed_ra != view->arch->default_ra_off)
		defects_add(d, SFRAME_AT_FIXED_RA, BOBBIN_REASON_SFRAME_FIXED);
	if (auxiliary)
		defects_add(d, SFRAME_AT_AUX_LEN, BOBBIN_REASON_SFRAME_AUXILIARY);
	if (view->fde_off != SFRAME_HEADER_SIZE + (uint64_t)auxiliary)
		defects_add(d, SFRAME_AT_FDE_OFF, BOBBIN_REASON_SFRAME_GAP);
	if (view->fre_off != view->fde_off + (uint64_t)view->num_fdes * view->fde_size)
		defects_add(d, SFRAME_AT_FRE_OFF, BOBBIN_REASON_SFRAME_GAP);
	check_trailing(v);
}

static uint64_t entry_of(const struct validation *v, uint32_t fde)
{
	return v->view->fde_off + (uint64_t)fde * v->view->fde_size;
}

static uint64_t start_of(const struct validation *v, uint32_t fde)
{
	struct sframe_fdes fdes = sframe_fdes_of(v->view);

	return sframe_fde_start(&fdes, entry_of(v, fde));
}

/*
 * The place of a function among the others.  Lookups compare signed distances from the
 * section.
 */
static uint64_t rank_of(const struct validation *v, uint32_t fde)
{
	return start_of(v, fde) - v->view->addr + ((uint64_t)1 << 63);
}

static uint32_t size_of(const struct validation *v, uint32_t fde)
{
	struct sframe_fdes fdes = sframe_fdes_of(v->view);

	return sframe_fde_size(&fdes, entry_of(v, fde));
}

static void check_text(struct validation *v, uint32_t fde)
{
	const struct bobbin_sframe_bounds *bounds = v->bounds;

	if (bounds->text_count && !bobbin_ranges_hold(bounds->text, bounds->text_count,
						      start_of(v, fde), size_of(v, fde)))
		defects_add(&v->defects, entry_of(v, fde), BOBBIN_REASON_SFRAME_TEXT);
}

/* Each function for itself.  Sets the order of the rows. */
static void check_functions(struct validation *v)
{
	struct defects *d = &v->defects;

	v->readable = true;
	for (d->fde = 0; d->fde < v->view->num_fdes; d->fde++) {
		uint32_t num_fres = 0;
		bool readable = defects_of_fde(d, &num_fres);
		uint64_t rows = defects_load(d, defects_rows_field(d), 4);

		v->num_fres += num_fres;
		v->readable &= readable;
		check_text(v, d->fde);
		if (v->view->sorted && d->fde && rank_of(v, d->fde) < rank_of(v, d->fde - 1))
			defects_add(d, entry_of(v, d->fde), BOBBIN_REASON_SFRAME_ORDER);
		if (v->order)
			v->order[d->fde] = (struct bobbin_sframe_order){
				.key = readable ? rows : NO_ROWS, .fde = d->fde};
	}
	d->fde = BOBBIN_SFRAME_NOWHERE;
	if (v->readable && v->num_fres != v->view->num_fres)
		defects_add(d, SFRAME_AT_NUM_FRES, BOBBIN_REASON_SFRAME_COUNT);
}

static uint32_t nth(const struct validation *v, uint32_t i)
{
	return v->order ? v->order[i].fde : i;
}

/* In the order of addresses, or as far as the table has that without sorting. */
static void check_overlaps(struct validation *v)
{
	uint64_t last = 0, end = 0;

	for (uint32_t i = 0; v->order && i < v->view->num_fdes; i++)
		v->order[i] = (struct bobbin_sframe_order){.key = rank_of(v, i), .fde = i};
	if (v->order)
		defects_sort(v->order, v->view->num_fdes);
	else if (!v->view->sorted)
		return;
	for (uint32_t i = 0; i < v->view->num_fdes; i++) {
		uint32_t fde = nth(v, i), size = size_of(v, fde);
		uint64_t start = rank_of(v, fde);

		if (start < last)
			break;
		last = start;
		v->defects.fde = fde;
		if (size && start < end)
			defects_add(&v->defects, entry_of(v, fde), BOBBIN_REASON_SFRAME_OVERLAP);
		if (size <= UINT64_MAX - start && start + size > end)
			end = start + size;
	}
	v->defects.fde = BOBBIN_SFRAME_NOWHERE;
}

static void check_gap(struct validation *v, uint64_t next)
{
	v->defects.fde = BOBBIN_SFRAME_NOWHERE;
	if (v->readable && v->rows.whole && v->rows.end < next)
		defects_add(&v->defects, v->rows.end, BOBBIN_REASON_SFRAME_UNUSED);
}

/* Bytes that were looked at already, for another function. */
static void check_used_rows(struct validation *v, const struct bobbin_sframe_fde *fde,
			    uint64_t begin)
{
	const struct bobbin_sframe_fde *other = &v->rows.fde;

	if (begin != v->rows.begin || fde->num_fres != other->num_fres ||
	    fde->fre_type != other->fre_type) {
		defects_add(&v->defects, defects_rows_field(&v->defects),
			    BOBBIN_REASON_SFRAME_ROWS_OVERLAP);
		return;
	}
	if (!v->shared)
		defects_add(&v->defects, defects_rows_field(&v->defects),
			    BOBBIN_REASON_SFRAME_SHARED);
	v->shared = true;
	defects_of_shared_rows(&v->defects, fde, &v->rows);
}

/* In the order of bytes, each byte once. */
static void check_rows_sorted(struct validation *v)
{
	const struct bobbin_sframe_view *view = v->view;
	uint64_t head = view->version >= 3 ? SFRAME_V3_ATTR_SIZE : 0;
	struct bobbin_sframe_fde fde;

	v->rows = (struct rows_walked){.end = view->fre_off, .whole = true};
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint32_t index = v->order[i].fde;
		uint64_t begin;

		if (v->order[i].key == NO_ROWS || bobbin_sframe_fde(view, index, NULL, &fde))
			continue;
		begin = fde.fre_off - head;
		if (!fde.num_fres && !head)
			continue;
		if (begin >= v->rows.end) {
			check_gap(v, begin);
			v->defects.fde = index;
			defects_of_rows(&v->defects, &fde, &v->rows);
		} else {
			v->defects.fde = index;
			check_used_rows(v, &fde, begin);
		}
	}
	check_gap(v, view->fre_off + view->fre_len);
}

/* Without memory rows are looked at as often as functions share them. */
static int check_rows(struct validation *v)
{
	uint64_t left = v->view->fre_len + (uint64_t)v->view->num_fdes * SHARED_BYTES;
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < v->view->num_fdes; i++) {
		if (bobbin_sframe_fde(v->view, i, NULL, &fde))
			continue;
		v->defects.fde = i;
		defects_of_rows(&v->defects, &fde, &v->rows);
		if (v->rows.end - v->rows.begin > left)
			return -BOBBIN_ENOBUFS;
		left -= v->rows.end - v->rows.begin;
	}
	return 0;
}

BOBBIN_API int bobbin_sframe_validate(
	const struct bobbin_sframe_view *view, const struct bobbin_sframe_bounds *bounds,
	void (*report)(void *ctx, const struct bobbin_sframe_defect *defect), void *ctx)
{
	const struct bobbin_sframe_bounds unknown = {0};
	struct validation v = {
		.defects = {.view = view,
			    .report = report,
			    .ctx = ctx,
			    .fde = BOBBIN_SFRAME_NOWHERE,
			    .fre = BOBBIN_SFRAME_NOWHERE},
		.view = view,
		.bounds = bounds ? bounds : &unknown,
	};
	int r = 0;

	if (v.bounds->order && v.bounds->order_max >= view->num_fdes)
		v.order = v.bounds->order;
	check_header(&v);
	check_overlaps(&v);
	check_functions(&v);
	if (v.order) {
		defects_sort(v.order, view->num_fdes);
		check_rows_sorted(&v);
	} else {
		r = check_rows(&v);
	}
	return r ? r : (int)v.defects.worst;
}
