/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * word_cache.h - what walks of a process have looked up, until its map changes.
 *
 * A rule is a packed word.  Whatever is taken out of the map empties the cache, and makes a new
 * generation, in which nothing is kept that was found before.  What walks find out in one thread is
 * there for all.  Walks never wait, and take what is just being written for missing.
 */
#ifndef _KERNEL_UNWIND_SFRAME_WORD_CACHE_H
#define _KERNEL_UNWIND_SFRAME_WORD_CACHE_H

#include <linux/hash.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#define SFRAME_CACHE_BITS 7
#define SFRAME_CACHE_WAYS 4
#define SFRAME_CACHE_SIZE (SFRAME_CACHE_WAYS << SFRAME_CACHE_BITS)

struct sframe_section;

/* The rule for a PC; of no PC: 0 and 0. */
struct sframe_cached {
	unsigned long pc;
	u64 word;
};

/**
 * struct sframe_rule_cache - of one map
 * @lock: of who writes
 * @seq: for who reads
 * @used: something is in @rules
 * @rules: SFRAME_CACHE_SIZE, once something has been looked up
 * @recent: what was found last, in @recent_generation, for text from @first to @last
 */
struct sframe_rule_cache {
	raw_spinlock_t lock;
	seqcount_t seq;
	bool used;
	struct sframe_cached *rules;
	struct sframe_section *recent;
	unsigned long first, last, recent_generation;
};

static inline void sframe_cache_init(struct sframe_rule_cache *c)
{
	raw_spin_lock_init(&c->lock);
	seqcount_init(&c->seq);
}

/* The first of the SFRAME_CACHE_WAYS that may have the rule for a PC, which is the newest. */
static __always_inline unsigned int sframe_cache_set(unsigned long pc)
{
	return hash_64(pc, SFRAME_CACHE_BITS) * SFRAME_CACHE_WAYS;
}

/* The packed rule for a PC, or 0. */
static __always_inline u64 sframe_cache_find(const struct sframe_rule_cache *c, unsigned long pc)
{
	/* pairs with the cmpxchg() of who has allocated them */
	const struct sframe_cached *rule = smp_load_acquire(&c->rules);
	unsigned int seq;
	u64 word;

	if (unlikely(!rule))
		return 0;
	seq = raw_seqcount_begin(&c->seq);
	rule += sframe_cache_set(pc);
	if (READ_ONCE(rule->pc) == pc)
		word = READ_ONCE(rule[0].word);
	else if (READ_ONCE(rule[1].pc) == pc)
		word = READ_ONCE(rule[1].word);
	else if (READ_ONCE(rule[2].pc) == pc)
		word = READ_ONCE(rule[2].word);
	else if (READ_ONCE(rule[3].pc) == pc)
		word = READ_ONCE(rule[3].word);
	else
		return 0;
	return likely(!read_seqcount_retry(&c->seq, seq)) ? word : 0;
}

/*
 * The section that was found last, if it is for @addr; or NULL.  Under RCU, from before
 * @generation was read: then it is still there, if with no reference.
 */
static __always_inline struct sframe_section *sframe_cache_recent(const struct sframe_rule_cache *c,
								  unsigned long generation,
								  unsigned long addr)
{
	unsigned int seq = raw_seqcount_begin(&c->seq);
	struct sframe_section *section = READ_ONCE(c->recent);
	unsigned long first = READ_ONCE(c->first);

	if (addr - first > READ_ONCE(c->last) - first ||
	    READ_ONCE(c->recent_generation) != generation)
		return NULL;
	return likely(!read_seqcount_retry(&c->seq, seq)) ? section : NULL;
}

/* Keep what was found in a generation.  @now: the map's generation, which may be a later one. */
void sframe_cache_keep(struct sframe_rule_cache *c, const unsigned long *now,
		       unsigned long generation, unsigned long pc, u64 word);

/* Keep the section of text from @first to @last, likewise. */
void sframe_cache_remember(struct sframe_rule_cache *c, const unsigned long *now,
			   unsigned long generation, struct sframe_section *section,
			   unsigned long first, unsigned long last);

/* Something was taken out of the map, which is of a later generation by now. */
void sframe_cache_empty(struct sframe_rule_cache *c);

void sframe_cache_fini(struct sframe_rule_cache *c);

#endif
