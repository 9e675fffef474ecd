/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as call-frame information (cfi_input.h).
 *
 * Contract: every offset and every row is inside its bounds, rows of a function
 * follow each other and cover it, looking up finds what walking finds, a
 * failure has a reason and a place and leaves the result alone, and a success
 * leaves the error alone.  A step by a row is that by its rule, if it has one, and takes no
 * more work than it may.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bobbin/cfi.h>

#include "cfi/cfi_step.h"
#include "cfi_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OPERATIONS 1000 /* of expressions, for one step */
#define LOOKUPS 8       /* functions that are looked up; each may scan all */

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* An error that no call writes. */
static const struct bobbin_error unset = {UINT64_MAX, BOBBIN_REASON_COUNT};

/* The error after a call that returned @r, over @size bytes. */
static void check_error(int r, const struct bobbin_error *err, uint64_t size)
{
	if (r >= 0)
		must(err->reason == unset.reason && err->offset == unset.offset);
	else
		must(err->reason != BOBBIN_REASON_NONE && err->reason < BOBBIN_REASON_COUNT &&
		     err->offset <= size);
}

static void check_fde(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde)
{
	struct bobbin_error err = unset;
	struct bobbin_cfi_fde again;
	int r;

	must(fde->start <= fde->end);
	must(fde->offset < fde->next && fde->next <= view->frame_size);
	must(fde->cie < view->frame_size);
	must(fde->init <= fde->init_end && fde->init_end <= view->frame_size);
	must(fde->insn <= fde->insn_end && fde->insn_end == fde->next);
	r = bobbin_cfi_fde(view, fde->offset, &err, &again);
	must(!r && again.start == fde->start && again.end == fde->end);
	check_error(r, &err, view->frame_size);
}

static void check_rule(const struct bobbin_rule *rule)
{
	if (rule->cfa.how == BOBBIN_HOW_NO_RULE) {
		must(rule->reason != BOBBIN_REASON_NONE && rule->reason < BOBBIN_REASON_COUNT);
		return;
	}
	must(rule->cfa.how == BOBBIN_HOW_AT_REG || rule->cfa.how == BOBBIN_HOW_IN_REG_MEM);
	must(rule->ra.how > BOBBIN_HOW_NO_RULE && rule->ra.how <= BOBBIN_HOW_AT_PC);
	must(rule->ra.how != BOBBIN_HOW_AT_CFA && rule->fp.how != BOBBIN_HOW_UNDEFINED);
	must(rule->fp.how > BOBBIN_HOW_NO_RULE && rule->fp.how <= BOBBIN_HOW_IN_REG_MEM);
	must(rule->cfa.reg < BOBBIN_REG_COUNT && rule->ra.reg < BOBBIN_REG_COUNT);
	must(rule->fp.reg < BOBBIN_REG_COUNT);
	must(rule->index < BOBBIN_REG_COUNT || rule->index == BOBBIN_NO_INDEX);
}

/* Memory that is mostly there. */
static enum bobbin_reason read_made(void *unused, uint64_t addr, void *dst, size_t size)
{
	uint64_t value = addr * 0x9e3779b97f4a7c15ull >> 16;

	must(size && size <= sizeof(value));
	if (addr % 13 == 5)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, &value, size);
	return BOBBIN_REASON_NONE;
}

static void check_step(const struct bobbin_cfi_rows *rows, const struct bobbin_rule *rule,
		       uint64_t pc)
{
	const struct bobbin_arch *arch = rows->view->arch;
	const struct bobbin_mem mem = {read_made, NULL};
	uint64_t gpr[BOBBIN_REG_COUNT];
	uint32_t operations = OPERATIONS;
	struct table_step step = {.arch = arch, .operations = &operations};
	struct bobbin_regs regs;
	enum bobbin_reason reason;

	for (unsigned int i = 0; i < BOBBIN_REG_COUNT; i++)
		gpr[i] = 0x7000 + i * 16;
	step.regs = (struct bobbin_regs){.pc = pc, .sp = 0x6000, .fp = 0x7000, .exact = pc & 1};
	step.regs.gpr = gpr;
	step.regs.gpr_known = (uint32_t)(pc * 0x9e3779b1);
	regs = step.regs;
	reason = cfi_step(rows, pc, &mem, &step);
	must(operations <= OPERATIONS && reason < BOBBIN_REASON_COUNT);
	if (rule->cfa.how == BOBBIN_HOW_NO_RULE)
		return;
	must(reason == bobbin_step(arch, rule, &mem, &regs));
	must(reason || (regs.pc == step.regs.pc && regs.sp == step.regs.sp &&
			regs.fp == step.regs.fp && regs.exact == step.regs.exact));
}

static void check_row_at(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
			 const struct bobbin_row *row, uint8_t plt, uint64_t pc)
{
	struct bobbin_error err = unset;
	struct bobbin_cfi_rows rows;
	struct bobbin_row found;

	must(!bobbin_cfi_rows_init(view, fde, &err, &rows));
	must(!bobbin_cfi_rows_find(&rows, pc, &err, &found));
	check_error(0, &err, view->frame_size);
	check_rule(&found.rule);
	must(found.start <= pc && pc < found.end && found.function == fde->start);
	must(found.start >= row->start && found.end <= row->end);
	must(plt || bobbin_rule_equal(&found.rule, &row->rule));
	check_step(&rows, &found.rule, pc);
}

