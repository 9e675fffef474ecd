/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_dictionary.h - the different rules of a file, the commonest first.
 *
 * A file has some dozens to hundreds of rules for thousands of rows, so a row
 * names its rule by a small number.
 */
#ifndef BOBBIN_SIDEFILE_RULE_DICTIONARY_H
#define BOBBIN_SIDEFILE_RULE_DICTIONARY_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#include "base/byte_buffer.h"
#include "base/hash_index.h"
#include "core/bytes.h"

struct counted_rule {
	struct bobbin_rule rule;
	uint64_t uses;
};

/**
 * struct rule_dictionary - rules that have been counted; starts as all zero
 * @rules, @count, @capacity: the rules
 * @index: their numbers
 */
struct rule_dictionary {
	struct counted_rule *rules;
	size_t count, capacity;
	struct hash_index index;
};

/* One more use of a rule, new or known.  0, -ENOMEM. */
int rule_dictionary_count(struct rule_dictionary *dictionary, const struct bobbin_rule *rule);

/* Number the rules by falling use.  0, -ENOMEM. */
int rule_dictionary_sort(struct rule_dictionary *dictionary);

/* The number of a rule; that of rules if it was not counted. */
uint32_t rule_dictionary_find(const struct rule_dictionary *dictionary,
			      const struct bobbin_rule *rule);

void rule_dictionary_fini(struct rule_dictionary *dictionary);

/* Write the rules; their numbers are their places. */
void rule_dictionary_write(const struct rule_dictionary *dictionary, struct byte_buffer *out);

/*
 * Read what was written: *@rules becomes the caller's.  Each rule is one that an
 * SFrame row of @arch can hold.  0, -ENOMEM, -EBADMSG.
 */
int rule_dictionary_read(struct bytes *in, const struct bobbin_arch *arch, struct bobbin_error *err,
			 struct bobbin_rule **rules, uint32_t *count);

#endif
