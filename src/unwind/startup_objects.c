/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/startup_objects.h"

#include <string.h>

/* The dynamic section's strings. */
struct strings {
	const char *bytes;
	uint64_t size;
};

/* A loader may or may not have made the section's addresses its own. */
static struct strings strings_of(const ElfW(Dyn) * dynamic, uint64_t bias, uint64_t base)
{
	struct strings s = {0};
	uint64_t addr = 0;

	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			addr = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRSZ)
			s.size = d->d_un.d_val;
	}
	if (!addr)
		return (struct strings){0};
	s.bytes = (const char *)(addr < base ? bias + addr : addr);
	return s;
}

static const char *string_at(const struct strings *s, uint64_t offset)
{
	return s->bytes && offset < s->size ? s->bytes + offset : "";
}

const char *dynamic_soname(const ElfW(Dyn) * dynamic, uint64_t bias, uint64_t base)
{
	struct strings s = strings_of(dynamic, bias, base);

	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME)
			return string_at(&s, d->d_un.d_val);
	return NULL;
}

static bool is_called(const struct startup_object *object, const char *needed)
{
	const char *slash = strrchr(object->name, '/');

	return !strcmp(object->soname ? object->soname : "", needed) ||
	       !strcmp(object->name, needed) || (slash && !strcmp(slash + 1, needed));
}

/* The first of a name is the one that was loaded at start. */
static bool mark_named(struct startup_object *list, size_t count, const char *needed)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_called(&list[i], needed))
			continue;
		if (list[i].stays)
			return false;
		list[i].stays = true;
		return true;
	}
	return false;
}

static bool mark_needed(struct startup_object *list, size_t count, const struct startup_object *by)
{
	struct strings s = strings_of(by->dynamic, by->bias, by->base);
	bool marked = false;

	for (const ElfW(Dyn) *d = by->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED)
			marked |= mark_named(list, count, string_at(&s, d->d_un.d_val));
	return marked;
}

static bool is_needed(const struct startup_object *object, const struct startup_object *by)
{
	struct strings s = strings_of(by->dynamic, by->bias, by->base);

	for (const ElfW(Dyn) *d = by->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && is_called(object, string_at(&s, d->d_un.d_val)))
			return true;
	return false;
}

/* What stands before the first that the program needs. */
static void mark_preloaded(struct startup_object *list, size_t count)
{
	size_t first = 1;

	while (first < count && !is_needed(&list[first], &list[0]))
		first++;
	for (size_t i = 1; first < count && i < first; i++)
		list[i].stays = true;
}

void startup_objects_mark(struct startup_object *list, size_t count, uint64_t loader)
{
	bool marked = true;

	if (!count)
		return;
	list[0].stays = true;
	mark_preloaded(list, count);
	for (size_t i = 0; i < count; i++)
		if (loader && list[i].base == loader)
			list[i].stays = true;
	while (marked) {
		marked = false;
		for (size_t i = 0; i < count; i++)
			if (list[i].stays)
				marked |= mark_needed(list, count, &list[i]);
	}
}
