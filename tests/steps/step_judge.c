/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step_judge [-v] [-n STOPS] < LIST - are traces that are called complete right and whole?
 *
 * LIST has a line for each program: CLASS STOPS LIBRARY STACK COPY KERNEL PROGRAM [ARGUMENT...]
 *
 * Each program is run instruction by instruction, beside a shadow stack, until it ends or was
 * judged at so many STOPS.  At each instruction of its own code, and at some of its libraries', the
 * thread is walked in all ways that stepped_walks.h has.  A trace that is called complete has to
 * have the return addresses of the shadow stack, all of them and no other.  Those that are called
 * likely, or end before the root, are counted.  LIBRARY to KERNEL are the least shares of
 * complete ones, in percent, so that walks that give up are seen.
 *
 * -n multiplies STOPS; -v prints each wrong trace once, with what is right on its left.
 * Exit status 1: one is wrong, or a share is too low.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stepped_process.h"
#include "stepped_program.h"
#include "stepped_walks.h"

/* Of libraries' instructions one in so many is judged. */
#define SPARSE 61
/* A program that takes so many instructions for each that is judged is not looked at any more. */
#define MOST_STEPS 256
#define SHOWN 512

_Static_assert(WALK_WAYS <= STEPPED_LEASTS, "each way has a least share");

struct tally {
	uint64_t complete, likely, likely_right, ended, wrong;
};

/* A PC at which a wrong trace was shown. */
struct shown {
	uint64_t pc;
	enum walk_way way;
};

struct judge {
	bool verbose;
	uint64_t factor, stops, most;
	struct stepped_program program;
	char path[PATH_MAX];
	struct walk_means means;
	struct stepped_process process;
	struct stepped_walks walks;
	struct tally tally[WALK_WAYS], all[WALK_WAYS];
	uint64_t all_stops;
	struct shown shown[SHOWN];
	unsigned int shown_count;
	bool failed;
};

/* The PC of a frame as it has to be, leaf first. */
static uint64_t right_pc(const struct judge *j, uint32_t frame)
{
	const struct shadow_stack *shadow = &j->process.shadow;

	return frame ? shadow->calls[shadow->count - frame].pc : j->process.regs.rip;
}

static bool may_be_left_out(const struct judge *j, uint32_t frame)
{
	const struct shadow_stack *shadow = &j->process.shadow;

	return frame && shadow->calls[shadow->count - frame].discarded;
}

static bool is_right(const struct judge *j)
{
	const struct bobbin_trace *trace = &j->walks.trace;
	const uint32_t count = j->process.shadow.count + 1;
	uint32_t i = 0;

	for (uint32_t frame = 0; frame < count; frame++) {
		if (i < trace->count && !((trace->frames[i].pc ^ right_pc(j, frame)) & KERNEL_PC))
			i++;
		else if (!may_be_left_out(j, frame))
			return false;
	}
	return i == trace->count;
}

static void print_place(struct judge *j, uint64_t pc)
{
	struct bobbin_place_info info;

	if (!bobbin_space_find(bobbin_process_space(j->walks.inferring), pc, &info))
		printf("%s+%#" PRIx64, info.mapping.path, info.file_offset);
	else
		printf("%#" PRIx64, pc);
}

static void print_wrong(struct judge *j, enum walk_way way)
{
	const struct bobbin_trace *trace = &j->walks.trace;
	const uint32_t right = j->process.shadow.count + 1;

	for (unsigned int i = 0; i < j->shown_count; i++)
		if (j->shown[i].pc == j->process.regs.rip && j->shown[i].way == way)
			return;
	if (j->shown_count == SHOWN)
		return;
	j->shown[j->shown_count++] = (struct shown){j->process.regs.rip, way};
	printf("wrong: %s, by %s, stop %" PRIu64 ", sp %#llx, fp %#llx, code", j->program.name,
	       walk_way_names[way], j->stops, j->process.regs.rsp, j->process.regs.rbp);
	for (unsigned int i = 0; i < INSN_BYTES; i++)
		printf(" %02x", j->process.code[i]);
	putchar('\n');
	for (uint32_t i = 0; i < right || i < trace->count; i++) {
		printf("  %14" PRIx64 "  %14" PRIx64 "  %-20s ", i < right ? right_pc(j, i) : 0,
		       i < trace->count ? trace->frames[i].pc : 0,
		       i < trace->count ? bobbin_source_str(trace->frames[i].source) : "");
		print_place(j, i < right ? right_pc(j, i) : trace->frames[i].pc);
		putchar('\n');
	}
}

static bool judge_walk(struct judge *j, enum walk_way way)
{
	struct tally *tally = &j->tally[way];

	if (stepped_walks_walk(&j->walks, way, &j->process.regs))
		return false;
	if (j->walks.trace.reason == BOBBIN_REASON_LIKELY) {
		tally->likely++;
		tally->likely_right += is_right(j);
	} else if (j->walks.trace.reason != BOBBIN_REASON_OUTERMOST) {
		tally->ended++;
	} else if (is_right(j)) {
		tally->complete++;
	} else {
		tally->wrong++;
		if (j->verbose)
			print_wrong(j, way);
	}
	return true;
}

