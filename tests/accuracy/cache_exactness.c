/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache-exactness [-n WALKS] FILE - do traces depend on what walks remember?
 *
 * Walks each sample of a recording (`perf record --call-graph dwarf`) four times: without
 * the cache of rules and the last walk, with each of them, and with both.  Frames, sources and
 * reasons must be the same.  It goes through the samples in several orders until it has
 * compared so many walks, and at least once in each.  In between it walks what nobody
 * recorded: from addresses all over the mapped files, until the cache has to drop rules, and
 * over changed copies of stacks.
 *
 * A walk that takes a rule or a caller from its memory asks no table for it, so requests to
 * tables are counted.  Exit status 1 if a trace differs or something was never remembered.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_set.h"
#include "unwind/space.h"
#include "unwind/unwinder.h"

#define ORDERS 4
#define FLOOD (1u << 16) /* walks from elsewhere before each round */
#define ALTER_EACH 8
#define NEAR 2048 /* bytes of a stack in which most words belong to a frame */

enum walker_kind {
	NEITHER,
	RULES,
	LAST_WALK,
	BOTH,
	WALKERS
};

static const char *const names[WALKERS] = {"neither", "rules", "last walk", "both"};

struct walker {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space **spaces; /* by layout */
	uint64_t frames, requests;    /* of recorded samples */
	struct bobbin_frame storage[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
};

/* What to walk. */
struct walk_start {
	struct bobbin_regs regs;
	struct bobbin_stack_copy stack;
	uint32_t layout, max, outer;
};

struct exactness {
	struct bobbin_unwinder *loader; /* of the set's spaces */
	struct sample_set set;
	struct walker walkers[WALKERS];
	uint64_t recorded, others, different; /* starts, each walked by all */
	uint64_t seed;
};

static uint64_t requests;

enum bobbin_source __real_unwinder_rule(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t pc,
					struct bobbin_rule *ret);
enum bobbin_source __wrap_unwinder_rule(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t pc,
					struct bobbin_rule *ret);

enum bobbin_source __wrap_unwinder_rule(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t pc,
					struct bobbin_rule *ret)
{
	requests++;
	return __real_unwinder_rule(unwinder, space, pc, ret);
}

static void die(int error)
{
	fprintf(stderr, "cache-exactness: %s\n", strerror(-error));
	exit(2);
}

static uint64_t arbitrary(struct exactness *x, uint64_t below)
{
	x->seed ^= x->seed << 13;
	x->seed ^= x->seed >> 7;
	x->seed ^= x->seed << 17;
	return x->seed % below;
}

/* Rules of files whose number does not fit into a key are not cached. */
static void use_up_numbers(struct bobbin_unwinder *unwinder)
{
	struct bobbin_mapping mapping = {.start = 4096, .end = 8192};
	struct bobbin_space *space;
	char path[32];
	int r = bobbin_space_open(unwinder, bobbin_arch_amd64(), &space);

	mapping.path = path;
	for (uint32_t i = 0; !r && i < REMOTE_FILE; i++) {
		snprintf(path, sizeof(path), "/nowhere/%u", i);
		r = bobbin_space_map(space, &mapping);
	}
	if (r)
		die(r);
	bobbin_space_close(space);
}

static struct bobbin_space *copy_space(struct bobbin_unwinder *unwinder,
				       const struct bobbin_space *from)
{
	struct bobbin_place_info place;
	struct bobbin_space *space;
	int r = bobbin_space_open(unwinder, from->arch, &space);

	for (size_t i = 0; !r && i < from->maps.count; i++) {
		r = bobbin_space_find(from, from->maps.list[i].start, &place);
		if (!r)
			r = bobbin_space_map(space, &place.mapping);
	}
	if (r)
		die(r);
	return space;
}

static void walker_open(struct walker *w, enum walker_kind kind, const struct sample_set *set)
{
	int r = bobbin_unwinder_open(NULL, &w->unwinder);

	w->spaces = calloc(set->layout_count, sizeof(*w->spaces));
	if (r || !w->spaces)
		die(r ? r : -ENOMEM);
	if (kind == NEITHER)
		use_up_numbers(w->unwinder);
	for (size_t i = 0; i < set->layout_count; i++)
		w->spaces[i] = copy_space(w->unwinder, set->layouts[i].space);
}

static void walker_close(struct walker *w, const struct sample_set *set)
{
	for (size_t i = 0; i < set->layout_count; i++)
		bobbin_space_close(w->spaces[i]);
	free(w->spaces);
	bobbin_unwinder_close(w->unwinder);
}

static void walk(struct walker *w, struct walk_start *start)
{
	struct bobbin_mem mem = {bobbin_stack_copy_read, &start->stack};

	w->trace = (struct bobbin_trace){
		.frames = w->storage, .max = start->max, .outer = start->outer};
	bobbin_unwind(w->unwinder, w->spaces[start->layout], &start->regs, &mem, &w->trace);
}

/* The last walk is that of other mappings then. */
static void forget_walk(const struct walker *w, const struct walk_start *start)
{
	w->spaces[start->layout]->generation++;
}

static void forget_rules(const struct walker *w, const struct walk_start *start,
			 const struct bobbin_trace *trace)
{
	const struct mapping_list *maps = &w->spaces[start->layout]->maps;
	struct cached_rules *sets = w->unwinder->cache;

	for (uint32_t i = 0; i < trace->count; i++) {
		uint64_t pc = bobbin_frame_lookup_pc(&trace->frames[i]), key;
		const struct mapping *m = mapping_list_at(maps, pc);

		if (!m)
			continue;
		key = rule_cache_key(m->file->number, pc - m->start + m->offset);
		memset(&sets[rule_cache_set(key, UNWINDER_CACHE_BITS)], 0, sizeof(*sets));
	}
}

static bool same_trace(const struct bobbin_trace *a, const struct bobbin_trace *b)
{
	if (a->count != b->count || a->reason != b->reason || a->left_out != b->left_out)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->frames[i].pc != b->frames[i].pc ||
		    a->frames[i].source != b->frames[i].source ||
		    a->frames[i].exact != b->frames[i].exact)
			return false;
	return true;
}

