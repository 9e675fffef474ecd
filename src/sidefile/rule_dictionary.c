/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/rule_dictionary.h"

#include <bobbin/sframe_builder.h>
#include <errno.h>
#include <stdlib.h>

#include "convert/row_forms.h"
#include "core/refusal.h"
#include "sidefile/zigzag.h"

/* Bytes of a rule in a head, at least: one for each field. */
#define LEAST_SIZE 10

uint32_t rule_dictionary_find(const struct rule_dictionary *d, const struct bobbin_rule *rule)
{
	uint32_t number;
	size_t at = 0;

	while (hash_index_next(&d->index, rule_hash(rule, 0), &at, &number))
		if (bobbin_rule_equal(&d->rules[number].rule, rule))
			return number;
	return (uint32_t)d->count;
}

int rule_dictionary_count(struct rule_dictionary *d, const struct bobbin_rule *rule)
{
	uint32_t number = rule_dictionary_find(d, rule);

	if (number < d->count) {
		d->rules[number].uses++;
		return 0;
	}
	if (hash_index_room(&d->index, rule_hash(rule, 0), &d->rules, &d->capacity, d->count,
			    sizeof(*d->rules)))
		return -ENOMEM;
	d->rules[d->count++] = (struct counted_rule){*rule, 1};
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

int rule_dictionary_sort(struct rule_dictionary *d)
{
	int r = 0;

	if (d->count)
		qsort(d->rules, d->count, sizeof(*d->rules), by_use);
	hash_index_fini(&d->index);
	for (size_t i = 0; i < d->count && !r; i++)
		r = hash_index_add(&d->index, rule_hash(&d->rules[i].rule, 0), (uint32_t)i);
	return r;
}

void rule_dictionary_fini(struct rule_dictionary *dictionary)
{
	free(dictionary->rules);
	hash_index_fini(&dictionary->index);
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
