/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwinder_rule.h - the rule by which a walk would go on from an address. */
#ifndef BOBBIN_UNWIND_UNWINDER_RULE_H
#define BOBBIN_UNWIND_UNWINDER_RULE_H

#include "core/known_code.h"
#include "unwind/rule_cache.h"

/* Of the sets of its cache. */
#define UNWINDER_CACHE_BITS 15

const struct cached_rules *unwinder_cache(const struct bobbin_unwinder *unwinder);

/* Who gave the rule; BOBBIN_SOURCE_NONE: nobody, and the rule says why. */
enum bobbin_source unwinder_rule(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				 uint64_t pc, struct bobbin_rule *ret);

/* Keep a rule that was found elsewhere, under a key other than 0. */
void unwinder_keep_rule(struct bobbin_unwinder *unwinder, uint64_t key,
			const struct bobbin_rule *rule, enum bobbin_source source);

/* What was asked of the code at the place of a key other than 0, if that is remembered. */
bool unwinder_return_known(const struct bobbin_unwinder *unwinder, uint64_t key,
			   enum code_answer *ret);
void unwinder_return_keep(struct bobbin_unwinder *unwinder, uint64_t key, enum code_answer answer);

#endif
