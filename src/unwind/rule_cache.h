/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_cache.h - from (file, offset in the file) to the packed rule.
 *
 * Rules do not depend on where a file is mapped, so all processes share the
 * cache.  Registered code counts as one more file, in which each range that was
 * ever registered has a place of its own.  Sets of four, the size of a cache line, the newest first.  What does
 * not pack is looked up each time.
 */
#ifndef BOBBIN_UNWIND_RULE_CACHE_H
#define BOBBIN_UNWIND_RULE_CACHE_H

#include <bobbin/unwind.h>
#include <string.h>

#include "core/deps.h"

#define CACHE_WAYS 4

#define KEY_FILE 40   /* bits of an offset */
#define KEY_SOURCE 56 /* and of the number of a file, plus one */

/* With a source: the rule holds as long as its code is there, to be checked by each walk. */
#define SOURCE_ONCE 0x80

/* The file that registered code counts as; real ones have smaller numbers. */
#define REMOTE_FILE ((1u << (KEY_SOURCE - KEY_FILE)) - 2)

struct cached_rule {
	uint64_t key; /* see rule_cache_key(), with the source in KEY_SOURCE; 0: empty */
	uint64_t word;
};

struct cached_rules {
	struct cached_rule ways[CACHE_WAYS];
};

/* 0: the place cannot be cached. */
static inline uint64_t rule_cache_key(uint32_t file, uint64_t offset)
{
	if (offset >> KEY_FILE || file >= REMOTE_FILE)
		return 0;
	return (uint64_t)(file + 1) << KEY_FILE | offset;
}

/* The same for a place among registered code. */
static inline uint64_t remote_rule_key(uint64_t place)
{
	return place >> KEY_FILE ? 0 : (uint64_t)(REMOTE_FILE + 1) << KEY_FILE | place;
}

static inline enum bobbin_source cached_source(const struct cached_rule *rule)
{
	return (enum bobbin_source)(rule->key >> KEY_SOURCE);
}

/* The set of a key in a cache of 1 << @bits sets. */
static BOBBIN_ALWAYS_INLINE uint64_t rule_cache_set(uint64_t key, unsigned int bits)
{
	return key * 0x9e3779b97f4a7c15ull >> (64 - bits);
}

/* The rule of a key other than 0, or NULL. */
static BOBBIN_ALWAYS_INLINE const struct cached_rule *rule_cache_get(
	const struct cached_rules *sets, unsigned int bits, uint64_t key)
{
	const struct cached_rule *ways = sets[rule_cache_set(key, bits)].ways;

	for (unsigned int i = 0; i < CACHE_WAYS; i++)
		if (BOBBIN_LIKELY(!((ways[i].key ^ key) << (64 - KEY_SOURCE))))
			return &ways[i];
	return NULL;
}

/* @source: with eight bits. */
static inline void rule_cache_put(struct cached_rules *sets, unsigned int bits, uint64_t key,
				  const struct bobbin_rule *rule, uint8_t source)
{
	struct cached_rule *ways = sets[rule_cache_set(key, bits)].ways;
	uint64_t word;

	if (!key || bobbin_rule_pack(rule, &word))
		return;
	memmove(&ways[1], &ways[0], (CACHE_WAYS - 1) * sizeof(*ways));
	ways[0] = (struct cached_rule){key | (uint64_t)source << KEY_SOURCE, word};
}

#endif
