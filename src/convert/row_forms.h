/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_forms.h - the rules of a section's rows, each encoded once.
 *
 * However many rows a file has, it has only a few hundred different rules.
 */
#ifndef BOBBIN_CONVERT_ROW_FORMS_H
#define BOBBIN_CONVERT_ROW_FORMS_H

#include <bobbin/rule.h>

#include "base/hash_index.h"

static inline uint64_t rule_hash_place(const struct bobbin_place *p, uint64_t seed)
{
	return hash_words((uint32_t)p->off, (uint64_t)p->how << 8 | p->reg, seed);
}

/* Of what bobbin_rule_equal() looks at in rules of rows. */
static inline uint64_t rule_hash(const struct bobbin_rule *rule, uint64_t seed)
{
	seed = rule_hash_place(&rule->cfa, seed ^ rule->flags);
	return rule_hash_place(&rule->fp, rule_hash_place(&rule->ra, seed));
}

/* There is no body for an ordinary function; shifted by one, for a flexible one. */
#define ROW_NO_BODY 0x100u

/**
 * struct row_form - a rule
 * @word: packed, or 0 if no word holds it
 * @body: offset of its bodies: a row without its start, as in an ordinary function and,
 *	after it, as in a flexible one
 * @size: bytes of the two, 0 where there is none
 * @flags: a bit for its BOBBIN_RULE_…, of which there are eight sets, and ROW_NO_BODY
 */
struct row_form {
	uint64_t word;
	uint32_t body;
	uint8_t size[2];
	uint16_t flags;
};

/* Forms in a table before the index, by a part of a hash of their words. */
#define RECENT_BITS 8

struct recent_form {
	uint64_t word;
	uint32_t form;
};

/**
 * struct row_forms - those of a section
 * @arch, @version: of the section
 * @forms, @count: the rules
 * @bodies: their bytes
 * @index: forms with a word
 * @recent: those that were found last
 * @wide: the rule of the last form without one
 */
struct row_forms {
	const struct bobbin_arch *arch;
	unsigned int version;
	struct row_form *forms;
	size_t count, capacity;
	uint8_t *bodies;
	size_t body_size, body_capacity;
	struct hash_index index;
	struct recent_form recent[1 << RECENT_BITS];
	uint64_t seed;
	struct bobbin_rule wide;
	uint32_t wide_form;
};

void row_forms_init(const struct bobbin_arch *arch, unsigned int version, struct row_forms *ret);
void row_forms_fini(struct row_forms *forms);

/* The number of a packed rule's form.  0, -ENOMEM. */
int row_forms_of_word(struct row_forms *forms, uint64_t word, uint32_t *ret);

/* The number of a rule's form.  0, -ENOMEM. */
int row_forms_of_rule(struct row_forms *forms, const struct bobbin_rule *rule, uint32_t *ret);

/* The same, faster for many searches. */
static inline int row_forms_find(struct row_forms *forms, uint64_t word, uint32_t *ret)
{
	const uint64_t hash = word * 0x9e3779b97f4a7c15;
	struct recent_form *recent = &forms->recent[hash >> (64 - RECENT_BITS)];
	int r = 0;

	if (recent->word != word) {
		r = row_forms_of_word(forms, word, &recent->form);
		recent->word = r ? 0 : word;
	}
	*ret = recent->form;
	return r;
}

/* A body; @flex: as in a flexible function. */
static inline const uint8_t *row_form_body(const struct row_forms *forms,
					   const struct row_form *form, bool flex)
{
	return forms->bodies + form->body + (flex ? form->size[0] : 0);
}

/* Bytes that may be written, or read, after those of a body. */
#define ROW_SLACK 8

/* Copy a body with that many bytes of memory after it. */
static inline uint8_t *row_form_copy(uint8_t *at, const uint8_t *body, unsigned int size)
{
	/* more than that is rare, and a call */
	memcpy(at, body, ROW_SLACK);
	if (size > ROW_SLACK)
		memcpy(at + ROW_SLACK, body + ROW_SLACK, size - ROW_SLACK);
	return at + size;
}

static inline bool row_form_exists(const struct row_form *form)
{
	return form->size[0] || form->size[1];
}

#endif
