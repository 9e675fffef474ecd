/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inner_judge [-v] [-n FACTOR] AGENT < LIST - is the own stack walked right, at any instruction?
 *
 * LIST has a line for each program: NAME STOPS LEAST PROGRAM [ARGUMENT...]
 *
 * Each program has the library AGENT preloaded, and is run instruction by instruction, beside a shadow
 * stack, until it ends or was judged STOPS times FACTOR times.  What is executed again is judged some
 * times, then now and then.  At such a stop the agent walks the stack inside of the program, by the walker
 * of libbobbin-backtrace, as from a signal handler.
 *
 * Each caller has to be that of the shadow stack, up to where a trace says that it guesses, or ends.  A
 * trace that is called complete has all callers.  LEAST is the least share of those, in percent.
 *
 * -v prints each wrong trace, once for its PC, with what is right on its left, and where traces end.
 * Exit status 1: one is wrong, or too few are complete.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bobbin/reason.h>

#include "agent_walk.h"
#include "base/proc_maps.h"
#include "stepped_program.h"

/* Of a PC that was judged so often, times FACTOR, one stop of so many is judged. */
#define OFTEN 3
#define SPARSE 61
/* A program that takes so many instructions for each that is judged is not looked at any more. */
#define MOST_STEPS 256
#define SHOWN 32
#define MISSES 256
#define SEEN_BITS 20

enum verdict {
	TRACE_WRONG,
	TRACE_COMPLETE,
	TRACE_GUESSED,
	TRACE_ENDED,
	VERDICTS
};

/* Where traces of a program guess, or end before the root. */
struct miss {
	enum bobbin_reason reason;
	uint64_t pc, count;
	char place[256];
};

struct judge {
	bool verbose, failed;
	uint64_t factor, stops, most, all_stops;
	unsigned int often;
	struct stepped_program program;
	char *environment[2];
	struct stepped_process process;
	struct agent_walk walk;
	uint64_t tally[VERDICTS], all[VERDICTS], by_reason[BOBBIN_REASON_COUNT];
	uint8_t seen[1u << SEEN_BITS];
	uint64_t shown[SHOWN];
	unsigned int shown_count, miss_count;
	struct miss misses[MISSES];
};

/* A return address that is in a register now, where the thread's first call was taken off the stack. */
static bool has_popped(const struct judge *j)
{
	return j->process.shadow.popped.pc && !j->process.shadow.popped.discarded;
}

/* The PC of a frame as it has to be, leaf first; @popped: the first caller is in a register. */
static uint64_t right_pc(const struct judge *j, uint32_t frame, bool popped)
{
	const struct shadow_stack *shadow = &j->process.shadow;

	if (!frame)
		return j->process.regs.rip;
	if (frame == 1 && popped)
		return shadow->popped.pc;
	return shadow->calls[shadow->count - frame + popped].pc;
}

static bool may_be_left_out(const struct judge *j, uint32_t frame, bool popped)
{
	const struct shadow_stack *shadow = &j->process.shadow;

	return frame > popped && shadow->calls[shadow->count - frame + popped].discarded;
}

/* Whether the first @count frames of the trace are right, and, if it has to be @whole, all there are. */
static bool is_right(const struct judge *j, uint32_t count, bool whole, bool popped)
{
	const uint32_t right = j->process.shadow.count + 1 + popped;
	const struct bobbin_frame *frames = j->walk.frames;
	uint32_t i = 0, frame = 0;

	for (; frame < right && (whole || i < count); frame++) {
		if (i < count && frames[i].pc == right_pc(j, frame, popped))
			i++;
		else if (!may_be_left_out(j, frame, popped))
			return false;
	}
	return i == count;
}

/* Frames whose PC is not guessed. */
static uint32_t known_frames(const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		if (trace->frames[i].source == BOBBIN_SOURCE_GUESS)
			return i + 1;
	return trace->count;
}

static enum verdict verdict_of(const struct judge *j)
{
	const struct bobbin_trace *trace = &j->walk.trace;
	const uint32_t known = known_frames(trace);
	const bool complete = trace->reason == BOBBIN_REASON_OUTERMOST;

