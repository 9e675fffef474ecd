/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * layout.h - where things are in an SFrame section.
 *
 *	header, auxiliary header │ FDE table │ FRE bytes
 *
 *	V1, V2	the FDE table holds whole FDEs, the FRE bytes hold rows
 *	V3	the FDE table holds an index; each function's rows are preceded by
 *		the rest of its FDE, the attribute record
 *
 * Numbers are from "The SFrame Stack Trace Format", as shipped with binutils
 * 2.40 (V1), 2.44 (V2, erratum 1 with 2.45) and 2.47 (V3), chapter by chapter.
 * All integers have the target's byte order and no alignment.
 */
#ifndef BOBBIN_SFRAME_LAYOUT_H
#define BOBBIN_SFRAME_LAYOUT_H

#include <bobbin/sframe.h>

#include "core/bytes.h"
#include "core/refusal.h"

/* "SFrame Header": the preamble is what every version shares */
#define SFRAME_MAGIC 0xdee2
#define SFRAME_PREAMBLE_SIZE 4
#define SFRAME_HEADER_SIZE 28
#define SFRAME_AT_VERSION 2
#define SFRAME_AT_FLAGS 3
#define SFRAME_AT_ABI 4
#define SFRAME_AT_FIXED_FP 5
#define SFRAME_AT_FIXED_RA 6
#define SFRAME_AT_AUX_LEN 7
#define SFRAME_AT_NUM_FDES 8
#define SFRAME_AT_NUM_FRES 12
#define SFRAME_AT_FRE_LEN 16
#define SFRAME_AT_FDE_OFF 20
#define SFRAME_AT_FRE_OFF 24

/* "SFrame ABI/arch Identifier" */
#define SFRAME_ABI_AARCH64_BIG 1
#define SFRAME_ABI_AARCH64_LITTLE 2
#define SFRAME_ABI_AMD64_LITTLE 3
#define SFRAME_ABI_S390X_BIG 4

/* "SFrame FDE": fields of V1 and V2, and of the index of V3 */
#define SFRAME_V1_FDE_SIZE 17
#define SFRAME_V2_FDE_SIZE 20
#define SFRAME_V3_FDE_SIZE 16
#define SFRAME_FDE_AT_SIZE 4
#define SFRAME_FDE_AT_FRE_OFF 8
#define SFRAME_FDE_AT_NUM_FRES 12
#define SFRAME_FDE_AT_INFO 16
#define SFRAME_FDE_AT_REP_SIZE 17
#define SFRAME_V3_FDE_AT_SIZE 8
#define SFRAME_V3_FDE_AT_FRE_OFF 12
#define SFRAME_V3_ATTR_SIZE 5
#define SFRAME_V3_ATTR_AT_INFO 2
#define SFRAME_V3_ATTR_AT_INFO2 3
#define SFRAME_V3_ATTR_AT_REP_SIZE 4

/* "The SFrame FDE Info Bytes" */
#define SFRAME_FDE_FRE_TYPE 0x0f
#define SFRAME_FDE_FRE_TYPE_LAST 2
#define SFRAME_FDE_PCMASK 0x10
#define SFRAME_FDE_KEY_B 0x20
#define SFRAME_FDE_SIGNAL 0x80
#define SFRAME_FDE_TYPE 0x1f
#define SFRAME_FDE_TYPE_FLEX 1

/* V1 has no field for it: the block of its PCMASK functions is a PLT entry. */
#define SFRAME_V1_REP_SIZE 16

/* "The SFrame FRE Info Word" */
#define SFRAME_FRE_BASE_SP 0x01
#define SFRAME_FRE_NUM_WORDS(info) ((info) >> 1 & 0x0f)
#define SFRAME_FRE_WORD_SHIFT(info) ((info) >> 5 & 0x03)
#define SFRAME_FRE_WORD_SHIFT_LAST 2
#define SFRAME_FRE_MANGLED 0x80
#define SFRAME_FRE_SIZE_BITS 0x7e /* number and size of the words */
#define SFRAME_FRE_MAX_WORDS 6
#define SFRAME_FRE_MAX_SIZE (4 + 1 + 4 * SFRAME_FRE_MAX_WORDS)

/* "Flexible FDEs": a control word says how to use the word after it */
#define SFRAME_FLEX_REG 0x01
#define SFRAME_FLEX_DEREF 0x02
#define SFRAME_FLEX_UNUSED 0x04
#define SFRAME_FLEX_REG_SHIFT 3

/* "s390x": CFA words are (offset - 160) / 8 */
#define SFRAME_S390X_CFA_BIAS 160
#define SFRAME_S390X_CFA_SCALE 8

/* ELF's EM_S390 */
#define SFRAME_EM_S390 22