static void report(const struct walk_start *start, const struct bobbin_trace *trace,
		   const char *name)
{
	printf("sp %jx, %u frames at most, %u of them outer, %s: %s, %u left out\n",
	       (uintmax_t)start->regs.sp, start->max, start->outer, name,
	       bobbin_reason_name(trace->reason), trace->left_out);
	for (uint32_t i = 0; i < trace->count; i++)
		printf("  %16jx %s%s\n", (uintmax_t)trace->frames[i].pc,
		       bobbin_source_str(trace->frames[i].source),
		       trace->frames[i].exact ? ", exact" : "");
}

static void compare(struct exactness *x, struct walk_start *start, bool recorded)
{
	const struct bobbin_trace *expected = &x->walkers[NEITHER].trace;

	for (unsigned int i = 0; i < WALKERS; i++) {
		struct walker *w = &x->walkers[i];
		uint64_t before = requests;

		if (i == NEITHER || i == RULES)
			forget_walk(w, start);
		else if (i == LAST_WALK)
			forget_rules(w, start, expected);
		walk(w, start);
		if (recorded) {
			w->frames += w->trace.count;
			w->requests += requests - before;
		}
		if (!same_trace(&w->trace, expected) && !x->different++) {
			report(start, expected, names[NEITHER]);
			report(start, &w->trace, names[i]);
		}
		/* a memo notes only frames whose rules were cached */
		if (i == LAST_WALK)
			walk(w, start);
	}
	*(recorded ? &x->recorded : &x->others) += 1;
}

static struct walk_start start_of(const struct set_sample *s)
{
	return (struct walk_start){
		.regs = s->regs, .stack = s->stack, .layout = s->layout, .max = BOBBIN_MAX_DEPTH};
}

/* Walks from anywhere in the mapped files put rules into the cache that no sample needs. */
static void flood(struct exactness *x)
{
	for (unsigned int i = 0; i < FLOOD; i++) {
		struct walk_start start = start_of(&x->set.samples[arbitrary(x, x->set.count)]);
		const struct mapping_list *maps = &x->set.layouts[start.layout].space->maps;
		const struct mapping *m;

		if (!maps->count)
			continue;
		m = &maps->list[arbitrary(x, maps->count)];

		start.regs.pc = m->start + arbitrary(x, m->end - m->start);
		start.max = 1 + (uint32_t)arbitrary(x, 4);
		compare(x, &start, false);
	}
}

