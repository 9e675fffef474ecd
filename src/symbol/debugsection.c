/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Read at least this much, for what is asked for next is mostly near. */
#define MIN_WINDOW 4096
#define TEXT_STEP 128

static const char *const section_names[SECTION_COUNT][2] = {
	[SECTION_INFO] = {".debug_info", ".zdebug_info"},
	[SECTION_ABBREV] = {".debug_abbrev", ".zdebug_abbrev"},
	[SECTION_LINE] = {".debug_line", ".zdebug_line"},
	[SECTION_STR] = {".debug_str", ".zdebug_str"},
	[SECTION_LINE_STR] = {".debug_line_str", ".zdebug_line_str"},
	[SECTION_RANGES] = {".debug_ranges", ".zdebug_ranges"},
	[SECTION_RNGLISTS] = {".debug_rnglists", ".zdebug_rnglists"},
	[SECTION_ADDR] = {".debug_addr", ".zdebug_addr"},
	[SECTION_STR_OFFSETS] = {".debug_str_offsets", ".zdebug_str_offsets"},
};

static uint64_t resident_memory(const struct debuginfo *d)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SECTION_COUNT; i++)
		sum += d->sections[i].owned ? d->sections[i].size : 0;
	return sum;
}

static bool load_compressed(struct debuginfo *d, struct debug_section *s)
{
	uint64_t held = resident_memory(d);

	if (held > d->limit ||
	    object_load(d->object, s->header, d->limit - held, &s->owned, &s->size)) {
		s->size = 0;
		return false;
	}
	s->data = s->owned;
	return true;
}

static bool find_bytes(struct debuginfo *d, struct debug_section *s)
{
	const struct object *o = d->object;
	const struct object_section *header = s->header;

	if (header->type == SHT_NOBITS || header->offset > o->size ||
	    header->size > o->size - header->offset)
		return false;
	if (object_is_compressed(o, header))
		return load_compressed(d, s);
	s->size = header->size;
	s->data = o->data ? o->data + header->offset : NULL;
	return true;
}

static struct debug_section *ready_section(struct debuginfo *d, enum debug_section_id id)
{
	struct debug_section *s = &d->sections[id];

	if (s->ready)
		return s;
	s->header = object_section(d->object, section_names[id][0]);
	if (!s->header)
		s->header = object_section(d->object, section_names[id][1]);
	s->broken = !s->header || !find_bytes(d, s);
	s->ready = true;
	return s;
}

bool debug_has_section(struct debuginfo *d, enum debug_section_id id)
{
	return !ready_section(d, id)->broken;
}

uint64_t debug_section_size(struct debuginfo *d, enum debug_section_id id)
{
	struct debug_section *s = ready_section(d, id);

	return s->broken ? 0 : s->size;
}

static bool in_window(const struct debug_section *s, uint64_t offset, uint64_t size)
{
	return offset >= s->window_at && offset - s->window_at <= s->window_size &&
	       size <= s->window_size - (offset - s->window_at);
}

static bool reserve_window(struct debug_section *s, size_t size)
{
	uint8_t *window;

	if (size <= s->window_capacity)
		return true;
	window = realloc(s->window, size);
	if (!window)
		return false;
	s->window = window;
	s->window_capacity = size;
	return true;
}

static bool move_window(struct debuginfo *d, struct debug_section *s, uint64_t offset,
			uint64_t size)
{
	uint64_t left = s->size - offset;

	if (size < MIN_WINDOW)
		size = left < MIN_WINDOW ? left : MIN_WINDOW;
	s->window_size = 0;
	if (size > d->limit || !reserve_window(s, size) ||
	    object_read(d->object, s->header->offset + offset, s->window, size))
		return false;
	s->window_at = offset;
	s->window_size = size;
	return true;
}

struct bytes debug_view(struct debuginfo *d, enum debug_section_id id, uint64_t offset,
			uint64_t want)
{
	struct debug_section *s = ready_section(d, id);
	struct bytes bad = {.bad = true};
	uint64_t size;

	if (s->broken || offset > s->size)
		return bad;
	size = want < s->size - offset ? want : s->size - offset;
	if (s->data)
		return bytes_of(s->data + offset, size, d->object->big_endian);
	if (!in_window(s, offset, size) && !move_window(d, s, offset, size))
		return bad;
	return bytes_of(s->window + (offset - s->window_at), size, d->object->big_endian);
}

bool debug_text(struct debuginfo *d, enum debug_section_id id, uint64_t offset, char *dst,
		size_t size)
{
	size_t len = 0;

	while (len < size - 1) {
		size_t step = size - 1 - len < TEXT_STEP ? size - 1 - len : TEXT_STEP;
		struct bytes b = debug_view(d, id, offset + len, step);

		if (b.bad || !b.size)
			return false;
		memcpy(dst + len, b.data, b.size);
		if (memchr(dst + len, '\0', b.size))
			return true;
		len += b.size;
	}
	dst[len] = '\0';
	return true;
}

size_t debug_sections_memory(const struct debuginfo *d)
{
	size_t sum = resident_memory(d);

	for (unsigned int i = 0; i < SECTION_COUNT; i++)
		sum += d->sections[i].window_capacity;
	return sum;
}

void debug_sections_trim(struct debuginfo *d)
{
	for (unsigned int i = 0; i < SECTION_COUNT; i++) {
		struct debug_section *s = &d->sections[i];

		free(s->window);
		s->window = NULL;
		s->window_size = s->window_capacity = 0;
	}
}

void debug_sections_fini(struct debuginfo *d)
{
	debug_sections_trim(d);
	for (unsigned int i = 0; i < SECTION_COUNT; i++)
		free(d->sections[i].owned);
}
