/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_input.h - any bytes as .eh_frame_hdr and .eh_frame (or .debug_frame).
 *
 *	hdr | frame | size of hdr (2 bytes, little-endian) | selector
 *
 * selector: bits 0..1 the architecture, bit 2 .debug_frame, bit 3 the header's
 * address is not a multiple of 8; what bits 4..7 mean is up to the target.  The
 * frame section follows the header at the next multiple of 8, as linkers
 * place it.
 */
#ifndef BOBBIN_FUZZ_CFI_INPUT_H
#define BOBBIN_FUZZ_CFI_INPUT_H

#include <bobbin/cfi.h>
#include <stddef.h>

#define CFI_INPUT_TRAILER 3

/* A view of the input, without its table, and the selector.  false: it is too short. */
static inline bool cfi_input(const uint8_t *data, size_t size, struct bobbin_cfi_view *ret,
			     uint8_t *selector)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_aarch64_be(), bobbin_arch_s390x()};
	struct bobbin_cfi_view view = {0};

	if (size < CFI_INPUT_TRAILER)
		return false;
	size -= CFI_INPUT_TRAILER;
	*selector = data[size + 2];
	view.arch = archs[*selector & 3];
	view.debug_frame = *selector & 4;
	view.hdr_size = data[size] | (uint64_t)data[size + 1] << 8;
	if (view.hdr_size > size)
		view.hdr_size = size;
	view.hdr = view.hdr_size ? data : NULL;
	view.hdr_addr = *selector & 8 ? 0x10004 : 0x10000;
	view.frame = data + view.hdr_size;
	view.frame_size = size - view.hdr_size;
	view.frame_addr = (view.hdr_addr + view.hdr_size + 7) & ~7ull;
	*ret = view;
	return true;
}

#endif
