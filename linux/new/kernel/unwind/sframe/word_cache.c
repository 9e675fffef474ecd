// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* word_cache.c - what walks of a process have looked up, until its map changes. */
#include "word_cache.h"

#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static struct sframe_cached *sframe_cache_rules(struct sframe_rule_cache *c)
{
	/* pairs with the cmpxchg() below */
	struct sframe_cached *rules = smp_load_acquire(&c->rules), *before;

	if (rules || faulthandler_disabled())
		return rules;
	rules = kvzalloc_objs(*rules, SFRAME_CACHE_SIZE, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!rules)
		return NULL;
	before = cmpxchg(&c->rules, NULL, rules);
	if (!before)
		return rules;
	kvfree(rules);
	return before;
}

/*
 * false: somebody else writes, or what was found is of no use any more.  A change of the map that
 * comes after this is of a later generation.
 */
static bool sframe_cache_begin(struct sframe_rule_cache *c, const unsigned long *now,
			       unsigned long generation)
{
	if (!raw_spin_trylock(&c->lock))
		return false;
	/* pairs with the store in sframe_take_out() */
	if (smp_load_acquire(now) == generation) {
		write_seqcount_begin(&c->seq);
		return true;
	}
	raw_spin_unlock(&c->lock);
	return false;
}

static void sframe_cache_end(struct sframe_rule_cache *c)
{
	write_seqcount_end(&c->seq);
	raw_spin_unlock(&c->lock);
}

void sframe_cache_keep(struct sframe_rule_cache *c, const unsigned long *now,
		       unsigned long generation, unsigned long pc, u64 word)
{
	struct sframe_cached *rules = sframe_cache_rules(c), *rule;

	if (!rules || !sframe_cache_begin(c, now, generation))
		return;
	c->used = true;
	rule = rules + sframe_cache_set(pc);
	for (int i = rule->pc == pc ? 0 : SFRAME_CACHE_WAYS - 1; i > 0; i--) {
		WRITE_ONCE(rule[i].pc, rule[i - 1].pc);
		WRITE_ONCE(rule[i].word, rule[i - 1].word);
	}
	WRITE_ONCE(rule->pc, pc);
	WRITE_ONCE(rule->word, word);
	sframe_cache_end(c);
}

void sframe_cache_remember(struct sframe_rule_cache *c, const unsigned long *now,
			   unsigned long generation, struct sframe_section *section,
			   unsigned long first, unsigned long last)
{
	if (!sframe_cache_begin(c, now, generation))
		return;
	WRITE_ONCE(c->recent, section);
	WRITE_ONCE(c->first, first);
	WRITE_ONCE(c->last, last);
	WRITE_ONCE(c->recent_generation, generation);
	sframe_cache_end(c);
}

void sframe_cache_empty(struct sframe_rule_cache *c)
{
	raw_spin_lock(&c->lock);
	if (c->used) {
		write_seqcount_begin(&c->seq);
		memset(c->rules, 0, SFRAME_CACHE_SIZE * sizeof(*c->rules));
		write_seqcount_end(&c->seq);
		c->used = false;
	}
	raw_spin_unlock(&c->lock);
}

void sframe_cache_fini(struct sframe_rule_cache *c)
{
	kvfree(c->rules);
}
