/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hotspot_fields.h - fields of a Java virtual machine's structures, in its memory or a copy of it. */
#ifndef BOBBIN_TARGET_HOTSPOT_FIELDS_H
#define BOBBIN_TARGET_HOTSPOT_FIELDS_H

#include <errno.h>
#include <string.h>

#include "target/hotspot.h"

#define HOTSPOT_WORD 8
/* Of a name that is compared. */
#define HOTSPOT_TEXT 64u

/* A number in memory that was copied. */
static inline int64_t hotspot_number(const uint8_t *bytes, unsigned int size, bool is_signed)
{
	uint64_t number = 0;

	memcpy(&number, bytes, size);
	if (is_signed && size < sizeof(number))
		return (int64_t)(number << (64 - 8 * size)) >> (64 - 8 * size);
	return (int64_t)number;
}

static inline int hotspot_word(const struct hotspot *vm, uint64_t addr, uint64_t *ret)
{
	return process_read(&vm->process, addr, ret, sizeof(*ret));
}

/*
 * A field of a structure at an address.  0; -ENOENT: there is no such field; or the errno of reading
 * memory.
 */
static inline int hotspot_read(const struct hotspot *vm, uint64_t addr,
			       enum hotspot_field_number number, int64_t *ret)
{
	const struct hotspot_field *field = &vm->fields[number];
	uint8_t bytes[sizeof(uint64_t)];
	int r;

	if (!field->size)
		return -ENOENT;
	r = process_read(&vm->process, addr + field->at, bytes, field->size);
	if (!r)
		*ret = hotspot_number(bytes, field->size, field->is_signed);
	return r;
}

/* The pointer that is a field of a structure. */
static inline int hotspot_follow(const struct hotspot *vm, enum hotspot_field_number number,
				 uint64_t *addr)
{
	int64_t value;
	int r = hotspot_read(vm, *addr, number, &value);

	if (!r)
		*addr = (uint64_t)value;
	return r;
}

/* A field of a description that was copied; @none: it has no such field. */
static inline int64_t hotspot_told(const struct hotspot *vm, const uint8_t *bytes,
				   enum hotspot_field_number number, int64_t none)
{
	const struct hotspot_field *field = &vm->fields[number];

	if (!field->size || field->at > (uint64_t)(HOTSPOT_DESCRIPTION - field->size))
		return none;
	return hotspot_number(bytes + field->at, field->size, field->is_signed);
}

#endif