/* Bytes of an entry of the FDE table, 0 for an unknown version. */
static BOBBIN_ALWAYS_INLINE uint8_t sframe_fde_size_of(int version)
{
	if (version == 1)
		return SFRAME_V1_FDE_SIZE;
	if (version == 2)
		return SFRAME_V2_FDE_SIZE;
	return version == 3 ? SFRAME_V3_FDE_SIZE : 0;
}

/* Of a checked section; programs of a kernel may keep views where pointers get lost. */
static BOBBIN_ALWAYS_INLINE const struct bobbin_arch *sframe_arch(
	const struct bobbin_sframe_view *view)
{
#if BOBBIN_NATIVE_ONLY
	return BOBBIN_NATIVE_ARCH();
#else
	return view->arch;
#endif
}

static BOBBIN_ALWAYS_INLINE bool sframe_big_endian(const struct bobbin_sframe_view *view)
{
	return BOBBIN_NATIVE_ONLY ? BOBBIN_HOST_BIG_ENDIAN : view->arch->big_endian;
}

/**
 * struct sframe_fdes - how to read the FDE table
 * @data: the section's first byte
 * @base: added to each start field
 * @pcrel: mask: whether the field's own offset is added, too
 * @big_endian, @version: of the section; constants in searches
 * @fault: the memory could not be read; no result may be used
 */
struct sframe_fdes {
	const uint8_t *data;
	uint64_t base, pcrel;
	int version;
	bool big_endian, fault;
};

static BOBBIN_ALWAYS_INLINE struct sframe_fdes sframe_fdes_of(const struct bobbin_sframe_view *view)
{
	return (struct sframe_fdes){
		.data = view->data,
		.base = view->addr,
		.pcrel = view->flags & BOBBIN_SFRAME_PCREL ? UINT64_MAX : 0,
		.big_endian = sframe_big_endian(view),
		.version = view->version,
	};
}

/**
 * sframe_fde_start() - first PC of a function
 * @fdes: of a checked section
 * @fde: offset of an entry
 *
 * Arithmetic is modulo 2^64, like the linker's.
 */
static BOBBIN_ALWAYS_INLINE uint64_t sframe_fde_start(struct sframe_fdes *fdes, uint64_t fde)
{
	const uint8_t *p = fdes->data + fde;
	uint64_t base = fdes->base + (fde & fdes->pcrel);

	if (fdes->version >= 3)
		return base + memory_u64(p, fdes->big_endian, &fdes->fault);
	return base + (uint64_t)(int64_t)(int32_t)memory_u32(p, fdes->big_endian, &fdes->fault);
}

/**
 * sframe_fde_starts_by() - whether a function starts at or before a PC
 * @fdes: of a checked section
 * @fde: offset of an entry
 * @pc: PC
 *
 * Compares distances from the section, which are signed: no code lies 2^63
 * bytes away.  That takes a cycle less in a search than to compute the start.
 */
static BOBBIN_ALWAYS_INLINE bool sframe_fde_starts_by(struct sframe_fdes *fdes, uint64_t fde,
						      uint64_t pc)
{
	const uint8_t *p = fdes->data + fde;
	int64_t distance = (int64_t)(pc - fdes->base - (fde & fdes->pcrel));

	if (fdes->version >= 3)
		return (int64_t)memory_u64(p, fdes->big_endian, &fdes->fault) <= distance;
	return (int32_t)memory_u32(p, fdes->big_endian, &fdes->fault) <= distance;
}

/* Bytes of code of the function whose FDE is at an offset. */
static BOBBIN_ALWAYS_INLINE uint32_t sframe_fde_size(struct sframe_fdes *fdes, uint64_t fde)
{
	uint64_t at = fde + (fdes->version >= 3 ? SFRAME_V3_FDE_AT_SIZE : SFRAME_FDE_AT_SIZE);

	return memory_u32(fdes->data + at, fdes->big_endian, &fdes->fault);
}

/* Where rows end.  No row starts after it; gas writes rows that start at it. */
static inline uint32_t sframe_fre_limit(const struct bobbin_sframe_fde *fde)
{
	return fde->pcmask ? fde->rep_size : fde->size;
}

/* Whether the info byte of a row is one that we can size. */
static inline bool sframe_fre_info_valid(uint8_t info)
{
	return SFRAME_FRE_NUM_WORDS(info) <= SFRAME_FRE_MAX_WORDS &&
	       SFRAME_FRE_WORD_SHIFT(info) <= SFRAME_FRE_WORD_SHIFT_LAST;
}

/*
 * Code that repeats is the stubs of a PLT, which are called: where a call pushes the return address,
 * that is all there is when one begins.  GNU ld up to 2.47 says otherwise of .plt.got.
 */
static inline bool sframe_stub_rule_is_sane(const struct bobbin_arch *arch,
					    const struct bobbin_rule *first)
{
	return !arch->default_ra_off || first->cfa.how != BOBBIN_HOW_AT_REG ||
	       first->cfa.reg != arch->sp || first->cfa.off == -arch->default_ra_off;
}

#endif