	if (!is_right(j, known, complete, false) &&
	    !(has_popped(j) && is_right(j, known, complete, true)))
		return TRACE_WRONG;
	if (complete)
		return TRACE_COMPLETE;
	return known < trace->count || trace->reason == BOBBIN_REASON_LIKELY ? TRACE_GUESSED
									     : TRACE_ENDED;
}

/* An address in words, once its mapping is found. */
struct place {
	uint64_t pc;
	char *text;
	size_t size;
};

static int describe_mapping(void *ctx, const struct proc_map *map)
{
	const struct place *place = ctx;

	if (place->pc < map->start || place->pc >= map->end)
		return 0;
	snprintf(place->text, place->size, "%.200s+%#" PRIx64, map->path,
		 place->pc - map->start + map->offset);
	return 1;
}

/* The mapping of an address, and its offset in the file. */
static void describe_place(const struct judge *j, uint64_t pc, char *ret, size_t size)
{
	const struct remote_process process = {NULL, j->process.pid};
	struct place place = {pc, ret, size};

	snprintf(ret, size, "%#" PRIx64, pc);
	proc_maps_read(&process, describe_mapping, &place);
}

static void print_wrong(struct judge *j)
{
	const struct bobbin_trace *trace = &j->walk.trace;
	const uint32_t right = j->process.shadow.count + 1;
	char place[256];

	for (unsigned int i = 0; i < j->shown_count; i++)
		if (j->shown[i] == j->process.regs.rip)
			return;
	if (j->shown_count == SHOWN)
		return;
	j->shown[j->shown_count++] = j->process.regs.rip;
	printf("wrong: %s, stop %" PRIu64 ", sp %#llx, fp %#llx: %s\n", j->program.name, j->stops,
	       j->process.regs.rsp, j->process.regs.rbp, bobbin_reason_str(trace->reason));
	for (uint32_t i = 0; i < right || i < trace->count; i++) {
		const uint64_t pc = i < right ? right_pc(j, i, false) : trace->frames[i].pc;

		describe_place(j, pc, place, sizeof(place));
		printf("  %14" PRIx64 "  %14" PRIx64 "  %-20s %s\n", i < right ? pc : 0,
		       i < trace->count ? trace->frames[i].pc : 0,
		       i < trace->count ? bobbin_source_str(trace->frames[i].source) : "", place);
	}
}

static void note_miss(struct judge *j)
{
	const struct bobbin_trace *trace = &j->walk.trace;
	const uint32_t known = known_frames(trace);
	const uint64_t pc = known ? trace->frames[known - 1].pc : 0;
	struct miss *m;

	j->by_reason[trace->reason]++;
	for (unsigned int i = 0; i < j->miss_count; i++) {
		if (j->misses[i].pc == pc && j->misses[i].reason == trace->reason) {
			j->misses[i].count++;
			return;
		}
	}
	if (j->miss_count == MISSES)
		return;
	m = &j->misses[j->miss_count++];
	*m = (struct miss){.reason = trace->reason, .pc = pc, .count = 1};
	describe_place(j, pc, m->place, sizeof(m->place));
}

static bool judge_stop(struct judge *j)
{
	enum verdict verdict;

	if (!agent_walk_run(&j->process, &j->walk)) {
		printf("%s: the walk does not end, at %#llx\n", j->program.name,
		       j->process.regs.rip);
		return false;
	}
	verdict = verdict_of(j);
	j->tally[verdict]++;
	j->stops++;
	if (verdict == TRACE_WRONG && j->verbose)
		print_wrong(j);
	if (verdict == TRACE_ENDED || verdict == TRACE_GUESSED)
		note_miss(j);
	return true;
}

/* Whether the stop is judged. */
static bool is_chosen(struct judge *j, uint64_t step)
{
	uint8_t *seen = &j->seen[j->process.regs.rip * 0x9e3779b97f4a7c15ull >> (64 - SEEN_BITS)];

	if (*seen == j->often)
		return step % SPARSE == 0;
	++*seen;
	return true;
}

