/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view.c - the header of an SFrame section.
 *
 * Later reads rely on what is checked here: the FDE table and the FRE bytes lie
 * within the section, one after the other.
 */
#include "core/bytes.h"
#include "sframe/layout.h"

/* false also for memory that cannot be read.  Moves the cursor. */
BOBBIN_STAGE bool sframe_all_zero(struct bytes *b BOBBIN_NONNULL)
{
	BOBBIN_WHILE(bytes_left(b), b->size)
	if (bytes_u8(b))
		return false;
	return !b->bad && !bytes_left(b);
}

static uint8_t flags_of(uint8_t version)
{
	switch (version) {
	case 1:
		return BOBBIN_SFRAME_SORTED | BOBBIN_SFRAME_FRAME_POINTER;
	case 2:
		return BOBBIN_SFRAME_SORTED | BOBBIN_SFRAME_FRAME_POINTER | BOBBIN_SFRAME_PCREL;
	default:
		return BOBBIN_SFRAME_SORTED | BOBBIN_SFRAME_PCREL;
	}
}

static const struct bobbin_arch *arch_of(uint8_t version, uint8_t abi)
{
	switch (abi) {
	case SFRAME_ABI_AARCH64_BIG:
		return bobbin_arch_aarch64_be();
	case SFRAME_ABI_AARCH64_LITTLE:
		return bobbin_arch_aarch64();
	case SFRAME_ABI_AMD64_LITTLE:
		return bobbin_arch_amd64();
	case SFRAME_ABI_S390X_BIG:
		return version >= 2 ? bobbin_arch_s390x() : NULL;
	default:
		return NULL;
	}
}

/* Magic and version; they tell how to read the rest. */
static int read_preamble(struct bytes *b, struct bobbin_error *err, struct bobbin_sframe_view *v)
{
	uint16_t magic = bytes_u16(b);

	v->version = bytes_u8(b);
	v->flags = bytes_u8(b);
	if (b->bad)
		return refuse_read(b->fault, err, 0, BOBBIN_REASON_TRUNCATED);
	if (magic == (SFRAME_MAGIC >> 8 | (SFRAME_MAGIC & 0xff) << 8))
		b->big_endian = true;
	else if (magic != SFRAME_MAGIC)
		return refuse(err, 0, BOBBIN_REASON_SFRAME_MAGIC);
	v->fde_size = sframe_fde_size_of(v->version);
	if (!v->fde_size)
		return refuse(err, SFRAME_AT_VERSION, BOBBIN_REASON_SFRAME_VERSION);
	if (v->flags & ~flags_of(v->version))
		return refuse(err, SFRAME_AT_FLAGS, BOBBIN_REASON_SFRAME_FLAGS);
	v->sorted = v->flags & BOBBIN_SFRAME_SORTED;
	return 0;
}

static int read_abi(struct bytes *b, struct bobbin_error *err, struct bobbin_sframe_view *v)
{
	uint8_t abi = bytes_u8(b);

	if (b->bad)
		return refuse_read(b->fault, err, SFRAME_AT_ABI, BOBBIN_REASON_TRUNCATED);
	v->arch = arch_of(v->version, abi);
	if (!v->arch)
		return refuse(err, SFRAME_AT_ABI, BOBBIN_REASON_SFRAME_ABI);
	if (v->arch != sframe_arch(v))
		return refuse(err, SFRAME_AT_ABI, BOBBIN_REASON_SFRAME_ABI);
	if (v->arch->big_endian != b->big_endian)
		return refuse(err, SFRAME_AT_ABI, BOBBIN_REASON_SFRAME_ENDIAN);
	return 0;
}

/* Sums of a few 32-bit numbers: 64 bits cannot overflow. */
static int place_sub_sections(uint64_t size, struct bobbin_error *err, struct bobbin_sframe_view *v)
{
	if (v->fde_off > size)
		return refuse(err, SFRAME_AT_FDE_OFF, BOBBIN_REASON_SFRAME_HEADER);
	if (v->fre_off > size || v->fre_off < v->fde_off)
		return refuse(err, SFRAME_AT_FRE_OFF, BOBBIN_REASON_SFRAME_HEADER);
	if ((uint64_t)v->num_fdes * v->fde_size > v->fre_off - v->fde_off)
		return refuse(err, SFRAME_AT_NUM_FDES, BOBBIN_REASON_SFRAME_HEADER);
	if (v->fre_len > size - v->fre_off)
		return refuse(err, SFRAME_AT_FRE_LEN, BOBBIN_REASON_SFRAME_HEADER);
	v->size = v->fre_off + v->fre_len;
	return 0;
}

static int read_header(struct bytes *b, struct bobbin_error *err, struct bobbin_sframe_view *v)
{
	uint64_t after;

	v->fixed_fp = (int8_t)bytes_signed(b, 1);
	v->fixed_ra = (int8_t)bytes_signed(b, 1);
	after = SFRAME_HEADER_SIZE + (uint64_t)bytes_u8(b);
	v->num_fdes = bytes_u32(b);
	v->num_fres = bytes_u32(b);
	v->fre_len = bytes_u32(b);
	v->fde_off = after + bytes_u32(b);
	v->fre_off = after + bytes_u32(b);
	if (b->bad)
		return refuse_read(b->fault, err, b->pos, BOBBIN_REASON_TRUNCATED);
	if (after > b->size)
		return refuse(err, SFRAME_AT_AUX_LEN, BOBBIN_REASON_SFRAME_HEADER);
	return place_sub_sections(b->size, err, v);
}

BOBBIN_API int bobbin_sframe_view(const void *data, size_t size, uint64_t addr,
				  struct bobbin_error *err, struct bobbin_sframe_view *ret)
{
	struct bobbin_sframe_view v = {.data = data, .addr = addr};
	/* in a kernel the header tells: it does not look at each byte of what may be large */
	const uint64_t looked_at = MEMORY_IS_OURS || size < SFRAME_HEADER_SIZE ? size
									       : SFRAME_HEADER_SIZE;
	struct bytes b = bytes_of(data, size, false), whole = bytes_of(data, looked_at, false);
	int status;

	/* a linker that collected every function leaves zeroes */
	if (!data || sframe_all_zero(&whole))
		return refuse_as(-BOBBIN_ENODATA, err, 0, BOBBIN_REASON_SFRAME_EMPTY);
	status = read_preamble(&b, err, &v);
	if (!status)
		status = read_abi(&b, err, &v);
	if (!status)
		status = read_header(&b, err, &v);
	if (!status)
		*ret = v;
	return status;
}
