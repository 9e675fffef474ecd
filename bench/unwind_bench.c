/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind_bench [-r RUNS] FILE - bobbin's unwinder and libdwfl on the same samples.
 *
 * Loads all samples of a recording (`perf record --call-graph dwarf`) and
 * unwinds them in one process: with bobbin, with libdwfl, and, a hundred of
 * each program, with a libdwfl that is set up anew for each sample, which is
 * how perf 6.1 uses it.  Prints nanoseconds for each frame and each sample.  The floor is
 * the same return addresses, loaded from slots that are known before.
 *
 *	first	the pass in which files are opened and tables are read
 *	PROGRAM	the samples' bytes have just been touched, as when a reader hands
 *		them on
 *	all	the same for all samples
 *	memory	all samples, whose bytes come from memory
 *
 * Times are sums over small batches of samples, of the median of RUNS passes
 * (default 9) for each batch: that hides what else the machine does.  What is
 * measured once only is CPU time.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dwfl_pool.h"
#include "program_table.h"
#include "sample_set.h"

#define MAX_RUNS 101

/* Few enough samples for the second-level cache. */
#define BATCH 8

/* Of each program, for the slow way. */
#define FRESH_SAMPLES 100

/* Samples [from, to) of one program. */
struct batch {
	size_t from, to;
	size_t frames;
	double ns;
};

struct bench {
	struct bobbin_unwinder *unwinder;
	struct sample_set set;
	struct dwfl_pool pool;
	struct program_table programs;
	unsigned int runs;
	struct batch *batches;
	size_t batch_count;
	double *times; /* by run and batch */
	struct dwfl_result dwfl;
	uint32_t *slots;    /* offsets of return addresses in the copies of stacks */
	size_t *slots_from; /* by sample, and the end */
	uint64_t addresses[BOBBIN_MAX_DEPTH];
};

struct sum {
	size_t samples, frames;
	double ns;
};

typedef size_t unwind_fn(struct bench *b, struct set_sample *s);

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "unwind_bench: %s\n", what);
	exit(2);
}

static size_t unwind_bobbin(struct bench *b, struct set_sample *s)
{
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &s->stack};

	bobbin_unwind(b->unwinder, b->set.layouts[s->layout].space, &s->regs, &mem, &trace);
	return trace.count;
}

static size_t load_slots(struct bench *b, struct set_sample *s)
{
	size_t from = b->slots_from[s - b->set.samples], to = b->slots_from[s - b->set.samples + 1];
	uint64_t word;

	for (size_t i = from; i < to; i++) {
		memcpy(&word, s->stack.data + b->slots[i], sizeof(word));
		b->addresses[i - from] = word;
	}
	return to - from;
}

static size_t unwind_dwfl(struct bench *b, struct set_sample *s)
{
	struct dwfl_walk *walk = dwfl_pool_get(&b->pool, &b->set.layouts[s->layout]);

	if (!walk)
		die("libdwfl cannot be set up");
	dwfl_walk_run(walk, &s->regs, &s->stack, false, &b->dwfl);
	return b->dwfl.count;
}

static size_t unwind_fresh_dwfl(struct bench *b, struct set_sample *s)
{
	struct dwfl_walk *walk;

	if (dwfl_walk_open(b->set.layouts[s->layout].space, &walk))
		die("libdwfl cannot be set up");
	dwfl_walk_run(walk, &s->regs, &s->stack, false, &b->dwfl);
	dwfl_walk_close(walk);
	return b->dwfl.count;
}

static void touch(const struct set_sample *s)
{
	volatile uint8_t sink;

	for (size_t i = 0; i < s->stack.size; i += 64)
		sink = s->stack.data[i];
	(void)sink;
}

/* Where the return addresses of a trace are, in order; what is not found is left out. */
static size_t find_slots(const struct set_sample *s, const struct bobbin_trace *trace,
			 uint32_t *slots)
{
	size_t count = 0, at = 0;
	uint64_t word;

	for (uint32_t i = 1; i < trace->count; i++) {
		size_t slot = at;

		for (; slot + sizeof(word) <= s->stack.size; slot += sizeof(word)) {
			memcpy(&word, s->stack.data + slot, sizeof(word));
			if (word == trace->frames[i].pc)
				break;
		}
		if (slot + sizeof(word) > s->stack.size)
			continue;
		slots[count++] = (uint32_t)slot;
		at = slot + sizeof(word);
	}
	return count;
}

