// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/stated_rows.h"

#include <bobbin/cfi.h>

#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "core/bisect.h"
#include "table/table_sources.h"

/* Entries of one table. */
#define MOST_SITES 65536

/* A cursor at the augmentation string of a CIE; false: it has none. */
static bool open_cie(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		     struct bytes *ret)
{
	*ret = bytes_of(view->frame, view->frame_size, view->arch->big_endian);
	bytes_seek(ret, fde->cie);
	if (bytes_u32(ret) == UINT32_MAX)
		bytes_skip(ret, 8);
	bytes_skip(ret, 4 + 1);
	return !ret->bad && bytes_left(ret) && ret->data[ret->pos] == 'z';
}

/* The encoding of pointers to language-specific data; PE_OMIT: there are none. */
static uint8_t lsda_encoding(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde)
{
	struct bytes b, letters;
	uint64_t personality;

	if (view->debug_frame || !open_cie(view, fde, &b))
		return PE_OMIT;
	letters = b;
	while (bytes_u8(&b))
		;
	bytes_uleb(&b);
	bytes_sleb(&b);
	bytes_uleb(&b);
	bytes_uleb(&b);
	bytes_skip(&letters, 1);
	for (uint8_t letter = bytes_u8(&letters); letter && !b.bad; letter = bytes_u8(&letters))
		switch (letter) {
		case 'L':
			return bytes_u8(&b);
		case 'R':
			bytes_u8(&b);
			break;
		case 'P':
			encoded_value(&b, bytes_u8(&b) & PE_FORMAT, &personality);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return PE_OMIT;
		}
	return PE_OMIT;
}

/* The address of a function's language-specific data; false: it has none. */
static bool lsda_of(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		    uint8_t encoding, uint64_t *ret)
{
	struct bytes b = bytes_of(view->frame, fde->insn, view->arch->big_endian), probe;
	uint64_t skipped;

	bytes_seek(&b, fde->offset);
	if (bytes_u32(&b) == UINT32_MAX)
		bytes_skip(&b, 8);
	bytes_skip(&b, 4);
	encoded_value(&b, fde->fde_enc & PE_FORMAT, &skipped);
	encoded_value(&b, fde->fde_enc & PE_FORMAT, &skipped);
	if (!bytes_uleb(&b))
		return false;
	/* a pointer that is 0 leads nowhere, whatever it is relative to */
	probe = b;
	if (!encoded_value(&probe, encoding & PE_FORMAT, &skipped) || !skipped)
		return false;
	return encoded_pointer(&b, encoding, view->frame_addr, 0, ret) && !b.bad;
}

static int add_sites(struct program *program, struct bytes *b, uint8_t encoding, uint64_t function,
		     uint64_t pads)
{
	const uint64_t size = bytes_uleb(b), end = b->pos + size;
	int r = 0;

	for (unsigned int i = 0; i < MOST_SITES && !b->bad && b->pos < end && !r; i++) {
		uint64_t start, length, pad;

		if (!encoded_value(b, encoding, &start) || !encoded_value(b, encoding, &length) ||
		    !encoded_value(b, encoding, &pad))
			return 0;
		bytes_uleb(b);
		if (!b->bad && pad && program_code(program, pads + pad))
			r = program_add_pad(program, function + start, function + start + length,
					    pads + pad);
	}
	return r;
}

static int add_table(struct program *program, uint64_t lsda, uint64_t function)
{
	uint64_t size, pads = function;
	const uint8_t *data = program_bytes(program, lsda, &size);
	struct bytes b;
	uint8_t encoding;

	if (!data)
		return 0;
	b = bytes_of(data, size, false);
	encoding = bytes_u8(&b);
	if (encoding != PE_OMIT && !encoded_pointer(&b, encoding, lsda, 0, &pads))
		return 0;
	if (bytes_u8(&b) != PE_OMIT)
		bytes_uleb(&b);
	encoding = bytes_u8(&b);
	return b.bad ? 0 : add_sites(program, &b, encoding, function, pads);
}

/*
 * Add those of all functions.  What is malformed, and tables of other languages that do not look
 * like C++'s, are left out.  0, -ENOMEM.
 */
static int landing_pads_add(struct program *program, const struct bobbin_cfi_view *view)
{
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0, cie = UINT64_MAX, lsda;
	uint8_t encoding = PE_OMIT;
	int r = 0, more;

	while (!r && (more = bobbin_cfi_next_like(view, &offset, &fde, NULL, &fde)) != 0) {
		if (more < 0)
			continue;
		if (fde.cie != cie)
			encoding = lsda_encoding(view, &fde);
		cie = fde.cie;
		if (encoding != PE_OMIT && lsda_of(view, &fde, encoding, &lsda))
			r = add_table(program, lsda, fde.start);
	}
	return r;
}

