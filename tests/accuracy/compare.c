/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare [-m SAMPLES] [-d] [-v] FILE - do bobbin and libdwfl find the same PCs?
 *
 *	-m SAMPLES	of each of the six programs there must be so many
 *	-v		print both call chains of each sample that differs
 *	-d		print what size of dump complete traces need, and stop
 *
 * Unwinds each sample of a recording (`perf record --call-graph dwarf`) twice
 * and compares frame by frame.  docs/accuracy.md tells what the classes mean.
 * Exit status 1 if a program agrees in less than 99.9 % of its samples, where libdwfl may
 * stop early in one, or loses a register, or libdwfl has no table, in more than 1 % and one of them.
 */
#include <elfutils/libdwfl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump_depth.h"
#include "dwfl_pool.h"
#include "program_table.h"
#include "sample_set.h"

#define REQUIRED_SHARE 0.999
#define LOST_SHARE 0.01

static const char *const required_programs[] = {"cc1", "perl", "python3", "sqlite3", "xz", "node"};
#define REQUIRED (sizeof(required_programs) / sizeof(required_programs[0]))

enum verdict {
	COMPLETE,     /* equal, up to the outermost frame */
	DUMP_END,     /* equal, up to the end of the stack dump */
	BELOW_DUMP,   /* equal, the next frame is below the stack pointer */
	BOTH_STOP,    /* equal, neither finds the next frame */
	LIKELY,       /* equal or not: bobbin says that it guesses */
	DWFL_SKIPS,   /* equal, but libdwfl lacks a caller where there is no table: it guesses */
	DWFL_BLIND,   /* equal, but libdwfl stops at code that has no table */
	POPPED,       /* equal, if libdwfl is told what an epilogue popped */
	LOST,         /* equal, but bobbin does not follow a register that a rule needs */
	DWFL_SHORT,   /* equal, but libdwfl stops */
	BOBBIN_SHORT, /* equal, but bobbin stops */
	DIFFERENT,
	VERDICTS
};

static const char *const verdict_names[VERDICTS] = {
	"complete",   "dump end", "below dump", "both stop",  "likely",       "dwfl skips",
	"dwfl blind", "popped",   "lost",       "dwfl short", "bobbin short", "different",
};

/* What samples of one program and verdict have in common. */
struct cause {
	size_t program, count;
	enum verdict verdict;
	uint8_t source, reason;
	bool lacks_memory;
	int error;
	char file[64];
	uint64_t offset; /* of one of them */
	struct cause *next;
};

struct comparison {
	bool verbose;
	struct bobbin_unwinder *unwinder;
	struct sample_set set;
	struct dwfl_pool pool;
	struct program_table programs;
	size_t counts[PROGRAMS_MAX][VERDICTS];
	size_t frames[PROGRAMS_MAX];
	size_t sources[BOBBIN_SOURCE_COUNT]; /* frames by the source of their rule */
	size_t activations;                  /* equal PCs that are exact for one of them only */
	size_t without_files;                /* samples of processes of which libdwfl has no file */
	int no_files;                        /* its error */
	struct cause *causes;
	struct dwfl_result dwfl;
	struct bobbin_frame frames_of_bobbin[BOBBIN_MAX_DEPTH];
};

static uint32_t common_frames(struct comparison *c, const struct bobbin_trace *trace)
{
	const struct dwfl_result *dwfl = &c->dwfl;
	uint32_t i;

	for (i = 0; i < trace->count && i < dwfl->count; i++) {
		if (trace->frames[i].pc != dwfl->frames[i].pc)
			break;
		c->activations += trace->frames[i].exact != dwfl->frames[i].exact;
	}
	return i;
}

/*
 * Where there is no table libdwfl takes what the frame pointer names for the caller, also in
 * prologues and epilogues, in which that is the caller's caller.  Of equal PCs in a row any
 * may be the one that it lacks.
 */
static bool dwfl_skips(const struct bobbin_trace *trace, const struct dwfl_result *dwfl,
		       uint32_t common)
{
	uint32_t skipped = common;

	if (trace->count != dwfl->count + 1 || !common)
		return false;
	for (uint32_t i = common; i < dwfl->count; i++)
		if (trace->frames[i + 1].pc != dwfl->frames[i].pc)
			return false;
	while (skipped > 1 && trace->frames[skipped - 1].pc == trace->frames[common].pc)
		skipped--;
	return trace->frames[skipped - 1].source == BOBBIN_SOURCE_PATH;
}

