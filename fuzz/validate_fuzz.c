/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as an SFrame section to be validated.
 *
 * Contract: <bobbin/sframe_validate.h> reads no byte outside of what it is
 * given; each defect has a place inside that and the severity of its reason;
 * their number and the time for them are bounded; more knowledge never makes a
 * section better; where no error is found, no function, row, rule or lookup is
 * refused.
 */
#include <bobbin/sframe_validate.h>

#include "../tests/sframe/sframe_contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS 0x400000
#define MAX_FUNCTIONS 4096

/* Defects that one header, one function and one row may have at most. */
#define HEADER_DEFECTS 16
#define FDE_DEFECTS 16
#define FRE_DEFECTS 16

struct findings {
	const struct bobbin_sframe_view *view;
	uint64_t available, count;
	int worst;
};

static void find(void *ctx, const struct bobbin_sframe_defect *defect)
{
	struct findings *f = ctx;

	promise(defect->offset <= f->available);
	promise(defect->severity == bobbin_sframe_severity(defect->reason));
	promise(defect->severity > BOBBIN_SFRAME_CLEAN);
	promise(defect->fde < f->view->num_fdes || defect->fde == BOBBIN_SFRAME_NOWHERE);
	promise(defect->fre == BOBBIN_SFRAME_NOWHERE || defect->fde != BOBBIN_SFRAME_NOWHERE);
	f->count++;
	if ((int)defect->severity > f->worst)
		f->worst = defect->severity;
}

static int validate(const struct bobbin_sframe_view *view,
		    const struct bobbin_sframe_bounds *bounds)
{
	struct findings f = {.view = view, .available = view->size};
	uint64_t rows = view->fre_len + (uint64_t)view->num_fdes * 32;
	int worst;

	if (bounds && bounds->available)
		f.available = bounds->available;
	worst = bobbin_sframe_validate(view, bounds, find, &f);
	promise(worst == f.worst || worst == -ENOBUFS);
	promise(f.count <=
		HEADER_DEFECTS + FDE_DEFECTS * (uint64_t)view->num_fdes + FRE_DEFECTS * rows);
	promise(worst == -ENOBUFS || bobbin_sframe_validate(view, bounds, NULL, NULL) == worst);
	return worst;
}

static void lookup(const struct bobbin_sframe_view *view, uint64_t pc)
{
	struct bobbin_row row;

	promise(bobbin_sframe_lookup(view, pc, NULL, &row) != -EBADMSG);
}

static void read_function(const struct bobbin_sframe_view *view, uint32_t index)
{
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;
	struct bobbin_rule rule;
	uint64_t at;

	promise(bobbin_sframe_fde(view, index, NULL, &fde) == 0);
	at = fde.fre_off;
	for (uint32_t i = 0; i < fde.num_fres && i < CONTRACT_FRES; i++, at = fre.next) {
		promise(bobbin_sframe_fre(view, &fde, at, NULL, &fre) == 0);
		promise(bobbin_sframe_rule(view, &fde, &fre, NULL, &rule) == 0);
		lookup(view, fde.start + fre.start);
	}
	lookup(view, fde.start);
	lookup(view, fde.start + fde.size - 1);
}

static void read_everything(const struct bobbin_sframe_view *view)
{
	for (uint32_t i = 0; i < view->num_fdes; i++)
		read_function(view, i);
}

static void obeys_validation(const struct bobbin_sframe_view *view, size_t available)
{
	static struct bobbin_sframe_order order[MAX_FUNCTIONS];
	const struct bobbin_range text[] = {{ADDRESS - 0x10000, ADDRESS - 0x8000},
					    {ADDRESS, ADDRESS + 0x10000}};
	struct bobbin_sframe_bounds bounds = {.available = available};
	int alone = validate(view, NULL), with_size = validate(view, &bounds), sorted, placed;

	promise(with_size >= alone || with_size == -ENOBUFS);
	bounds.order = order;
	bounds.order_max = MAX_FUNCTIONS;
	sorted = validate(view, &bounds);
	promise(sorted >= with_size || view->num_fdes > MAX_FUNCTIONS);
	bounds.arch = bobbin_arch_amd64();
	bounds.text = text;
	bounds.text_count = 2;
	placed = validate(view, &bounds);
	promise(placed >= sorted);
	if (sorted >= 0 && sorted < BOBBIN_SFRAME_ERROR)
		read_everything(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bobbin_sframe_view view;
	struct bobbin_error error;
	uint64_t pos = 0, end;

	for (unsigned int i = 0; i < 4; i++) {
		if (bobbin_sframe_next(data, size, ADDRESS, &pos, &error, &view) != 1)
			break;
		end = (uint64_t)(view.data - data);
		obeys_validation(&view, size - end);
	}
	return 0;
}
