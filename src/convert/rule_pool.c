/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/rule_pool.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct rule_pool *pool, uint64_t hash, const struct pooled_rule *rule, uint32_t *ret)
{
	if (hash_index_push(&pool->index, hash, pool->rules, pool->count, pool->capacity, *rule))
		return -ENOMEM;
	*ret = (uint32_t)pool->count - 1;
	return 0;
}

static uint64_t word_hash(const struct rule_pool *pool, uint64_t word)
{
	return hash_words(word, 0, pool->seed);
}

int rule_pool_init(struct rule_pool *ret)
{
	const struct pooled_rule none = {0};
	uint32_t number;

	*ret = (struct rule_pool){.seed = hash_seed()};
	return add(ret, word_hash(ret, 0), &none, &number);
}

void rule_pool_fini(struct rule_pool *pool)
{
	hash_index_fini(&pool->index);
	free(pool->rules);
	*pool = (struct rule_pool){0};
}

int rule_pool_search(struct rule_pool *pool, uint64_t word, uint32_t *ret)
{
	const uint64_t hash = word_hash(pool, word);
	struct pooled_rule rule = {.word = word};
	size_t at = 0;

	while (hash_index_next(&pool->index, hash, &at, ret))
		if (pool->rules[*ret].word == word)
			return 0;
	bobbin_rule_unpack(word, &rule.rule);
	return add(pool, hash, &rule, ret);
}

int rule_pool_of_rule(struct rule_pool *pool, const struct bobbin_rule *rule, uint32_t *ret)
{
	const struct pooled_rule wide = {.rule = *rule};
	uint64_t hash, word;
	size_t at = 0;

	if (!bobbin_rule_pack(rule, &word))
		return rule_pool_of_word(pool, word, ret);
	hash = rule_hash(rule, pool->seed);
	while (hash_index_next(&pool->index, hash, &at, ret))
		if (*ret != RULE_NONE && !pool->rules[*ret].word &&
		    bobbin_rule_equal(&pool->rules[*ret].rule, rule))
			return 0;
	return add(pool, hash, &wide, ret);
}
