/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_lookup_bench FILE... - bobbin's lookup and libsframe's, on the same sections.
 *
 * Each FILE holds the bytes of one V3 section.  The PCs are spread evenly over
 * the code that the section covers; their order is random, so that neither
 * caches nor branch predictors know the next one.  Both contestants answer all
 * of them first and must agree; then they take turns, and the medians count.
 * Each has prepared the section once: bobbin has built its index, libsframe has
 * decoded it, which is timed, too.
 *
 *	touched	functions (entries of the table, and one for the index) plus
 *		rows that one of bobbin's lookups reads, beside log2(functions)
 *		plus rows of the function
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bobbin/sframe.h>
#include <sframe-api.h>

#include "lookup_touches.h"

#define PCS 200000
#define ROUNDS 15
#define SEED 88172645463325252u

/* A PC and the function that holds it. */
struct query {
	uint64_t pc;
	uint32_t function;
};

struct section {
	const char *name;
	char *bytes;
	size_t size;
	struct bobbin_sframe_view view, indexed;
	uint32_t *buckets;
	sframe_decoder_ctx *peer;
	struct query *queries;
};

static void die(const char *name, const char *why)
{
	fprintf(stderr, "sframe_lookup_bench: %s: %s\n", name, why);
	exit(1);
}

static void *must_alloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		die("memory", "exhausted");
	return p;
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void read_file(struct section *s)
{
	FILE *file = fopen(s->name, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0)
		die(s->name, "cannot be read");
	s->size = (size_t)size;
	s->bytes = must_alloc(s->size);
	rewind(file);
	if (fread(s->bytes, 1, s->size, file) != s->size)
		die(s->name, "cannot be read");
	fclose(file);
}

static struct bobbin_sframe_fde function_of(const struct section *s, uint32_t i)
{
	struct bobbin_sframe_fde fde;

	if (bobbin_sframe_fde(&s->view, i, NULL, &fde))
		die(s->name, "has a malformed function");
	return fde;
}