/* The frame pointer, which it tries there, names nothing that can be read. */
static bool dwfl_is_blind(const struct bobbin_trace *trace, const struct dwfl_result *dwfl,
			  uint32_t common)
{
	return common && common == dwfl->count && common < trace->count && dwfl->lacks_memory &&
	       trace->frames[common - 1].source == BOBBIN_SOURCE_PATH;
}

static enum verdict judge(const struct bobbin_trace *trace, const struct dwfl_result *dwfl,
			  uint32_t common)
{
	/* once it has met memory that it cannot read, libdwfl may guess */
	if (common == trace->count && dwfl->lacks_memory && dwfl->readable <= common) {
		if (trace->reason == BOBBIN_REASON_STACK_END)
			return DUMP_END;
		if (trace->reason == BOBBIN_REASON_NO_MEMORY)
			return BELOW_DUMP;
	}
	/* libdwfl guesses as well, by the frame pointer, and does not say so */
	if (trace->reason == BOBBIN_REASON_LIKELY)
		return LIKELY;
	if (dwfl_skips(trace, dwfl, common))
		return DWFL_SKIPS;
	if (dwfl_is_blind(trace, dwfl, common))
		return DWFL_BLIND;
	if (common < trace->count)
		return common < dwfl->count ? DIFFERENT : DWFL_SHORT;
	if (common < dwfl->count)
		return trace->reason == BOBBIN_REASON_NO_REGISTER ? LOST : BOBBIN_SHORT;
	return trace->reason == BOBBIN_REASON_OUTERMOST ? COMPLETE : BOTH_STOP;
}

static struct cause *find_cause(struct comparison *c, const struct cause *like)
{
	struct cause *known = c->causes;

	while (known && (known->program != like->program || known->verdict != like->verdict ||
			 known->source != like->source || known->reason != like->reason ||
			 known->lacks_memory != like->lacks_memory || known->error != like->error ||
			 strcmp(known->file, like->file)))
		known = known->next;
	if (known)
		return known;
	known = malloc(sizeof(*known));
	if (!known)
		abort();
	*known = *like;
	known->next = c->causes;
	c->causes = known;
	return known;
}

/* @frame: the last that is equal; the verdict is about its caller. */
static void add_cause(struct comparison *c, const struct set_sample *s, struct cause *cause,
		      const struct bobbin_frame *frame)
{
	struct bobbin_place_info place;

	cause->source = frame->source;
	cause->lacks_memory = c->dwfl.lacks_memory;
	cause->error = c->dwfl.error;
	cause->offset = frame->pc;
	snprintf(cause->file, sizeof(cause->file), "(unmapped)");
	if (!bobbin_space_find(c->set.layouts[s->layout].space, frame->pc, &place)) {
		const char *path = place.mapping.path, *slash = strrchr(path, '/');

		snprintf(cause->file, sizeof(cause->file), "%s", slash ? slash + 1 : path);
		cause->offset = place.file_offset;
	}
	find_cause(c, cause)->count++;
}

static void print_frame(const struct comparison *c, const struct set_sample *s,
			const struct bobbin_frame *frame, const char *note)
{
	struct bobbin_place_info place;

	if (bobbin_space_find(c->set.layouts[s->layout].space, frame->pc, &place))
		printf("  %16jx %-18s\n", (uintmax_t)frame->pc, note);
	else
		printf("  %16jx %-18s %s+0x%jx\n", (uintmax_t)frame->pc, note, place.mapping.path,
		       (uintmax_t)place.file_offset);
}

/* From the last frame that is equal on. */
static void print_chains(const struct comparison *c, const struct set_sample *s,
			 const struct bobbin_trace *trace, uint32_t common)
{
	uint32_t i;

	printf("%s: sp %jx fp %jx, %zu bytes of stack, bobbin ends: %s; %u common, then bobbin:\n",
	       s->comm, (uintmax_t)s->regs.sp, (uintmax_t)s->regs.fp, s->stack.size,
	       bobbin_reason_name(trace->reason), common);
	for (i = common ? common - 1 : 0; i < trace->count; i++)
		print_frame(c, s, &trace->frames[i], bobbin_source_str(trace->frames[i].source));
	printf(" libdwfl: %s", c->dwfl.error ? dwfl_errmsg(c->dwfl.error) : "no error");
	if (c->dwfl.lacks_memory)
		printf(", lacks memory at %jx after %u frames", (uintmax_t)c->dwfl.missed,
		       c->dwfl.readable);
	putchar('\n');
	for (i = common ? common - 1 : 0; i < c->dwfl.count; i++)
		print_frame(c, s, &c->dwfl.frames[i], "");
}

