/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * storm.h - the parts of code_storm.
 */
#ifndef TEST_STORM_H
#define TEST_STORM_H

#include <bobbin/backtrace.h>
#include <signal.h>
#include <stdatomic.h>

/* A thread that does something again and again. */
struct actor {
	unsigned int number;
	uint64_t seed;
	void (*play)(struct actor *actor);
	struct place *places; /* a maker's */
};

struct counters {
	atomic_ulong traces, wrong, failed;
	atomic_ulong compared; /* walks that remember, with walks that do not */
	atomic_ulong behind; /* incomplete, in a thread that loads faster than anybody can follow */
	atomic_ulong made, opened, children;
	atomic_ulong reasons[BOBBIN_REASON_COUNT];
};

extern struct counters storm_counters;
extern atomic_bool storm_over;
extern _Thread_local struct actor *storm_self;

uint64_t arbitrary(struct actor *actor, uint64_t below);

/* Report the failure of something that must not fail. */
void storm_failed(const char *what, int error);

/*
 * Permitted calls.  The caller of known code must lie in one of two ranges; other code belongs
 * to the C library or the test, and anything may call it.
 */
#define CALLERS 2

struct known_code {
	uint64_t start, end;
	uint64_t caller[CALLERS][2]; /* start, end; zero: unused */
};

void chain_init(const void *actor_main);

/* Not thread-safe: before the storm. */
struct known_code *chain_add(uint64_t start, uint64_t end);
void chain_add_caller(struct known_code *code, uint64_t start, uint64_t end);

/* A function of ours, by its symbol. */
struct known_code *chain_add_function(const void *function);
void chain_function_range(const void *function, uint64_t *start, uint64_t *end);

/* Async-signal-safe. */
void storm_check(const struct bobbin_trace *trace, const char *where);

/* Compare walks from @regs with and without caches.  Async-signal-safe. */
void storm_compare(const struct bobbin_regs *regs);

/* A walk from inside what an actor calls; @innermost: code that must be in the trace. */
void storm_walk(uint64_t innermost_start, uint64_t innermost_end, bool synchronous);

void maker_init(void);
void maker_round(struct actor *actor);
void loader_init(const char *library, const char *other);
void loader_round(struct actor *actor);
void forker_round(struct actor *actor);
void churn_init(void);
void churn_round(void);

/* Exported, so that their symbols tell where they are. */
struct place;
void *actor_main(void *arg);
void call_place(const struct place *place, void (*callback)(void));
void walk_from_place(void);
void walk_from_plugin(void);

/* In a forked child: make, call, walk, once.  Whether all was right. */
bool maker_in_child(struct actor *actor);

#endif