/* The function that holds the byte number @at of all covered code. */
static uint32_t function_at(const uint64_t *ends, uint32_t count, uint64_t at)
{
	uint32_t low = 0;

	while (count) {
		uint32_t half = count / 2;

		if (ends[low + half] <= at) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

/* libsframe does not know functions without rows. */
static uint64_t *covered_code(const struct section *s)
{
	uint64_t *ends = must_alloc(s->view.num_fdes * sizeof(*ends)), sum = 0;

	for (uint32_t i = 0; i < s->view.num_fdes; i++) {
		struct bobbin_sframe_fde fde = function_of(s, i);

		sum += fde.num_fres ? fde.size : 0;
		ends[i] = sum;
	}
	if (!sum)
		die(s->name, "covers no code");
	return ends;
}

static void choose_pcs(struct section *s)
{
	uint64_t *ends = covered_code(s), state = SEED;
	uint32_t count = s->view.num_fdes;

	s->queries = must_alloc(PCS * sizeof(*s->queries));
	for (size_t i = 0; i < PCS; i++) {
		uint64_t at = random_number(&state) % ends[count - 1];
		uint32_t function = function_at(ends, count, at);
		uint64_t before = function ? ends[function - 1] : 0;

		s->queries[i] = (struct query){.pc = function_of(s, function).start + (at - before),
					       .function = function};
	}
	free(ends);
}

static void build_index(struct section *s)
{
	uint32_t count = bobbin_sframe_index_count(&s->view);

	s->buckets = must_alloc(count * sizeof(*s->buckets));
	s->indexed = s->view;
	if (bobbin_sframe_view_index(&s->indexed, s->buckets, count))
		die(s->name, "cannot be indexed");
}

static void open_section(struct section *s)
{
	int error;

	read_file(s);
	if (bobbin_sframe_view(s->bytes, s->size, 0, NULL, &s->view) || s->view.version != 3 ||
	    !s->view.sorted)
		die(s->name, "is no sorted section of version 3");
	build_index(s);
	s->peer = sframe_decode(s->bytes, s->size, &error);
	if (!s->peer)
		die(s->name, "is refused by libsframe");
	choose_pcs(s);
}

static void close_section(struct section *s)
{
	sframe_decoder_free(&s->peer);
	free(s->queries);
	free(s->buckets);
	free(s->bytes);
}

/* What libsframe says about offsets: 0 stands for "not given" in both. */
static bool same_offsets(const struct section *s, const struct bobbin_sframe_fde *fde,
			 const struct bobbin_row *row, const sframe_frame_row_entry *fre)
{
	int error = 0, ra_error = 0, fp_error = 0;
	int32_t cfa = sframe_fre_get_cfa_offset(s->peer, fre, fde->flex, &error);
	int32_t ra = sframe_fre_get_ra_offset(s->peer, fre, fde->flex, &ra_error);
	int32_t fp = sframe_fre_get_fp_offset(s->peer, fre, fde->flex, &fp_error);

	if (row->rule.ra.how == BOBBIN_HOW_UNDEFINED)
		return sframe_fre_get_ra_undefined_p(s->peer, fre, &error);
	if (error || cfa != row->rule.cfa.off)
		return false;
	/* libsframe mistakes the words of flexible rows that leave one out */
	if (fde->flex)
		return true;
	return (ra_error ? 0 : ra) == row->rule.ra.off && (fp_error ? 0 : fp) == row->rule.fp.off;
}

static void compare_answer(const struct section *s, const struct query *q)
{
	const struct bobbin_sframe_fde fde = function_of(s, q->function);
	uint32_t off = (uint32_t)(q->pc - fde.start);
	uint64_t block = fde.pcmask ? q->pc - off % fde.rep_size : fde.start;
	sframe_frame_row_entry fre;
	struct bobbin_row row;

	if (bobbin_sframe_lookup(&s->indexed, q->pc, NULL, &row) ||
	    sframe_find_fre(s->peer, (int64_t)q->pc, &fre))
		die(s->name, "a PC is not found");
	if (row.function != fde.start || row.start != block + fre.fre_start_addr)
		die(s->name, "different rows are found");
	if (!same_offsets(s, &fde, &row, &fre))
		die(s->name, "different rules are found");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double time_bobbin(const struct section *s, const struct bobbin_sframe_view *view)
{
	double start = now();
	uint64_t sum = 0;

	for (size_t i = 0; i < PCS; i++) {
		struct bobbin_row row;

		if (bobbin_sframe_lookup(view, s->queries[i].pc, NULL, &row))
			die(s->name, "a PC is not found");
		sum += (uint32_t)row.rule.cfa.off;
	}
	__asm__ volatile("" : : "r"(sum));
	return (now() - start) / PCS;
}

static double time_libsframe(const struct section *s)
{
	double start = now();
	uint64_t sum = 0;

	for (size_t i = 0; i < PCS; i++) {
		sframe_frame_row_entry fre;

		if (sframe_find_fre(s->peer, (int64_t)s->queries[i].pc, &fre))
			die(s->name, "a PC is not found");
		sum += fre.fre_start_addr;
	}
	__asm__ volatile("" : : "r"(sum));
	return (now() - start) / PCS;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare_doubles);
	return times[ROUNDS / 2];
}

static void print_times(const struct section *s)
{
	double plain[ROUNDS], indexed[ROUNDS], theirs[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		plain[i] = time_bobbin(s, &s->view);
		indexed[i] = time_bobbin(s, &s->indexed);
		theirs[i] = time_libsframe(s);
	}
	printf("  bobbin %.1f ns, libsframe %.1f ns: %.2f times faster; without an index %.1f ns\n",
	       median(indexed), median(theirs), median(theirs) / median(indexed), median(plain));
}

static double time_index(struct section *s)
{
	double start = now();

	free(s->buckets);
	build_index(s);
	return now() - start;
}

static double time_decode(struct section *s)
{
	double start = now();
	int error;

	sframe_decoder_free(&s->peer);
	s->peer = sframe_decode(s->bytes, s->size, &error);
	if (!s->peer)
		die(s->name, "is refused by libsframe");
	return now() - start;
}

static void print_preparation(struct section *s)
{
	double ours[ROUNDS], theirs[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		ours[i] = time_index(s);
		theirs[i] = time_decode(s);
	}
	printf("  once: index in %.1f us, %zu bytes; libsframe's decoding in %.1f us\n",
	       median(ours) / 1e3, bobbin_sframe_index_count(&s->view) * sizeof(*s->buckets),
	       median(theirs) / 1e3);
}

static void print_touches(const struct section *s)
{
	double log_functions = log2(s->view.num_fdes), bound_sum = 0, excess = -INFINITY;
	unsigned long long fdes = 0, rows = 0;
	unsigned int max_fdes = 0, max = 0;
	size_t above = 0;

	for (size_t i = 0; i < PCS; i++) {
		const struct query *q = &s->queries[i];
		struct lookup_touches touches = lookup_touches(&s->indexed, q->pc);
		double bound = log_functions + function_of(s, q->function).num_fres;
		unsigned int functions = touches.buckets + touches.fdes;
		unsigned int both = functions + touches.rows;

		fdes += functions;
		rows += touches.rows;
		bound_sum += bound;
		above += both > bound;
		excess = both - bound > excess ? both - bound : excess;
		max_fdes = functions > max_fdes ? functions : max_fdes;
		max = both > max ? both : max;
	}
	printf("  touched on average %.1f functions and %.1f rows, log2 + rows is %.1f\n",
	       (double)fdes / PCS, (double)rows / PCS, bound_sum / PCS);
	printf("  touched at most %u functions, %u in all; %.2f %% above log2 + rows, by at most "
	       "%.1f\n",
	       max_fdes, max, 100.0 * (double)above / PCS, excess > 0 ? excess : 0);
}

static void run(const char *name)
{
	struct section s = {.name = name};

	open_section(&s);
	printf("%s: %u functions, %u rows, %zu bytes\n", name, s.view.num_fdes, s.view.num_fres,
	       s.size);
	for (size_t i = 0; i < PCS; i++)
		compare_answer(&s, &s.queries[i]);
	print_preparation(&s);
	print_times(&s);
	print_touches(&s);
	close_section(&s);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		die("usage", "sframe_lookup_bench FILE...");
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
