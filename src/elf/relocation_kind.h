/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * relocation_kind.h - what relocations of tables do: those that assemblers write
 * into .sframe, .eh_frame and .debug_frame.
 */
#ifndef BOBBIN_ELF_RELOCATION_KIND_H
#define BOBBIN_ELF_RELOCATION_KIND_H

#include <bobbin/types.h>
#include <elf.h>

/**
 * struct relocation_kind - one type
 * @width: bytes of the field that it fills, 0: it does nothing
 * @pcrel: relative to the field
 */
struct relocation_kind {
	uint8_t width;
	bool pcrel;
};

/* The kind of a type; false for all that such tables do not have. */
bool relocation_kind(uint16_t machine, uint32_t type, struct relocation_kind *ret);

/* The type that fills a field of 4 or 8 bytes relative to itself. */
uint32_t relocation_to_field(uint16_t machine, uint8_t width);

#endif
