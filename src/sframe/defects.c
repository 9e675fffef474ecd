/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sframe/defects.h"

#include "sframe/heap_sort.h"

BOBBIN_API enum bobbin_sframe_severity bobbin_sframe_severity(enum bobbin_reason reason)
{
	switch (reason) {
	case BOBBIN_REASON_SFRAME_KEEPS_FP:
	case BOBBIN_REASON_SFRAME_UNSORTED:
	case BOBBIN_REASON_SFRAME_SHARED:
	case BOBBIN_REASON_SFRAME_REP_UNUSED:
	case BOBBIN_REASON_SFRAME_NO_CODE:
	case BOBBIN_REASON_SFRAME_NO_ROWS:
	case BOBBIN_REASON_SFRAME_ROW_AT_END:
	case BOBBIN_REASON_SFRAME_LATE_ROW:
	case BOBBIN_REASON_SFRAME_BASE:
	case BOBBIN_REASON_SFRAME_UNALIGNED:
	case BOBBIN_REASON_SFRAME_SLOT:
	case BOBBIN_REASON_SFRAME_STACK_ALIGN:
		return BOBBIN_SFRAME_NOTE;
	case BOBBIN_REASON_SFRAME_CONCATENATED:
	case BOBBIN_REASON_SFRAME_AUXILIARY:
	case BOBBIN_REASON_SFRAME_GAP:
	case BOBBIN_REASON_SFRAME_TRAILING:
	case BOBBIN_REASON_SFRAME_FIXED:
	case BOBBIN_REASON_SFRAME_SECTION_RELATIVE:
	case BOBBIN_REASON_SFRAME_UNUSED:
	case BOBBIN_REASON_SFRAME_REP_REST:
	case BOBBIN_REASON_SFRAME_RESERVED:
	case BOBBIN_REASON_SFRAME_KEY:
	case BOBBIN_REASON_SFRAME_OVERLAP:
	case BOBBIN_REASON_SFRAME_TWIN_ROWS:
	case BOBBIN_REASON_SFRAME_MANGLED:
	case BOBBIN_REASON_SFRAME_CFA_BELOW:
	case BOBBIN_REASON_SFRAME_STUB:
		return BOBBIN_SFRAME_WARNING;
	default:
		return BOBBIN_SFRAME_ERROR;
	}
}

void defects_add(struct defects *d, uint64_t offset, enum bobbin_reason reason)
{
	const struct bobbin_sframe_defect defect = {
		.offset = offset,
		.reason = reason,
		.severity = bobbin_sframe_severity(reason),
		.fde = d->fde,
		.fre = d->fre,
	};

	if (defect.severity > d->worst)
		d->worst = defect.severity;
	if (d->report)
		d->report(d->ctx, &defect);
}

uint32_t defects_load(struct defects *d, uint64_t offset, unsigned int bytes)
{
	const uint8_t *p = d->view->data + offset;
	bool big_endian = d->view->arch->big_endian, fault = false;
	uint32_t number;

	if (bytes == 1)
		number = memory_u8(p, &fault);
	else if (bytes == 2)
		number = memory_u16(p, big_endian, &fault);
	else
		number = memory_u32(p, big_endian, &fault);
	if (fault)
		defects_add(d, offset, BOBBIN_REASON_NO_MEMORY);
	return number;
}

static bool comes_before(const struct bobbin_sframe_order *a, const struct bobbin_sframe_order *b)
{
	return a->key != b->key ? a->key < b->key : a->fde < b->fde;
}

void defects_sort(struct bobbin_sframe_order *order, uint32_t count)
{
	bool sorted = true;

	for (uint32_t i = 1; i < count && sorted; i++)
		sorted = comes_before(&order[i - 1], &order[i]);
	if (!sorted)
		heap_sort(order, count, a, b, comes_before(a, b));
}