static enum verdict judge_again(struct comparison *c, struct dwfl_walk *walk,
				const struct set_sample *s, const struct bobbin_trace *trace)
{
	enum verdict verdict;

	dwfl_walk_run(walk, &s->regs, &s->stack, true, &c->dwfl);
	verdict = judge(trace, &c->dwfl, common_frames(c, trace));
	return verdict <= BOTH_STOP ? POPPED : verdict;
}

static void compare_sample(struct comparison *c, struct set_sample *s)
{
	struct bobbin_trace trace = {.frames = c->frames_of_bobbin, .max = BOBBIN_MAX_DEPTH};
	const struct sample_layout *layout = &c->set.layouts[s->layout];
	struct bobbin_mem mem = {bobbin_stack_copy_read, &s->stack};
	struct dwfl_walk *walk = dwfl_pool_get(&c->pool, layout);
	struct cause cause = {.program = program_index(&c->programs, s->comm)};
	uint32_t common;

	/* as of one that begins or ends: nothing is mapped there yet, or any more */
	if (!walk) {
		c->without_files++;
		c->no_files = dwfl_errno();
		return;
	}
	bobbin_unwind(c->unwinder, layout->space, &s->regs, &mem, &trace);
	dwfl_walk_run(walk, &s->regs, &s->stack, false, &c->dwfl);

	common = common_frames(c, &trace);
	cause.verdict = judge(&trace, &c->dwfl, common);
	if (cause.verdict == DWFL_SHORT && c->dwfl.lacks_memory && c->dwfl.missed < s->regs.sp)
		cause.verdict = judge_again(c, walk, s, &trace);
	cause.reason = (uint8_t)trace.reason;
	c->counts[cause.program][cause.verdict]++;
	c->frames[cause.program] += trace.count;
	for (uint32_t i = 0; i < trace.count; i++)
		c->sources[trace.frames[i].source]++;
	if (c->verbose && cause.verdict != COMPLETE)
		print_chains(c, s, &trace, common);
	if (cause.verdict != COMPLETE && common)
		add_cause(c, s, &cause, &trace.frames[common - 1]);
}

static size_t total(const size_t counts[VERDICTS])
{
	size_t sum = 0;

	for (size_t v = 0; v < VERDICTS; v++)
		sum += counts[v];
	return sum;
}

static double agreement(const size_t counts[VERDICTS])
{
	size_t agree = total(counts) - counts[DWFL_SHORT] - counts[BOBBIN_SHORT] -
		       counts[DIFFERENT];

	return (double)agree / (double)total(counts);
}

/*
 * Only bobbin unwinds clone3() after its system call; one of few samples is too large a share.
 */
static bool agrees(const size_t counts[VERDICTS])
{
	size_t allowed = (size_t)((1 - REQUIRED_SHARE) * (double)total(counts));
	size_t disagree = counts[BOBBIN_SHORT] + counts[DIFFERENT];

	return disagree <= allowed &&
	       (counts[DWFL_SHORT] <= 1 || disagree + counts[DWFL_SHORT] <= allowed);
}

static bool is_often(const size_t counts[VERDICTS], enum verdict verdict)
{
	return (double)counts[verdict] > 1 + LOST_SHARE * (double)total(counts);
}

static void print_row(const char *name, const size_t counts[VERDICTS], size_t frames)
{
	printf("%-16s %7zu %7.1f", name, total(counts), (double)frames / (double)total(counts));
	for (size_t v = 0; v < VERDICTS; v++)
		printf(" %12zu", counts[v]);
	printf(" %8.3f%%\n", 100 * agreement(counts));
}

static void print_table(const struct comparison *c)
{
	size_t all[VERDICTS] = {0}, frames = 0;

	printf("%-16s %7s %7s", "program", "samples", "frames");
	for (size_t v = 0; v < VERDICTS; v++)
		printf(" %12s", verdict_names[v]);
	printf(" %9s\n", "agree");
	for (size_t i = 0; i < c->programs.count; i++) {
		print_row(c->programs.names[i], c->counts[i], c->frames[i]);
		frames += c->frames[i];
		for (size_t v = 0; v < VERDICTS; v++)
			all[v] += c->counts[i][v];
	}
	print_row("all", all, frames);
	for (size_t i = 0; i < BOBBIN_SOURCE_COUNT; i++)
		if (c->sources[i])
			printf("%zu frames by %s\n", c->sources[i],
			       bobbin_source_str((unsigned int)i));
	printf("%zu frames are exact to one and a return address to the other\n", c->activations);
	if (c->without_files)
		printf("%zu samples without libdwfl: %s\n", c->without_files,
		       dwfl_errmsg(c->no_files));
	if (c->set.without_user)
		printf("%zu samples have no user registers\n", c->set.without_user);
}