static void check_rows(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		       bool look_up)
{
	struct bobbin_error err = unset;
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	uint64_t pc = fde->start;
	int r;

	r = bobbin_cfi_rows_init(view, fde, &err, &rows);
	check_error(r, &err, view->frame_size);
	if (r)
		return;
	for (unsigned int n = 0; (r = bobbin_cfi_rows_next(&rows, &err, &row)) > 0; n++) {
		must(row.start == pc && row.start < row.end && row.end <= fde->end);
		must(row.function == fde->start && rows.plt < 16);
		check_rule(&row.rule);
		if (look_up && n < LOOKUPS) {
			check_row_at(view, fde, &row, rows.plt, row.start);
			check_row_at(view, fde, &row, rows.plt, row.end - 1);
		}
		pc = row.end;
	}
	check_error(r, &err, view->frame_size);
	must(r < 0 || pc == fde->end);
}

static void check_find(const struct bobbin_cfi_view *view, uint64_t pc)
{
	struct bobbin_error err = unset;
	struct bobbin_cfi_fde fde, before;
	struct bobbin_row row, row_before;
	struct bobbin_cfi_rows rows;
	int r;

	memset(&fde, 0xa5, sizeof(fde));
	memcpy(&before, &fde, sizeof(fde));
	r = bobbin_cfi_find(view, pc, &err, &fde);
	check_error(r, &err, view->frame_size);
	must(r == 0 || r == -ENOENT || r == -EBADMSG);
	if (r)
		must(!memcmp(&before, &fde, sizeof(fde)));
	else
		must(fde.start <= pc && pc < fde.end);

	memset(&row, 0xa5, sizeof(row));
	memcpy(&row_before, &row, sizeof(row));
	err = unset;
	r = bobbin_cfi_lookup(view, pc, &rows, &err, &row);
	check_error(r, &err, view->frame_size);
	must(r == 0 || r == -ENOENT || r == -EBADMSG);
	if (r)
		must(!memcmp(&row_before, &row, sizeof(row)));
	else
		must(row.start <= pc && pc < row.end && row.start >= row.function);
}

static bool same_fde(const struct bobbin_cfi_fde *a, const struct bobbin_cfi_fde *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->next == b->next && a->cie == b->cie && a->init == b->init &&
	       a->init_end == b->init_end && a->insn == b->insn && a->insn_end == b->insn_end &&
	       a->code_align == b->code_align && a->data_align == b->data_align &&
	       a->ra_column == b->ra_column && a->fde_enc == b->fde_enc && a->signal == b->signal &&
	       a->key_b == b->key_b && a->sized == b->sized;
}

/* What is remembered of the FDE before changes nothing; @offset is where @fde was found. */
static void check_like(const struct bobbin_cfi_view *view, uint64_t offset, int r,
		       const struct bobbin_cfi_fde *like, const struct bobbin_cfi_fde *fde)
{
	struct bobbin_cfi_rows rows, again;
	struct bobbin_cfi_fde found;
	struct bobbin_row row, other;

	must(bobbin_cfi_next_like(view, &offset, like, NULL, &found) == r);
	if (r < 0)
		return;
	must(same_fde(&found, fde));
	if (!like->init_end || bobbin_cfi_rows_init(view, like, NULL, &again))
		return;
	r = bobbin_cfi_rows_init(view, fde, NULL, &rows);
	must(bobbin_cfi_rows_again(fde, NULL, &again) == r);
	while (!r && (r = bobbin_cfi_rows_next(&rows, NULL, &row)) > 0) {
		must(bobbin_cfi_rows_next(&again, NULL, &other) == r);
		must(row.start == other.start && row.end == other.end);
		must(bobbin_rule_equal(&row.rule, &other.rule));
		r = 0;
	}
}

static void check_walk(const struct bobbin_cfi_view *view)
{
	struct bobbin_error err = unset;
	struct bobbin_cfi_fde fde, like = {0};
	uint64_t offset = 0, before = 0;
	int r;

	for (unsigned int n = 0; (r = bobbin_cfi_next(view, &offset, &err, &fde)) != 0; n++) {
		must(offset > before && offset <= view->frame_size);
		check_error(r, &err, view->frame_size);
		if (n < LOOKUPS)
			check_like(view, before, r, &like, &fde);
		before = offset;
		err = unset;
		if (r < 0)
			continue;
		like = fde;
		check_fde(view, &fde);
		check_rows(view, &fde, n < LOOKUPS);
		if (n < LOOKUPS) {
			check_find(view, fde.start);
			check_find(view, fde.end - 1);
			check_find(view, fde.end);
		}
	}
}

static void check_init(struct bobbin_cfi_view *view)
{
	struct bobbin_error err = unset;
	int r = bobbin_cfi_view_init(view, &err);

	check_error(r, &err, view->hdr_size);
	must(r == 0 || r == -ENODATA || r == -EBADMSG);
	must((r == 0) == (view->table_count != 0) && (r == 0) == (view->table != 0));
	must(view->table + 8 * (uint64_t)view->table_count <= view->hdr_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bobbin_cfi_view view;
	uint8_t selector;

	if (!cfi_input(data, size, &view, &selector))
		return 0;
	check_init(&view);
	check_walk(&view);
	check_find(&view, view.frame_addr);
	check_find(&view, UINT64_MAX);
	return 0;
}
