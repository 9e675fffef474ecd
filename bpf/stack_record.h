/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_record.h - give samples out, with the new part of their stacks.
 *
 * The frames of a sample are hashed from the root on.  The longest outer part that was given out
 * before is replaced by its hash.  What found no room in the ring does not count as given out.
 */
#ifndef BOBBIN_STACK_RECORD_H
#define BOBBIN_STACK_RECORD_H

#include "bpfwalk/bpf_abi.h"

/* linux/perf_event.h */
#define PERF_SAMPLE_TIME (1 << 2)
/* asm/ptrace.h: the lower bits of CS are not 0 in user mode */
#define CS_WORD 17

#pragma GCC visibility push(default)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, KERNEL_SAMPLE_BYTES_LEAST); /* set before it is loaded */
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << KERNEL_KNOWN_BITS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} known SEC(".maps");

/* Set before the program is loaded. */
const volatile struct stack_key stack_key;
/* Whether the kernel lets programs see the sample: Linux 6.2. */
const volatile bool sees_sample;
/* The recorder is woken when there are so many bytes of samples. */
const volatile uint64_t wake_bytes;
/* The number of the event of perf whose samples are walked. */
const volatile uint32_t counted_event;
/* The recorder counts it up, so that all hashes change and everything is given out again. */
uint64_t stack_epoch;

#pragma GCC visibility pop

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

/* Any index of words, without a branch, whose ways the verifier would both follow. */
static BOBBIN_ALWAYS_INLINE uint64_t word_at(uint64_t index)
{
	__asm__ volatile("" : "+r"(index));
	return index & (KERNEL_SAMPLE_WORDS - 1);
}

static BOBBIN_ALWAYS_INLINE uint64_t root_of(uint64_t epoch, uint64_t list)
{
	const struct stack_key key = {stack_key.seed, stack_key.factor};

	return stack_root(&key, epoch, list);
}

/* So many words are hashed at a time, since the verifier goes over each of them. */
#define HASH_PART 32

/* Hash the last words before @end, of which there are @count, as far as a part goes. */
BOBBIN_STAGE uint64_t hash_part(uint32_t number, uint64_t end, uint32_t count, uint64_t root)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	for (uint32_t i = 0; s && i < HASH_PART && i < count; i++) {
		uint64_t k = word_at(--end);

		root = stack_hash(stack_key.factor, root, s->sample.words[k]);
		s->hashes[k] = root;
	}
	return root;
}

/* Hash the words from @base on, the last one of which the root has called. */
BOBBIN_STAGE int hash_stack(uint32_t number, uint32_t base, uint32_t count, uint64_t root)
{
	for (uint32_t i = 0; i < KERNEL_FRAMES && i < count; i += HASH_PART)
		root = hash_part(number, (uint64_t)base + count - i, count - i, root);
	return 0;
}

static BOBBIN_ALWAYS_INLINE uint64_t *known_slot(uint64_t hash)
{
	uint32_t slot = (uint32_t)(hash >> (64 - KERNEL_KNOWN_BITS));

	return bpf_map_lookup_elem(&known, &slot);
}

/* Goes over hashes from @base on; @count: of those that are not known. */
struct hash_loop {
	struct walk_state *state;
	uint64_t base, count;
};

static long look_known(uint32_t i, void *ctx)
{
	struct hash_loop *c = ctx;
	uint64_t hash = c->state->hashes[word_at(c->base + i)];
	const uint64_t *slot = known_slot(hash);

	if (slot && *slot == hash)
		return 1;
	c->count++;
	return 0;
}

/* How many of @count frames come before those that are known. */
BOBBIN_STAGE uint32_t count_new(uint32_t number, uint32_t base, uint32_t count)
{
	struct hash_loop c = {.state = bpf_map_lookup_elem(&states, &number), .base = base};

	if (!c.state)
		return count;
	bpf_loop(count, look_known, &c, 0);
	return (uint32_t)c.count;
}

static long make_known(uint32_t i, void *ctx)
{
	struct hash_loop *c = ctx;
	uint64_t hash = c->state->hashes[word_at(c->base + i)];
	uint64_t *slot = known_slot(hash);

	if (slot)
		*slot = hash;
	return 0;
}

/* They were given out. */
BOBBIN_STAGE int set_known(uint32_t number, uint32_t base, uint32_t count)
{
	struct hash_loop c = {.state = bpf_map_lookup_elem(&states, &number), .base = base};

	if (c.state)
		bpf_loop(count, make_known, &c, 0);
	return 0;
}

/* Copy words in ascending order; the ranges may overlap. */
BOBBIN_STAGE int move_words(uint32_t number, uint32_t to, uint32_t from, uint32_t count)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	for (uint32_t i = 0; s && i < KERNEL_CHAIN && i < count; i++)
		s->sample.words[word_at(to + i)] = s->sample.words[word_at(from + i)];
	return 0;
}

static BOBBIN_ALWAYS_INLINE void add_word(struct walk_state *s, uint32_t *count, uint64_t word)
{
	s->sample.words[word_at(*count)] = word;
	++*count;
}

/* The new part of the user's stack, and what it leads to. */
static BOBBIN_ALWAYS_INLINE void take_user(struct walk_state *s, uint64_t epoch, uint32_t frames)
{
	struct kernel_sample_head *to = &s->sample.head;

	hash_stack(s->number, 0, frames, root_of(epoch, s->list.number));
	to->count = (uint16_t)count_new(s->number, 0, frames);
	to->flags = 0;
	to->outer = s->hashes[word_at(to->count)];
	if (to->count == frames) {
		to->flags = KERNEL_FROM_ROOT;
		to->outer = s->list.number;
	}
}