/* Code of the program without a table, made by it, or none at all; not a library's. */
static bool is_own(struct judge *j)
{
	struct bobbin_space *space = bobbin_process_space(j->walks.plain);
	const uint64_t pc = j->process.regs.rip;
	struct bobbin_place_info info;
	uint64_t start, offset;

	if (bobbin_space_find(space, pc, &info) || info.mapping.path[0] != '/')
		return true;
	return !strcmp(info.mapping.path, j->path) &&
	       bobbin_function_start(j->means.plain, space, pc, &start, &offset);
}

static bool judge_stop(struct judge *j)
{
	bool ok = true;

	if (j->process.mapped)
		ok = !stepped_walks_update(&j->walks);
	j->process.mapped = false;
	for (unsigned int way = 0; way < WALK_WAYS; way++)
		ok &= judge_walk(j, way);
	j->stops++;
	return ok;
}

static bool judge_steps(struct judge *j)
{
	for (uint64_t steps = 0; j->stops < j->most && steps < j->most * MOST_STEPS; steps++) {
		if ((is_own(j) || steps % SPARSE == 0) && !judge_stop(j)) {
			printf("%s: cannot be walked\n", j->program.name);
			return false;
		}
		if (!stepped_process_step(&j->process))
			break;
	}
	if (j->process.not_understood)
		printf("%s: %s at %#llx\n", j->program.name, j->process.not_understood,
		       j->process.regs.rip);
	return !j->process.not_understood;
}

static void print_tally(const char *name, uint64_t stops, const struct tally tally[WALK_WAYS])
{
	printf("%-44s %8" PRIu64, name, stops);
	for (unsigned int way = 0; way < WALK_WAYS; way++) {
		const struct tally *t = &tally[way];

		printf(" | %5.1f %5.1f %5.1f %5.1f %6" PRIu64, 100.0 * t->complete / stops,
		       100.0 * t->likely / stops, 100.0 * t->likely_right / stops,
		       100.0 * t->ended / stops, t->wrong);
	}
	putchar('\n');
	fflush(stdout);
}

static void take_tally(struct judge *j)
{
	for (unsigned int way = 0; way < WALK_WAYS; way++) {
		const struct tally *t = &j->tally[way];

		if (t->wrong)
			j->failed = true;
		if (t->complete * 100 < j->stops * j->program.least[way]) {
			printf("%s: by %s, fewer than %u %% are complete\n", j->program.name,
			       walk_way_names[way], j->program.least[way]);
			j->failed = true;
		}
		j->all[way].complete += t->complete;
		j->all[way].likely += t->likely;
		j->all[way].likely_right += t->likely_right;
		j->all[way].ended += t->ended;
		j->all[way].wrong += t->wrong;
	}
	j->all_stops += j->stops;
}

static bool judge_program(struct judge *j)
{
	/* a small stack */
	static char *const no_environment[] = {NULL};
	int r = stepped_process_start(j->program.arguments, no_environment, &j->process);
	bool ok;

	j->stops = 0;
	j->shown_count = 0;
	memset(j->tally, 0, sizeof(j->tally));
	if (!r)
		r = stepped_walks_open(&j->means, j->process.pid, &j->walks);
	if (r) {
		printf("%s: cannot be run: %s\n", j->program.name, strerror(-r));
		stepped_process_end(&j->process);
		return false;
	}
	j->process.mapped = false;
	ok = judge_steps(j);
	stepped_walks_close(&j->walks);
	stepped_process_end(&j->process);
	if (!j->stops)
		return false;
	print_tally(j->program.name, j->stops, j->tally);
	take_tally(j);
	return ok;
}

static bool parse_line(struct judge *j, char *line)
{
	if (!stepped_program_parse(line, WALK_WAYS, &j->program))
		return false;
	j->most = j->program.stops * j->factor;
	return realpath(j->program.arguments[0], j->path);
}

static int judge_all(struct judge *j)
{
	char line[1024];

	printf("%-44s %8s | %s\n", "", "stops",
	       "of each way (library, stack, copy, kernel) % complete, % likely, % likely and "
	       "right, % ended before, wrong");
	while (fgets(line, sizeof(line), stdin)) {
		if (!parse_line(j, line)) {
			printf("not understood, or no program: %s\n", line);
			j->failed = true;
		} else if (!judge_program(j)) {
			j->failed = true;
		}
	}
	if (j->all_stops)
		print_tally("all", j->all_stops, j->all);
	return j->failed || !j->all_stops;
}

int main(int argc, char **argv)
{
	static struct judge j = {.factor = 1};
	int option, r;

	while ((option = getopt(argc, argv, "vn:")) != -1) {
		if (option == 'v')
			j.verbose = true;
		else if (option == 'n')
			j.factor = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	r = walk_means_init(&j.means);
	if (r) {
		fprintf(stderr, "step_judge: %s\n", strerror(-r));
		return 2;
	}
	r = judge_all(&j);
	walk_means_fini(&j.means);
	return r;
}
