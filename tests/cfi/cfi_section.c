/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi_section.h"

#include <dwarf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void cfi_section_init(struct cfi_section *s, const struct bobbin_arch *arch)
{
	memset(s, 0, sizeof(*s));
	s->arch = arch;
}

struct bobbin_cfi_view cfi_section_view(const struct cfi_section *s)
{
	struct bobbin_cfi_view view = {.arch = s->arch,
				       .frame = s->data,
				       .frame_size = s->size,
				       .frame_addr = SECTION_ADDR,
				       .debug_frame = s->debug_frame};

	bobbin_cfi_view_init(&view, NULL);
	return view;
}

/* A number that was written before its value was known. */
static void patch(struct cfi_section *s, uint64_t at, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		s->data[at + i] = (uint8_t)(value >> 8 * (s->arch->big_endian ? bytes - 1 - i : i));
}

void put(struct cfi_section *s, uint64_t value, unsigned int bytes)
{
	assert_true(s->size + bytes <= sizeof(s->data));
	patch(s, s->size, value, bytes);
	s->size += bytes;
}

void put_bytes(struct cfi_section *s, const uint8_t *data, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		put(s, data[i], 1);
}

void put_uleb(struct cfi_section *s, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put(s, (value & 0x7f) | 0x80, 1);
	put(s, value, 1);
}

void put_sleb(struct cfi_section *s, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		put(s, (value & 0x7f) | 0x80, 1);
	put(s, value & 0x7f, 1);
}

/* Length, to be set by end_entry().  Return: where it stands. */
static uint64_t begin_entry(struct cfi_section *s, bool wide)
{
	uint64_t at = s->size;

	if (wide)
		put(s, 0xffffffff, 4);
	put(s, 0, wide ? 8 : 4);
	return at;
}

static void end_entry(struct cfi_section *s, uint64_t at, bool wide)
{
	if (wide)
		patch(s, at + 4, s->size - at - 12, 8);
	else
		patch(s, at, s->size - at - 4, 4);
}

static const char *augmentation_of(const struct cfi_section *s, const struct cfi_cie *cie)
{
	return cie->augmentation ? cie->augmentation : s->debug_frame ? "" : "zR";
}

static uint8_t encoding_of(const struct cfi_section *s, const struct cfi_cie *cie)
{
	if (cie->augmentation || s->debug_frame)
		return cie->encoding;
	return DW_EH_PE_pcrel | DW_EH_PE_sdata4;
}

/* CFA = SP (+ what a call pushed or the ABI reserves), RA where a call leaves it */
static void put_initial(struct cfi_section *s)
{
	const struct bobbin_arch *arch = s->arch;

	put(s, DW_CFA_def_cfa, 1);
	put_uleb(s, arch->sp);
	put_uleb(s, arch->default_ra_off ? 8 : arch->cfa_bias);
	if (arch->default_ra_off)
		put_bytes(s, BYTES(DW_CFA_offset | arch->ra, 1));
}

static void put_cie_fields(struct cfi_section *s, const struct cfi_cie *cie)
{
	const char *augmentation = augmentation_of(s, cie);
	uint8_t version = cie->version ? cie->version : 1;

	put(s, version, 1);
	put_bytes(s, (const uint8_t *)augmentation, strlen(augmentation) + 1);
	if (version == 4) {
		put(s, cie->address_size, 1);
		put(s, cie->segment_size, 1);
	}
	put_uleb(s, cie->code_align ? cie->code_align : 1);
	put_sleb(s, cie->data_align ? cie->data_align : -8);
	put(s, cie->ra ? cie->ra : s->arch->ra, 1);
	if (cie->augmentation_size) {
		put_uleb(s, cie->augmentation_size);
		put_bytes(s, cie->augmentation_data, cie->augmentation_size);
	} else if (*augmentation == 'z') {
		put_bytes(s, BYTES(1, encoding_of(s, cie)));
	}
}

uint64_t put_cie(struct cfi_section *s, const struct cfi_cie *cie)
{
	uint64_t at = begin_entry(s, cie->wide);

	if (s->debug_frame)
		put(s, UINT64_MAX, cie->wide ? 8 : 4);
	else
		put(s, 0, 4);
	put_cie_fields(s, cie);
	if (cie->insn)
		put_bytes(s, cie->insn, cie->insn_size);
	else
		put_initial(s);
	end_entry(s, at, cie->wide);
	return at;
}

static void put_address(struct cfi_section *s, uint8_t encoding, uint64_t value)
{
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value -= SECTION_ADDR + s->size;
	switch (encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		put(s, value, 2);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		put(s, value, 4);
		break;
	case DW_EH_PE_uleb128:
		put_uleb(s, value);
		break;
	case DW_EH_PE_sleb128:
		put_sleb(s, (int64_t)value);
		break;
	default:
		put(s, value, 8);
	}
}