/* The same of the kernel's, which is behind the longest user stack. */
static BOBBIN_ALWAYS_INLINE void take_chain(struct walk_state *s, uint64_t epoch, long bytes)
{
	struct kernel_sample_head *to = &s->sample.head;
	uint32_t count = (uint32_t)index_below((uint64_t)bytes / 8, KERNEL_CHAIN + 1);

	to->flags |= KERNEL_HAS_CHAIN;
	hash_stack(s->number, KERNEL_FRAMES, count, root_of(epoch, 0));
	to->chain = (uint8_t)count_new(s->number, KERNEL_FRAMES, count);
	if (to->chain == count)
		to->flags |= KERNEL_CHAIN_FROM_ROOT;
	move_words(s->number, to->count, KERNEL_FRAMES, to->chain);
}

static BOBBIN_ALWAYS_INLINE uint64_t sample_size(uint64_t words)
{
	return index_below(offsetof(struct kernel_sample, words) + 8 * words,
			   sizeof(struct kernel_sample) + 1);
}

static BOBBIN_ALWAYS_INLINE void add_gap(struct walk_state *s, uint32_t *words)
{
	if (!s->left_out)
		return;
	s->sample.head.flags |= KERNEL_HAS_GAP;
	add_word(s, words, s->left_out);
}

/**
 * struct sample_facts - a sample, but for its stack
 * @time: by CLOCK_MONOTONIC
 * @event: its number
 * @in_kernel: that was interrupted, so the stack has a part of the kernel's
 */
struct sample_facts {
	uint64_t time, period;
	uint32_t event;
	bool in_kernel;
};

/* The kernel's part of the stack, if there is one; @words: to where; false: it fails. */
static BOBBIN_ALWAYS_INLINE bool add_chain(void *ctx, struct walk_state *s,
					   const struct sample_facts *facts, uint64_t epoch,
					   uint32_t *words)
{
	struct kernel_sample_head *to = &s->sample.head;
	uint64_t first;
	long r;

	to->chain = 0;
	if (!facts->in_kernel)
		return true;
	r = bpf_get_stack(ctx, &s->sample.words[KERNEL_FRAMES], 8 * KERNEL_CHAIN, 0);
	if (r <= 0)
		return false;
	take_chain(s, epoch, r);
	first = KERNEL_FRAMES + (uint64_t)to->chain;
	*words += to->chain;
	if (!(to->flags & KERNEL_CHAIN_FROM_ROOT))
		add_word(s, words, s->hashes[word_at(first)]);
	return true;
}

/* The kernel's sample has the same, where it is prepared before the program runs; else a later one. */
static BOBBIN_ALWAYS_INLINE uint64_t sample_time(struct bpf_perf_event_data *ctx)
{
	const struct bpf_perf_event_data_kern *kern;

	if (sees_sample) {
		kern = bpf_cast_to_kern_ctx(ctx);
		if (kern->data->sample_flags & PERF_SAMPLE_TIME)
			return kern->data->time;
	}
	return bpf_ktime_get_ns();
}

/* Of an event of perf. */
static BOBBIN_ALWAYS_INLINE struct sample_facts facts_of(struct bpf_perf_event_data *ctx)
{
	return (struct sample_facts){
		.time = sample_time(ctx),
		.period = ctx->sample_period,
		.event = counted_event,
		.in_kernel = !(ctx->regs.words[CS_WORD] & 3),
	};
}

/*
 * The stack in @s->sample.  false: there was no room for it.  On a stack of its own, so that its
 * callers, below which stacks are walked, need less.
 */
static BOBBIN_OUT_OF_LINE bool give_out(void *ctx, struct walk_state *s,
					const struct sample_facts *facts, uint64_t frames,
					uint64_t cookie)
{
	uint64_t thread = bpf_get_current_pid_tgid(), epoch = *(volatile uint64_t *)&stack_epoch;
	uint64_t wake = BPF_RB_NO_WAKEUP;
	struct kernel_sample_head *to = &s->sample.head;
	uint32_t words;

	take_user(s, epoch, (uint32_t)frames);
	words = to->count;
	if (!add_chain(ctx, s, facts, epoch, &words))
		return false;
	if (cookie) {
		to->flags |= KERNEL_HAS_COOKIE;
		add_word(s, &words, cookie);
	}
	if (facts->event) {
		to->flags |= KERNEL_HAS_EVENT;
		add_word(s, &words, facts->event);
	}
	add_gap(s, &words);
	to->time = facts->time;
	to->period = facts->period;
	to->pid = (uint32_t)(thread >> 32);
	to->tid = (uint32_t)thread;
	to->cpu = (uint16_t)bpf_get_smp_processor_id();
	to->epoch = (uint16_t)epoch;
	if (bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= wake_bytes)
		wake = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&samples, &s->sample, sample_size(words), wake))
		return false;
	set_known(s->number, 0, to->count);
	set_known(s->number, KERNEL_FRAMES, to->chain);
	return true;
}

/* A stack that was walked later, whole. */
static BOBBIN_ALWAYS_INLINE void give_out_late(struct walk_state *s, uint32_t frames,
					       uint64_t cookie)
{
	uint32_t words = frames;

	s->sample.head.flags = KERNEL_FROM_ROOT | KERNEL_HAS_COOKIE;
	s->sample.head.outer = s->list.number;
	s->sample.head.count = (uint16_t)frames;
	s->sample.head.chain = 0;
	add_word(s, &words, cookie);
	add_gap(s, &words);
	bpf_ringbuf_output(&results, &s->sample, sample_size(words), BPF_RB_NO_WAKEUP);
}

#endif