/* The same sample with a shorter copy, with less room, or with another word on its stack. */
static void compare_altered(struct exactness *x, const struct set_sample *s)
{
	struct walk_start start = start_of(s);
	size_t words = (s->stack.size < NEAR ? s->stack.size : NEAR) / sizeof(uint64_t);
	uint64_t *stack = (uint64_t *)(uintptr_t)s->stack.data, *word, kept;

	if (!words)
		return;
	switch (arbitrary(x, 3)) {
	case 0:
		start.stack.size = arbitrary(x, s->stack.size);
		compare(x, &start, false);
		break;
	case 1:
		start.max = 1 + (uint32_t)arbitrary(x, 32);
		start.outer = (uint32_t)arbitrary(x, start.max);
		compare(x, &start, false);
		break;
	default:
		word = &stack[arbitrary(x, words)];
		kept = *word;
		*word = stack[arbitrary(x, words)];
		compare(x, &start, false);
		*word = kept;
	}
}

static size_t in_order(struct exactness *x, unsigned int round, size_t i)
{
	size_t count = x->set.count;

	switch (round % ORDERS) {
	case 0: /* as recorded */
		return i;
	case 1:
		return count - 1 - i;
	case 2:
		return arbitrary(x, count);
	default: /* each twice */
		return (round / ORDERS * (count / 2) + i / 2) % count;
	}
}

static void compare_all(struct exactness *x, uint64_t walks)
{
	for (unsigned int round = 0; round < ORDERS || x->recorded * (WALKERS - 1) < walks;
	     round++) {
		flood(x);
		for (size_t i = 0; i < x->set.count; i++) {
			const struct set_sample *s = &x->set.samples[in_order(x, round, i)];
			struct walk_start start = start_of(s);

			compare(x, &start, true);
			if (arbitrary(x, ALTER_EACH) == 0)
				compare_altered(x, s);
		}
	}
}

/* Sets of a walker's cache that have no room for another rule. */
static unsigned int full_sets(const struct walker *w)
{
	const struct cached_rules *sets = w->unwinder->cache;
	unsigned int full = 0;

	for (unsigned int i = 0; i < 1u << UNWINDER_CACHE_BITS; i++)
		full += sets[i].ways[CACHE_WAYS - 1].key != 0;
	return full;
}

static bool print_results(const struct exactness *x)
{
	uint64_t without = x->walkers[NEITHER].requests;
	bool good = !x->different && without && full_sets(&x->walkers[BOTH]);

	printf("%-10s %12s %12s %14s %10s\n", "remembers", "walks", "frames", "tables asked",
	       "full sets");
	for (unsigned int i = 0; i < WALKERS; i++) {
		const struct walker *w = &x->walkers[i];
		unsigned int full = full_sets(w);

		printf("%-10s %12ju %12ju %14ju %10u\n", names[i], (uintmax_t)x->recorded,
		       (uintmax_t)w->frames, (uintmax_t)w->requests, full);
		if (i == NEITHER ? full : w->requests > without / 4 * 3) {
			printf("%s: too %s was remembered\n", names[i], full ? "much" : "little");
			good = false;
		}
	}
	printf("%ju walks with a memory compared, and %ju of altered samples; %ju differ\n",
	       (uintmax_t)(x->recorded * (WALKERS - 1)), (uintmax_t)(x->others * (WALKERS - 1)),
	       (uintmax_t)x->different);
	return good;
}

static int run(struct exactness *x, const char *path, uint64_t walks)
{
	struct bobbin_error error = {0};
	int r = bobbin_unwinder_open(NULL, &x->loader);
	bool good;

	if (!r)
		r = sample_set_load(path, x->loader, &error, &x->set);
	if (r || !x->set.count) {
		fprintf(stderr, "cache-exactness: %s: %s\n", path,
			r ? strerror(-r) : "no samples with registers and a copy of the stack");
		return 2;
	}
	for (unsigned int i = 0; i < WALKERS; i++)
		walker_open(&x->walkers[i], (enum walker_kind)i, &x->set);
	compare_all(x, walks);
	good = print_results(x);
	for (unsigned int i = 0; i < WALKERS; i++)
		walker_close(&x->walkers[i], &x->set);
	return !good;
}

int main(int argc, char **argv)
{
	static struct exactness x = {.seed = 88172645463325252ull};
	uint64_t walks = 0;
	int option, r;

	while ((option = getopt(argc, argv, "n:")) != -1) {
		if (option == '?')
			return 2;
		walks = strtoull(optarg, NULL, 10);
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: cache-exactness [-n WALKS] FILE\n");
		return 2;
	}
	r = run(&x, argv[optind], walks);
	sample_set_fini(&x.set);
	bobbin_unwinder_close(x.loader);
	return r;
}
