/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi/encoding.h"

#include "cfi/dwarf.h"

bool encoded_value(struct bytes *b, uint8_t enc, uint64_t *ret)
{
	switch (enc & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		*ret = bytes_u64(b);
		return true;
	case PE_ULEB128:
		*ret = bytes_uleb(b);
		return true;
	case PE_UDATA2:
		*ret = bytes_u16(b);
		return true;
	case PE_UDATA4:
		*ret = bytes_u32(b);
		return true;
	case PE_SLEB128:
		*ret = (uint64_t)bytes_sleb(b);
		return true;
	case PE_SDATA2:
		*ret = (uint64_t)bytes_signed(b, 2);
		return true;
	case PE_SDATA4:
		*ret = (uint64_t)bytes_signed(b, 4);
		return true;
	default:
		return false;
	}
}

bool encoded_pointer(struct bytes *b, uint8_t enc, uint64_t section, uint64_t data, uint64_t *ret)
{
	uint64_t base = 0, value;

	if (enc == PE_OMIT || enc & PE_INDIRECT)
		return false;
	switch (enc & PE_APPLICATION) {
	case PE_ABSPTR:
		break;
	case PE_PCREL:
		base = section + b->pos;
		break;
	case PE_DATAREL:
		base = data;
		break;
	default:
		return false;
	}
	if (!encoded_value(b, enc, &value))
		return false;
	*ret = base + value;
	return true;
}