static bool judge_steps(struct judge *j)
{
	for (uint64_t step = 0; j->stops < j->most && step < j->most * MOST_STEPS; step++) {
		if (is_chosen(j, step) && !judge_stop(j))
			return false;
		if (!stepped_process_step(&j->process))
			break;
	}
	if (j->process.not_understood)
		printf("%s: %s at %#llx\n", j->program.name, j->process.not_understood,
		       j->process.regs.rip);
	return !j->process.not_understood;
}

static void print_tally(const char *name, uint64_t stops, const uint64_t tally[VERDICTS])
{
	printf("%-24s %9" PRIu64 " | %7.3f %7.3f %7.3f %6" PRIu64 "\n", name, stops,
	       100.0 * tally[TRACE_COMPLETE] / stops, 100.0 * tally[TRACE_GUESSED] / stops,
	       100.0 * tally[TRACE_ENDED] / stops, tally[TRACE_WRONG]);
	fflush(stdout);
}

static void print_misses(const struct judge *j)
{
	for (unsigned int i = 0; i < j->miss_count; i++)
		printf("    %8" PRIu64 " %s: %s\n", j->misses[i].count, j->misses[i].place,
		       bobbin_reason_str(j->misses[i].reason));
}

static void take_tally(struct judge *j)
{
	if (j->tally[TRACE_WRONG])
		j->failed = true;
	if (j->tally[TRACE_COMPLETE] * 100 < j->stops * j->program.least[0]) {
		printf("%s: fewer than %u %% are complete\n", j->program.name, j->program.least[0]);
		j->failed = true;
	}
	for (unsigned int i = 0; i < VERDICTS; i++)
		j->all[i] += j->tally[i];
	j->all_stops += j->stops;
}

static bool begin(struct judge *j)
{
	int r = stepped_process_start(j->program.arguments, j->environment, &j->process);

	j->stops = 0;
	j->shown_count = j->miss_count = 0;
	memset(j->tally, 0, sizeof(j->tally));
	memset(j->seen, 0, sizeof(j->seen));
	if (r)
		printf("%s: cannot be run: %s\n", j->program.name, strerror(-r));
	else if (agent_walk_init(&j->process, &j->walk))
		return true;
	else
		printf("%s: has not loaded the agent\n", j->program.name);
	return false;
}

static bool judge_program(struct judge *j)
{
	bool ok = begin(j) && judge_steps(j);

	stepped_process_end(&j->process);
	if (!j->stops)
		return false;
	print_tally(j->program.name, j->stops, j->tally);
	if (j->verbose)
		print_misses(j);
	take_tally(j);
	return ok;
}

static bool parse_line(struct judge *j, char *line)
{
	if (!stepped_program_parse(line, 1, &j->program))
		return false;
	j->most = j->program.stops * j->factor;
	return true;
}

static int judge_all(struct judge *j)
{
	char line[1024];

	printf("%-24s %9s | %s\n", "", "stops", "% complete, % guessed, % ended before, wrong");
	while (fgets(line, sizeof(line), stdin)) {
		if (!parse_line(j, line)) {
			printf("not understood: %s\n", line);
			j->failed = true;
		} else if (!judge_program(j)) {
			j->failed = true;
		}
	}
	if (!j->all_stops)
		return 1;
	print_tally("all", j->all_stops, j->all);
	for (unsigned int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (j->by_reason[i])
			printf("not complete: %" PRIu64 ": %s\n", j->by_reason[i],
			       bobbin_reason_str(i));
	return j->failed;
}

int main(int argc, char **argv)
{
	static struct judge j = {.factor = 1};
	char preload[PATH_MAX + 16];
	int option;

	while ((option = getopt(argc, argv, "vn:")) != -1) {
		if (option == 'v')
			j.verbose = true;
		else if (option == 'n')
			j.factor = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	j.often = j.factor < UINT8_MAX / OFTEN ? (unsigned int)j.factor * OFTEN : UINT8_MAX;
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[optind]);
	j.environment[0] = preload;
	return judge_all(&j);
}
