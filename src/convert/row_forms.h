/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_forms.h - the rules of a section's rows, each encoded once.
 */
#ifndef BOBBIN_CONVERT_ROW_FORMS_H
#define BOBBIN_CONVERT_ROW_FORMS_H

#include "convert/rule_pool.h"

/* There is no body for an ordinary function; shifted by one, for a flexible one. */
#define ROW_NO_BODY 0x100u

/**
 * struct row_form - a rule
 * @body: offset of its bodies: a row without its start, as in an ordinary function and,
 *	after it, as in a flexible one
 * @size: bytes of the two, 0 where there is none
 * @flags: a bit for its BOBBIN_RULE_…, of which there are eight sets, and ROW_NO_BODY
 */
struct row_form {
	uint32_t body;
	uint8_t size[2];
	uint16_t flags;
};

/**
 * struct row_forms - those of a section
 * @arch, @version: of the section
 * @forms, @count: of the rules with these numbers
 * @bodies: their bytes
 */
struct row_forms {
	const struct bobbin_arch *arch;
	unsigned int version;
	struct row_form *forms;
	size_t count, capacity;
	uint8_t *bodies;
	size_t body_size, body_capacity;
};

void row_forms_init(const struct bobbin_arch *arch, unsigned int version, struct row_forms *ret);
void row_forms_fini(struct row_forms *forms);

/* Encode the rules of a pool that have no forms yet.  0, -ENOMEM. */
int row_forms_encode(struct row_forms *forms, const struct rule_pool *rules);

/* The same, faster where there are none. */
static inline int row_forms_complete(struct row_forms *forms, const struct rule_pool *rules)
{
	return forms->count < rules->count ? row_forms_encode(forms, rules) : 0;
}

/* Whether a row can have a rule. */
bool row_forms_express(const struct row_forms *forms, const struct bobbin_rule *rule);

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

#endif