int stated_rows_init(const struct bobbin_cfi_view *views, unsigned int count,
		     struct stated_rows *ret)
{
	int r;

	*ret = (struct stated_rows){0};
	r = fde_list_init(views, count, &ret->fdes);
	if (!r)
		r = table_builder_init(count ? views->arch : bobbin_arch_amd64(), NULL, 0,
				       &ret->table);
	return r ? r : compile_cfi_rows(views, count, &ret->table, NULL);
}

void stated_rows_fini(struct stated_rows *rows)
{
	fde_list_fini(&rows->fdes);
	table_builder_fini(&rows->table);
	*rows = (struct stated_rows){0};
}

int stated_rows_bound(const struct stated_rows *rows, const struct bobbin_cfi_view *views,
		      unsigned int count, bool parts, struct program *program)
{
	int r = 0;

	for (size_t i = 0; i < rows->fdes.count && parts && !r; i++)
		r = program_add_start(program, rows->fdes.fdes[i].start, START_PART);
	for (unsigned int i = 0; i < count && !r; i++)
		if (!views[i].debug_frame)
			r = landing_pads_add(program, &views[i]);
	return r;
}

const struct bobbin_rule *stated_rows_at(const struct stated_rows *rows, uint64_t pc)
{
	const struct rule_rows *in = &rows->table.rows;
	size_t after = bisect(i, 0, in->count, in->row[i].start > pc);

	if (!after || pc >= rows->table.end || in->row[after - 1].rule == RULE_NONE)
		return NULL;
	return rule_rows_rule(in, after - 1);
}

bool stated_rule_has_caller(const struct bobbin_rule *rule, const struct machine *machine)
{
	if (rule->cfa.how == BOBBIN_HOW_NO_RULE)
		return false;
	if (machine->ra != NO_REG)
		return rule->ra.how == BOBBIN_HOW_SAME || rule->ra.how == BOBBIN_HOW_IN_CFA_MEM;
	return rule->ra.how == BOBBIN_HOW_IN_CFA_MEM && rule->ra.off == -8;
}

/* The value of a register with one of DWARF's numbers. */
static value reg_of(const struct frame_state *s, unsigned int dwarf)
{
	const unsigned int reg = machine_reg(s->machine, dwarf);

	return reg == NO_REG ? VALUE_NONE : s->regs[reg];
}

/* The CFA that a rule means, as a distance from the one that was inferred. */
static value cfa_of(const struct frame_state *s, const struct bobbin_rule *rule)
{
	const struct bobbin_place *cfa = &rule->cfa;
	value v;

	if (rule->index != BOBBIN_NO_INDEX)
		return VALUE_NONE;
	v = value_plus(reg_of(s, cfa->reg), cfa->off);
	if (cfa->how == BOBBIN_HOW_IN_REG_MEM)
		v = value_plus(frame_state_word(s, v), rule->plus);
	return v;
}

static bool fp_is_right(const struct frame_state *s, const struct bobbin_place *fp)
{
	value at = VALUE_NONE;

	/* tables go on to name the slot when the register has been popped */
	if (s->regs[s->machine->fp] == VALUE_CALLERS_FP)
		return true;
	if (fp->how == BOBBIN_HOW_IN_CFA_MEM)
		at = value_on_base(VALUE_CFA, fp->off);
	else if (fp->how == BOBBIN_HOW_IN_REG_MEM)
		at = value_plus(reg_of(s, fp->reg), fp->off);
	else if (fp->how == BOBBIN_HOW_AT_REG && !fp->off)
		return reg_of(s, fp->reg) == VALUE_CALLERS_FP;
	return frame_state_word(s, at) == VALUE_CALLERS_FP;
}

static bool is_ra(value v)
{
	return v == VALUE_RETURN || v == VALUE_SIGNED_RETURN(INSN_KEY_A) ||
	       v == VALUE_SIGNED_RETURN(INSN_KEY_B);
}

/* Where functions save it; as of the frame pointer, tables may go on to name the slot. */
static bool ra_is_right(const struct frame_state *s, const struct bobbin_place *ra)
{
	if (s->machine->ra == NO_REG || is_ra(s->regs[s->machine->ra]))
		return true;
	return ra->how == BOBBIN_HOW_IN_CFA_MEM &&
	       is_ra(frame_state_word(s, value_on_base(VALUE_CFA, ra->off)));
}

unsigned int stated_rule_check(const struct bobbin_rule *rule, const struct frame_state *state)
{
	unsigned int faults = 0;

	if (cfa_of(state, rule) != value_on_base(VALUE_CFA, 0))
		faults |= STATED_CFA_DIFFERS;
	if (!fp_is_right(state, &rule->fp))
		faults |= STATED_FP_DIFFERS;
	if (!ra_is_right(state, &rule->ra))
		faults |= STATED_RA_DIFFERS;
	return faults;
}