static void find_all_slots(struct bench *b)
{
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	size_t count = 0, room = 0;

	b->slots_from = calloc(b->set.count + 1, sizeof(*b->slots_from));
	for (size_t i = 0; b->slots_from && i < b->set.count; i++) {
		struct set_sample *s = &b->set.samples[i];
		struct bobbin_trace trace = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
		struct bobbin_mem mem = {bobbin_stack_copy_read, &s->stack};

		if (room - count < BOBBIN_MAX_DEPTH) {
			room = 2 * room + BOBBIN_MAX_DEPTH;
			b->slots = realloc(b->slots, room * sizeof(*b->slots));
		}
		if (!b->slots)
			break;
		bobbin_unwind(b->unwinder, b->set.layouts[s->layout].space, &s->regs, &mem, &trace);
		count += find_slots(s, &trace, b->slots + count);
		b->slots_from[i + 1] = count;
	}
	if (!b->slots_from || !b->slots)
		die("out of memory");
}

static double time_batch(struct bench *b, struct batch *batch, clockid_t clock, bool cached,
			 unwind_fn *unwind)
{
	double start;

	for (size_t i = batch->from; cached && i < batch->to; i++)
		touch(&b->set.samples[i]);
	batch->frames = 0;
	start = now(clock);
	for (size_t i = batch->from; i < batch->to; i++)
		batch->frames += unwind(b, &b->set.samples[i]);
	return now(clock) - start;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void take_median(struct bench *b, size_t batch)
{
	double times[MAX_RUNS];

	for (unsigned int r = 0; r < b->runs; r++)
		times[r] = b->times[r * b->batch_count + batch];
	qsort(times, b->runs, sizeof(*times), by_time);
	b->batches[batch].ns = times[b->runs / 2];
}

static void run_pass(struct bench *b, bool cached, unwind_fn *unwind, double *times)
{
	for (size_t i = 0; i < b->batch_count; i++)
		times[i] = time_batch(b, &b->batches[i], CLOCK_MONOTONIC, cached, unwind);
}

static void run_passes(struct bench *b, bool cached, unwind_fn *unwind)
{
	for (unsigned int r = 0; r < b->runs; r++)
		run_pass(b, cached, unwind, b->times + r * b->batch_count);
	for (size_t i = 0; i < b->batch_count; i++)
		take_median(b, i);
}

static size_t program_of(const struct bench *b, const struct batch *batch)
{
	return b->set.samples[batch->from].program;
}

/* @sums: by program, the last one is of all */
static void add_up(const struct bench *b, struct sum sums[PROGRAMS_MAX + 1])
{
	memset(sums, 0, (PROGRAMS_MAX + 1) * sizeof(*sums));
	for (size_t i = 0; i < b->batch_count; i++) {
		const struct batch *batch = &b->batches[i];
		struct sum *into[] = {&sums[program_of(b, batch)], &sums[PROGRAMS_MAX]};

		for (unsigned int k = 0; k < 2; k++) {
			into[k]->samples += batch->to - batch->from;
			into[k]->frames += batch->frames;
			into[k]->ns += batch->ns;
		}
	}
}

/* The first samples of each program, each with a libdwfl of its own. */
static void run_fresh(struct bench *b, struct sum sums[PROGRAMS_MAX + 1])
{
	memset(sums, 0, (PROGRAMS_MAX + 1) * sizeof(*sums));
	for (size_t i = 0; i < b->batch_count; i++) {
		struct batch *batch = &b->batches[i];
		struct sum *sum = &sums[program_of(b, batch)];
		double ns;

		if (sum->samples >= FRESH_SAMPLES)
			continue;
		ns = time_batch(b, batch, CLOCK_PROCESS_CPUTIME_ID, true, unwind_fresh_dwfl);
		for (unsigned int k = 0; k < 2; k++, sum = &sums[PROGRAMS_MAX]) {
			sum->samples += batch->to - batch->from;
			sum->frames += batch->frames;
			sum->ns += ns;
		}
	}
}

static double per_frame(const struct sum *sum)
{
	return sum->frames ? sum->ns / (double)sum->frames : 0;
}

static double per_sample(const struct sum *sum)
{
	return sum->samples ? sum->ns / (double)sum->samples : 0;
}

static void print_heading(void)
{
	printf("%-16s %7s %8s | %15s | %14s | %15s %7s | %17s %7s\n", "", "", "", "bobbin", "floor",
	       "libdwfl", "", "libdwfl each time", "");
	printf("%-16s %7s %8s | %6s %8s | %6s %7s | %6s %8s %7s | %7s %9s %7s\n", "", "samples",
	       "frames", "frame", "sample", "frame", "ratio", "frame", "sample", "ratio", "frame",
	       "sample", "ratio");
}

static void print_row(const char *name, const struct sum *bobbin, const struct sum *floor,
		      const struct sum *dwfl, const struct sum *fresh)
{
	printf("%-16s %7zu %8zu | %6.1f %8.0f |", name, bobbin->samples, bobbin->frames,
	       per_frame(bobbin), per_sample(bobbin));
	if (floor)
		printf(" %6.1f %7.1f |", per_frame(floor), per_frame(bobbin) / per_frame(floor));
	else
		printf(" %6s %7s |", "", "");
	printf(" %6.0f %8.0f %7.1f |", per_frame(dwfl), per_sample(dwfl),
	       per_frame(dwfl) / per_frame(bobbin));
	if (fresh)
		printf(" %7.0f %9.0f %7.0f", per_frame(fresh), per_sample(fresh),
		       per_frame(fresh) / per_frame(bobbin));
	putchar('\n');
}

static void run_first(struct bench *b, unwind_fn *unwind, struct sum sums[PROGRAMS_MAX + 1])
{
	for (size_t i = 0; i < b->batch_count; i++)
		b->batches[i].ns = time_batch(b, &b->batches[i], CLOCK_PROCESS_CPUTIME_ID, true,
					      unwind);
	add_up(b, sums);
}

/* All samples, by bobbin, by what it loads, and by libdwfl. */
static void run_three(struct bench *b, bool cached, struct sum bobbin[PROGRAMS_MAX + 1],
		      struct sum floor[PROGRAMS_MAX + 1], struct sum dwfl[PROGRAMS_MAX + 1])
{
	run_passes(b, cached, unwind_bobbin);
	add_up(b, bobbin);
	run_passes(b, cached, load_slots);
	add_up(b, floor);
	run_passes(b, cached, unwind_dwfl);
	add_up(b, dwfl);
}

static void run(struct bench *b)
{
	struct sum bobbin[PROGRAMS_MAX + 1], floor[PROGRAMS_MAX + 1], dwfl[PROGRAMS_MAX + 1],
		fresh[PROGRAMS_MAX + 1];
	const size_t all = PROGRAMS_MAX;

	print_heading();
	run_first(b, unwind_bobbin, bobbin);
	run_first(b, unwind_dwfl, dwfl);
	print_row("first", &bobbin[all], NULL, &dwfl[all], NULL);

	find_all_slots(b);
	run_three(b, true, bobbin, floor, dwfl);
	run_fresh(b, fresh);
	for (size_t i = 0; i < b->programs.count; i++)
		print_row(b->programs.names[i], &bobbin[i], &floor[i], &dwfl[i], &fresh[i]);
	print_row("all", &bobbin[all], &floor[all], &dwfl[all], &fresh[all]);

	run_three(b, false, bobbin, floor, dwfl);
	print_row("memory", &bobbin[all], &floor[all], &dwfl[all], NULL);
}

static int by_program(const void *a, const void *b)
{
	const struct set_sample *x = a, *y = b;

	if (x->program != y->program)
		return x->program < y->program ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void group_by_program(struct bench *b)
{
	struct set_sample *samples = b->set.samples;

	for (size_t i = 0; i < b->set.count; i++) {
		samples[i].number = i;
		samples[i].program = program_index(&b->programs, samples[i].comm);
	}
	qsort(samples, b->set.count, sizeof(*samples), by_program);
	for (size_t i = 0; i < b->set.count; i++)
		samples[i].regs.gpr = samples[i].gpr;
}

static void make_batches(struct bench *b)
{
	const struct set_sample *samples = b->set.samples;

	b->batches = calloc(b->set.count, sizeof(*b->batches));
	for (size_t i = 0; b->batches && i < b->set.count; i++) {
		struct batch *last = &b->batches[b->batch_count - 1];

		if (!b->batch_count || last->to - last->from == BATCH ||
		    samples[last->from].program != samples[i].program)
			b->batches[b->batch_count++] = (struct batch){.from = i, .to = i + 1};
		else
			last->to++;
	}
	b->times = calloc(b->batch_count * b->runs, sizeof(*b->times));
	if (!b->batches || !b->times)
		die("out of memory");
}

static void load(struct bench *b, const char *path)
{
	struct bobbin_error error = {0};
	int r = bobbin_unwinder_open(NULL, &b->unwinder);

	if (!r)
		r = sample_set_load(path, b->unwinder, &error, &b->set);
	if (r)
		die(error.reason ? bobbin_reason_str(error.reason) : strerror(-r));
	if (!b->set.count)
		die("no samples with registers and a copy of the stack");
	group_by_program(b);
	make_batches(b);
}

int main(int argc, char **argv)
{
	static struct bench b = {.runs = 9};
	int option;

	while ((option = getopt(argc, argv, "r:")) != -1) {
		if (option == '?')
			return 2;
		b.runs = (unsigned int)strtoul(optarg, NULL, 10);
	}
	if (optind + 1 != argc || !b.runs || b.runs > MAX_RUNS) {
		fprintf(stderr, "usage: unwind_bench [-r RUNS] FILE\n");
		return 2;
	}
	load(&b, argv[optind]);
	run(&b);
	free(b.slots);
	free(b.slots_from);
	free(b.times);
	free(b.batches);
	dwfl_pool_fini(&b.pool);
	sample_set_fini(&b.set);
	bobbin_unwinder_close(b.unwinder);
	return 0;
}