uint64_t put_fde_of(struct cfi_section *s, const struct cfi_cie *cie, uint64_t cie_offset,
		    uint64_t start, uint64_t size, const uint8_t *insn, uint64_t insn_size)
{
	uint8_t encoding = encoding_of(s, cie);
	uint64_t at = begin_entry(s, cie->wide);

	if (s->debug_frame)
		put(s, cie_offset, cie->wide ? 8 : 4);
	else
		put(s, s->size - cie_offset, 4);
	put_address(s, encoding, start);
	put_address(s, encoding & 0x0f, size);
	if (augmentation_of(s, cie)[0] == 'z')
		put(s, 0, 1);
	put_bytes(s, insn, insn_size);
	end_entry(s, at, cie->wide);
	return at;
}

uint64_t put_fde(struct cfi_section *s, uint64_t start, uint64_t size, const uint8_t *insn,
		 uint64_t insn_size)
{
	const struct cfi_cie cie = {0};
	uint64_t at = put_cie(s, &cie);

	return put_fde_of(s, &cie, at, start, size, insn, insn_size);
}

static int print_place(char *text, size_t left, struct bobbin_place place)
{
	switch (place.how) {
	case BOBBIN_HOW_SAME:
		return snprintf(text, left, " same");
	case BOBBIN_HOW_UNDEFINED:
		return snprintf(text, left, " undef");
	case BOBBIN_HOW_IN_CFA_MEM:
		return snprintf(text, left, " c%+" PRId32, place.off);
	case BOBBIN_HOW_AT_CFA:
		return snprintf(text, left, " v%+" PRId32, place.off);
	case BOBBIN_HOW_AT_PC:
		return snprintf(text, left, " pc%+" PRId32, place.off);
	case BOBBIN_HOW_AT_REG:
		return snprintf(text, left, " r%u%+" PRId32, place.reg, place.off);
	case BOBBIN_HOW_IN_REG_MEM:
		return snprintf(text, left, " *(r%u%+" PRId32 ")", place.reg, place.off);
	default:
		return snprintf(text, left, " nonsense");
	}
}

static int print_cfa(char *text, size_t left, const struct bobbin_rule *rule)
{
	struct bobbin_place cfa = rule->cfa;

	if (cfa.how == BOBBIN_HOW_AT_REG)
		return snprintf(text, left, " r%u%+" PRId32, cfa.reg, cfa.off);
	if (rule->index == BOBBIN_NO_INDEX)
		return snprintf(text, left, " *(r%u%+" PRId32 ")%+d", cfa.reg, cfa.off, rule->plus);
	return snprintf(text, left, " *(r%u%+" PRId32 "+8*r%u)%+d", cfa.reg, cfa.off, rule->index,
			rule->plus);
}

int row_text(char *text, size_t left, const struct bobbin_row *row, uint8_t plt)
{
	const struct bobbin_rule *rule = &row->rule;
	int n = snprintf(text, left, "%" PRIx64, row->start);

	if (rule->cfa.how == BOBBIN_HOW_NO_RULE)
		return n + snprintf(text + n, left - n, " none %s\n",
				    bobbin_reason_name((enum bobbin_reason)rule->reason));
	n += print_cfa(text + n, left - n, rule);
	n += print_place(text + n, left - n, rule->ra);
	n += print_place(text + n, left - n, rule->fp);
	n += snprintf(text + n, left - n, "%s%s%s", rule->flags & BOBBIN_RULE_SIGNAL ? " S" : "",
		      rule->flags & BOBBIN_RULE_MANGLED ? " M" : "",
		      rule->flags & BOBBIN_RULE_KEY_B ? " B" : "");
	if (plt)
		n += snprintf(text + n, left - n, " plt>=%u", plt);
	return n + snprintf(text + n, left - n, "\n");
}

void rows_text(const struct bobbin_cfi_view *view, uint64_t fde_offset, char *text)
{
	struct bobbin_error err = {0};
	struct bobbin_cfi_fde fde;
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	int n = 0, r;

	*text = 0;
	r = bobbin_cfi_fde(view, fde_offset, &err, &fde);
	if (!r)
		r = bobbin_cfi_rows_init(view, &fde, &err, &rows);
	while (!r && (r = bobbin_cfi_rows_next(&rows, &err, &row)) > 0) {
		n += row_text(text + n, ROWS_TEXT - n, &row, rows.plt);
		r = 0;
	}
	if (r < 0)
		snprintf(text + n, ROWS_TEXT - n, "error %s\n", bobbin_reason_name(err.reason));
}

void assert_program_of(const struct bobbin_arch *arch, const struct cfi_cie *cie,
		       const uint8_t *insn, uint64_t insn_size, const char *rows)
{
	struct bobbin_cfi_view view;
	struct cfi_section s;
	char text[ROWS_TEXT];
	uint64_t fde;

	cfi_section_init(&s, arch);
	fde = put_cie(&s, cie);
	fde = put_fde_of(&s, cie, fde, TEXT, 256, insn, insn_size);
	view = cfi_section_view(&s);
	rows_text(&view, fde, text);
	assert_string_equal(text, rows);
}

void assert_program(const struct bobbin_arch *arch, const uint8_t *insn, uint64_t insn_size,
		    const char *rows)
{
	assert_program_of(arch, &(struct cfi_cie){0}, insn, insn_size, rows);
}
