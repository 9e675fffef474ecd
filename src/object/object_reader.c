/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/object_reader.h"

const struct object_place *object_reader_place(const struct object_reader *reader, size_t symbol)
{
	size_t section = reader->symbols[symbol].st_shndx;

	if (section == SHN_XINDEX)
		section = symbol < reader->long_count ? reader->long_indices[symbol] : SHN_UNDEF;
	else if (section >= SHN_LORESERVE)
		return NULL;
	if (section >= reader->headers.section_count || !reader->places[section].size)
		return NULL;
	return &reader->places[section];
}
