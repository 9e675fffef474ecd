/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <errno.h>
#include <string.h>

/* Inlined call -> abstract instance -> declaration, with room. */
#define MAX_CHAIN 16
#define DIE_VIEW 512
#define DIE_VIEW_MAX (64 << 10)

/* A DIE in one of two files: the debug file and its dwz(1) supplement. */
struct die_place {
	struct debuginfo *d;
	struct unit *unit;
	uint64_t offset;
};

static bool read_die_view(const struct die_place *p, uint64_t want, struct die *ret)
{
	uint64_t left = p->unit->size - (p->offset - p->unit->offset);
	struct bytes b = debug_view(p->d, SECTION_INFO, p->offset, left < want ? left : want);
	const struct abbrev *a = abbrev_find(&p->unit->data->abbrevs, bytes_uleb(&b));

	if (b.bad || !a || !debug_spend(p->d, a->count))
		return false;
	die_read(&b, p->unit, &p->unit->data->abbrevs, a, ret);
	return !b.bad;
}

static int read_die(struct die_place *p, struct die *ret)
{
	int err;

	p->unit = debug_unit_at(p->d, p->offset);
	if (!p->unit || p->offset - p->unit->offset < p->unit->header_size)
		return -BOBBIN_ENOENT;
	err = debug_unit_load(p->d, p->unit);
	if (err)
		return err == -ENOMEM ? err : -BOBBIN_ENOENT;
	return read_die_view(p, DIE_VIEW, ret) || read_die_view(p, DIE_VIEW_MAX, ret)
		       ? 0
		       : -BOBBIN_ENOENT;
}

static bool follow(struct die_place *p, const struct value *v)
{
	switch (v->kind) {
	case VALUE_UNIT_REFERENCE:
		p->offset = v->number < p->unit->size ? p->unit->offset + v->number : UINT64_MAX;
		return true;
	case VALUE_REFERENCE:
		p->offset = v->number;
		return true;
	case VALUE_ALTERNATE_REFERENCE:
		if (!p->d->alternate)
			return false;
		p->d = p->d->alternate;
		p->offset = v->number;
		return true;
	default:
		return false;
	}
}

/*
 * Walk from a DIE to the ones that it completes.  A linkage name, wherever, is
 * best, for it tells the whole; else the first plain name.
 */
static int find_name(struct die_place p, char *dst, size_t size)
{
	bool named = false;
	struct die die;
	int err = 0;

	for (unsigned int i = 0; i < MAX_CHAIN; i++) {
		err = read_die(&p, &die);
		if (err)
			break;
		if (value_text(p.d, p.unit, &die.values[DIE_LINKAGE_NAME], dst, size))
			return 0;
		if (!named)
			named = value_text(p.d, p.unit, &die.values[DIE_NAME], dst, size);
		if (!follow(&p, &die.values[DIE_ORIGIN]) &&
		    !follow(&p, &die.values[DIE_SPECIFICATION]))
			break;
	}
	if (err == -ENOMEM)
		return err;
	return named ? 0 : -BOBBIN_ENOENT;
}

int debug_function_name(struct debuginfo *d, uint64_t offset, struct name_pair *ret)
{
	struct name_cache_entry *e = &d->name_cache[offset * 0x9e3779b97f4a7c15 >> 54];
	char name[NAME_MAX_SIZE];
	int err;

	if (e->name.name && e->offset == offset) {
		*ret = e->name;
		return 0;
	}
	err = find_name((struct die_place){.d = d, .offset = offset}, name, sizeof(name));
	if (!err)
		err = symbol_pool_symbol(d->names, name, ret);
	if (!err)
		*e = (struct name_cache_entry){.offset = offset, .name = *ret};
	return err;
}
