/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/rule_dictionary.h"

#include <bobbin/sframe_builder.h>
#include <errno.h>
#include <stdlib.h>

#include "core/refusal.h"
#include "sidefile/zigzag.h"

/* Bytes of a rule in a head, at least: one for each field. */
#define LEAST_SIZE 10

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15ull;
}

static uint64_t hash_place(uint64_t hash, const struct bobbin_place *place)
{
	return mix(mix(hash, (uint32_t)place->off), (uint64_t)place->how << 8 | place->reg);
}

/* Of what bobbin_rule_equal() looks at in rules of rows. */
static size_t hash_rule(const struct bobbin_rule *rule)
{
	uint64_t hash = hash_place(rule->flags, &rule->cfa);

	return (size_t)(hash_place(hash_place(hash, &rule->ra), &rule->fp) >> 32);
}

/* The slot of a rule: where it is, or where it would be. */
static uint32_t *slot_of(const struct rule_dictionary *d, const struct bobbin_rule *rule)
{
	size_t at = hash_rule(rule);

	for (;; at++) {
		uint32_t *slot = &d->slots[at & (d->slot_count - 1)];

		if (!*slot || bobbin_rule_equal(&d->rules[*slot - 1].rule, rule))
			return slot;
	}
}

/* Put all rules into @slot_count empty slots, a power of two. */
static int rehash(struct rule_dictionary *d, size_t slot_count)
{
	uint32_t *slots = calloc(slot_count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(d->slots);
	d->slots = slots;
	d->slot_count = slot_count;
	for (size_t i = 0; i < d->count; i++)
		*slot_of(d, &d->rules[i].rule) = (uint32_t)i + 1;
	return 0;
}

int rule_dictionary_count(struct rule_dictionary *dictionary, const struct bobbin_rule *rule)
{
	struct rule_dictionary *d = dictionary;
	uint32_t *slot;

	if (2 * d->count >= d->slot_count && rehash(d, d->slot_count ? 2 * d->slot_count : 256))
		return -ENOMEM;
	slot = slot_of(d, rule);
	if (*slot) {
		d->rules[*slot - 1].uses++;
		return 0;
	}
	if (vector_reserve(&d->rules, &d->capacity, d->count + 1, sizeof(*d->rules)))
		return -ENOMEM;
	d->rules[d->count++] = (struct counted_rule){*rule, 1};
	*slot = (uint32_t)d->count;
	return 0;
}

static int by_place(const struct bobbin_place *a, const struct bobbin_place *b)
{
	if (a->how != b->how)
		return a->how - b->how;
	if (a->reg != b->reg)
		return a->reg - b->reg;
	return (a->off > b->off) - (a->off < b->off);
}

/* The order is the same on every machine: equal input, equal file. */
static int by_use(const void *a, const void *b)
{
	const struct counted_rule *x = a, *y = b;
	int r;

	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	r = by_place(&x->rule.cfa, &y->rule.cfa);
	if (!r)
		r = by_place(&x->rule.fp, &y->rule.fp);
	if (!r)
		r = by_place(&x->rule.ra, &y->rule.ra);
	return r ? r : x->rule.flags - y->rule.flags;
}

int rule_dictionary_sort(struct rule_dictionary *dictionary)
{
	if (!dictionary->count)
		return 0;
	qsort(dictionary->rules, dictionary->count, sizeof(*dictionary->rules), by_use);
	return rehash(dictionary, dictionary->slot_count);
}

uint32_t rule_dictionary_find(const struct rule_dictionary *dictionary,
			      const struct bobbin_rule *rule)
{
	return *slot_of(dictionary, rule) - 1;
}

void rule_dictionary_fini(struct rule_dictionary *dictionary)
{
	free(dictionary->rules);
	free(dictionary->slots);
	*dictionary = (struct rule_dictionary){0};
}

static struct bobbin_place *place_of(struct bobbin_rule *rule, unsigned int i)
{
	return i == 0 ? &rule->cfa : i == 1 ? &rule->ra : &rule->fp;
}

/* Field by field, since most fields hardly differ. */
void rule_dictionary_write(const struct rule_dictionary *dictionary, struct byte_buffer *out)
{
	struct counted_rule *rules = dictionary->rules;
	size_t count = dictionary->count;

	byte_buffer_uleb(out, count);
	for (unsigned int i = 0; i < 3; i++) {
		for (size_t k = 0; k < count; k++)
			byte_buffer_u8(out, place_of(&rules[k].rule, i)->how);
		for (size_t k = 0; k < count; k++)
			byte_buffer_u8(out, place_of(&rules[k].rule, i)->reg);
		for (size_t k = 0; k < count; k++)
			byte_buffer_uleb(out, zigzag(place_of(&rules[k].rule, i)->off));
	}
	for (size_t k = 0; k < count; k++)
		byte_buffer_u8(out, rules[k].rule.flags);
}

static void read_fields(struct bytes *in, struct bobbin_rule *rules, uint32_t count)
{
	for (unsigned int i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < count; k++)
			place_of(&rules[k], i)->how = bytes_u8(in);
		for (uint32_t k = 0; k < count; k++)
			place_of(&rules[k], i)->reg = bytes_u8(in);
		for (uint32_t k = 0; k < count; k++)
			place_of(&rules[k], i)->off = (int32_t)unzigzag(bytes_uleb(in));
	}
	for (uint32_t k = 0; k < count; k++) {
		rules[k].flags = bytes_u8(in);
		rules[k].index = BOBBIN_NO_INDEX;
	}
}

static bool all_representable(const struct bobbin_arch *arch, const struct bobbin_rule *rules,
			      uint32_t count)
{
	struct bobbin_sframe_builder builder;

	bobbin_sframe_builder_init(arch, 0, 3, &builder);
	for (uint32_t i = 0; i < count; i++) {
		const struct bobbin_rule *rule = &rules[i];

		if (rule->cfa.reg >= BOBBIN_REG_COUNT || rule->ra.reg >= BOBBIN_REG_COUNT ||
		    rule->fp.reg >= BOBBIN_REG_COUNT ||
		    !bobbin_sframe_builder_can_express(&builder, rule))
			return false;
	}
	return true;
}

int rule_dictionary_read(struct bytes *in, const struct bobbin_arch *arch, struct bobbin_error *err,
			 struct bobbin_rule **rules, uint32_t *count)
{
	uint64_t start = in->pos, n = bytes_uleb(in);
	struct bobbin_rule *list;

	if (n > bytes_left(in) / LEAST_SIZE)
		return refuse(err, start, BOBBIN_REASON_SIDEFILE_HEAD);
	list = calloc(n ? n : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	read_fields(in, list, (uint32_t)n);
	if (in->bad || !all_representable(arch, list, (uint32_t)n)) {
		free(list);
		return refuse(err, start,
			      in->bad ? BOBBIN_REASON_SIDEFILE_HEAD : BOBBIN_REASON_SFRAME_RULE);
	}
	*rules = list;
	*count = (uint32_t)n;
	return 0;
}