static int by_count(const void *a, const void *b)
{
	const struct cause *x = *(struct cause *const *)a, *y = *(struct cause *const *)b;

	if (x->verdict != y->verdict)
		return (int)y->verdict - (int)x->verdict;
	return x->count < y->count ? 1 : -(x->count > y->count);
}

static void print_cause(const struct comparison *c, const struct cause *cause)
{
	printf("%-12s %6zu  %-10s %s+0x%jx  bobbin: by %s, %s  libdwfl: %s%s\n",
	       verdict_names[cause->verdict], cause->count, c->programs.names[cause->program],
	       cause->file, (uintmax_t)cause->offset, bobbin_source_str(cause->source),
	       bobbin_reason_name((enum bobbin_reason)cause->reason),
	       cause->error ? dwfl_errmsg(cause->error) : "no error",
	       cause->lacks_memory ? ", lacks memory" : "");
}

static void print_causes(const struct comparison *c)
{
	const struct cause **sorted;
	size_t count = 0, i = 0;

	for (const struct cause *p = c->causes; p; p = p->next)
		count++;
	sorted = calloc(count + 1, sizeof(const struct cause *));
	if (!sorted)
		abort();
	for (const struct cause *p = c->causes; p; p = p->next)
		sorted[i++] = p;
	qsort(sorted, count, sizeof(const struct cause *), by_count);
	if (count)
		puts("\nverdict       count  program    at (one of them)");
	for (i = 0; i < count; i++)
		print_cause(c, sorted[i]);
	free(sorted);
}

static bool is_good(struct comparison *c, size_t min_samples)
{
	bool good = (double)c->without_files <= LOST_SHARE * (double)c->set.count;

	if (!good)
		printf("too many samples without libdwfl\n");
	for (size_t i = 0; i < REQUIRED; i++) {
		size_t n = program_index(&c->programs, required_programs[i]);

		if (total(c->counts[n]) < min_samples || !total(c->counts[n])) {
			printf("too few samples of %s: %zu\n", required_programs[i],
			       total(c->counts[n]));
			good = false;
		}
	}
	for (size_t i = 0; i < c->programs.count; i++) {
		if (!agrees(c->counts[i])) {
			printf("%s: less than %.1f %%\n", c->programs.names[i],
			       100 * REQUIRED_SHARE);
			good = false;
		}
		if (is_often(c->counts[i], LOST)) {
			printf("%s: registers are lost in %zu samples\n", c->programs.names[i],
			       c->counts[i][LOST]);
			good = false;
		}
		if (is_often(c->counts[i], DWFL_BLIND)) {
			printf("%s: libdwfl has no table in %zu samples\n", c->programs.names[i],
			       c->counts[i][DWFL_BLIND]);
			good = false;
		}
	}
	return good;
}

static void free_causes(struct cause *cause)
{
	while (cause) {
		struct cause *next = cause->next;

		free(cause);
		cause = next;
	}
}

static int run(struct comparison *c, const char *path, size_t min_samples, bool depth)
{
	struct bobbin_error error = {0};
	int r;

	r = bobbin_unwinder_open(NULL, &c->unwinder);
	if (!r)
		r = sample_set_load(path, c->unwinder, &error, &c->set);
	if (r) {
		fprintf(stderr, "compare: %s: %s, %s\n", path, strerror(-r),
			bobbin_reason_str(error.reason));
		return 2;
	}
	if (depth) {
		dump_depth_print(c->unwinder, &c->set);
		return 0;
	}
	for (size_t i = 0; i < c->set.count; i++)
		compare_sample(c, &c->set.samples[i]);
	print_table(c);
	print_causes(c);
	return !is_good(c, min_samples);
}

int main(int argc, char **argv)
{
	static struct comparison c;
	size_t min_samples = 1;
	bool depth = false;
	int option, r;

	while ((option = getopt(argc, argv, "dm:v")) != -1) {
		if (option == '?')
			return 2;
		if (option == 'd')
			depth = true;
		else if (option == 'v')
			c.verbose = true;
		else
			min_samples = strtoul(optarg, NULL, 10);
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: compare [-m SAMPLES] [-d] [-v] FILE\n");
		return 2;
	}
	r = run(&c, argv[optind], min_samples, depth);
	free_causes(c.causes);
	dwfl_pool_fini(&c.pool);
	sample_set_fini(&c.set);
	bobbin_unwinder_close(c.unwinder);
	return r;
}
