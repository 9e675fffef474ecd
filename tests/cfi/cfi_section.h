/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_section.h - an assembler for call-frame information, for tests.
 *
 * Writes CIEs and FDEs byte by byte, also such as no assembler emits, into a
 * section at SECTION_ADDR.  Without an own CIE, functions get one as GCC would
 * write it for the architecture: augmentation "zR", 32-bit pc-relative
 * addresses, code alignment 1, data alignment -8.
 */
#ifndef BOBBIN_TESTS_CFI_SECTION_H
#define BOBBIN_TESTS_CFI_SECTION_H

#include <bobbin/cfi.h>

#define SECTION_ADDR 0x500000
#define TEXT 0x401000

/* A byte string: BYTES(1, 2, 3) are two arguments. */
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define NO_BYTES NULL, 0

struct cfi_section {
	const struct bobbin_arch *arch;
	bool debug_frame;
	uint8_t data[8192];
	uint64_t size;
};

/* The fields of a CIE; for zero see the comment above. */
struct cfi_cie {
	uint8_t version;
	const char *augmentation;
	const uint8_t *augmentation_data;
	uint64_t augmentation_size;
	uint8_t address_size, segment_size; /* version 4 */
	uint64_t code_align;
	int64_t data_align;
	uint8_t ra;
	const uint8_t *insn;
	uint64_t insn_size;
	bool wide;        /* 64-bit length */
	uint8_t encoding; /* of the FDEs; with an augmentation of one's own */
};

void cfi_section_init(struct cfi_section *s, const struct bobbin_arch *arch);
struct bobbin_cfi_view cfi_section_view(const struct cfi_section *s);

void put(struct cfi_section *s, uint64_t value, unsigned int bytes);
void put_bytes(struct cfi_section *s, const uint8_t *data, uint64_t size);
void put_uleb(struct cfi_section *s, uint64_t value);
void put_sleb(struct cfi_section *s, int64_t value);

/* Return: the entry's offset. */
uint64_t put_cie(struct cfi_section *s, const struct cfi_cie *cie);
/* @cie: as for put_cie(), at @cie_offset */
uint64_t put_fde_of(struct cfi_section *s, const struct cfi_cie *cie, uint64_t cie_offset,
		    uint64_t start, uint64_t size, const uint8_t *insn, uint64_t insn_size);
/* With GCC's CIE in front. */
uint64_t put_fde(struct cfi_section *s, uint64_t start, uint64_t size, const uint8_t *insn,
		 uint64_t insn_size);

/*
 * Rows as text, one a line: "401000 r7+8 c-8 same".  CFA, RA, FP:
 *
 *	r7+8  *(r7+8)+16  *(r7+8+8*r9)+8	CFA
 *	same  undef  c-8  v-16  r2+0  *(r7+168)	RA, FP
 *
 * then S, M, B for the flags, plt>=11 for a stub; "401000 none CFI_RANGE" for
 * no rule, "error CFI_STATE" for a program that is refused.
 */
#define ROWS_TEXT 4096
void rows_text(const struct bobbin_cfi_view *view, uint64_t fde_offset, char *text);
/* One such line, as snprintf() does.  @plt: of the row, or 0 */
int row_text(char *text, size_t left, const struct bobbin_row *row, uint8_t plt);

/* Run @insn in a function of 256 bytes at TEXT, and compare its rows. */
void assert_program(const struct bobbin_arch *arch, const uint8_t *insn, uint64_t insn_size,
		    const char *rows);
/* The same with a CIE of one's own. */
void assert_program_of(const struct bobbin_arch *arch, const struct cfi_cie *cie,
		       const uint8_t *insn, uint64_t insn_size, const char *rows);

#endif
