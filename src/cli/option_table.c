/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/option_row.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/option_table.h"

/*
 * The kernel's limit: a record's size is 16 bits wide.  Only what a stack has
 * is copied, so the limit costs deep stacks something and shallow ones nothing.
 */
#define MAX_STACK 65528
#define MOST_DURATION_MS 864000000

static void *field_of(const struct option_use *use)
{
	return (char *)use->a + use->row->field;
}

static bool take_nothing(const struct option_use *use)
{
	return true;
}

static bool take_flag(const struct option_use *use)
{
	*(bool *)field_of(use) = true;
	return true;
}

static bool take_no_flag(const struct option_use *use)
{
	*(bool *)field_of(use) = false;
	return true;
}

static bool take_text(const struct option_use *use)
{
	*(const char **)field_of(use) = use->text;
	return true;
}

/* Of an option that is given again, both lists count. */
static bool take_list(const struct option_use *use)
{
	char **list = field_of(use), *joined;

	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "", use->text) < 0) {
		complain("%s", strerror(ENOMEM));
		return false;
	}
	free(*list);
	*list = joined;
	return true;
}

static bool take_number(const struct option_use *use)
{
	return parse_number(use->spelling, use->text, use->row->least, use->row->most,
			    field_of(use));
}

static bool take_address(const struct option_use *use)
{
	if (read_address(use->text, &use->a->address))
		return true;
	complain_use("%s: '%s' is not an address", use->spelling, use->text);
	return false;
}

static bool take_real(const struct option_use *use)
{
	char *end;
	double value = strtod(use->text, &end);

	if (end != use->text && !*end && value >= 0 &&
	    (!use->row->most || value <= (double)use->row->most)) {
		*(double *)field_of(use) = value;
		return true;
	}
	complain_use("%s: '%s' is not a %s", use->spelling, use->text,
		     use->row->most ? "percentage" : "width");
	return false;
}

static bool take_branches(const struct option_use *use)
{
	if (!report_parse_graph(use->text, &use->a->report))
		return true;
	complain_use("%s: '%s' is neither 'none' nor a list of a percentage and caller or callee",
		     use->spelling, use->text);
	return false;
}

static bool take_inverted(const struct option_use *use)
{
	use->a->report.order = REPORT_CALLER;
	return true;
}

static bool take_keys(const struct option_use *use)
{
	if (!report_parse_keys(use->text, &use->a->report))
		return true;
	complain_use("%s: '%s' is not a list of " REPORT_KEY_NAMES, use->spelling, use->text);
	return false;
}

/* Processes and lines are others in another recording. */
static bool take_lasting_keys(const struct option_use *use)
{
	const struct report_options *report = &use->a->report;
	bool good = !report_parse_keys(use->text, &use->a->report);

	for (size_t i = 0; good && i < report->n_keys; i++)
		good = report->keys[i] < REPORT_USUAL_KEYS;
	if (!good)
		complain_use("%s: '%s' is not a list of comm, dso and sym", use->spelling,
			     use->text);
	return good;
}

static bool take_fields(const struct option_use *use)
{
	return script_fields_parse(use->spelling, use->text, &use->a->fields);
}

static bool take_order(const struct option_use *use)
{
	use->a->top.view.sort = top_sort_named(use->text);
	if (use->a->top.view.sort < TOP_SORTS)
		return true;
	complain_use("%s: '%s' is none of total, self, pid, comm, dso and symbol", use->spelling,
		     use->text);
	return false;
}

/* A time in seconds, for a member that counts milliseconds, as do the bounds. */
static bool take_seconds(const struct option_use *use)
{
	double least = (double)use->row->least, most = (double)use->row->most, ms;
	char *end;

	ms = strtod(use->text, &end) * 1000;
	if (end != use->text && !*end && ms >= least && ms <= most) {
		*(uint64_t *)field_of(use) = (uint64_t)(ms + 0.5);
		return true;
	}
	complain_use("%s: '%s' is not a number of seconds from %g to %g", use->spelling, use->text,
		     least / 1000, most / 1000);
	return false;
}

/* A number and a letter that says of what; 0: it is something else, or too large. */
static uint64_t unit_of(const char *text, const char *units, const uint64_t *values)
{
	const char *at = *text && !text[1] ? strchr(units, *text) : NULL;

	return at ? values[at - units] : 0;
}

/* "90", "90s", "15m", "12h" or "7d", for a member that counts milliseconds, as do the bounds. */
static bool take_time(const struct option_use *use)
{
	static const uint64_t values[] = {1000, 60000, 3600000, 86400000};
	const uint64_t least = use->row->least, most = use->row->most;
	char *end;
	double number = strtod(use->text, &end);
	const uint64_t unit = *end ? unit_of(end, "smhd", values) : 1000;
	const double ms = number * (double)unit;

	if (end != use->text && unit && ms >= (double)least && ms <= (double)most) {
		*(uint64_t *)field_of(use) = (uint64_t)(ms + 0.5);
		return true;
	}
	complain_use("%s: '%s' is not a time such as 90s, 15m, 12h or 7d, within its bounds",
		     use->spelling, use->text);
	return false;
}

/* "512M", "2G": with the powers of 1,024. */
static bool take_size(const struct option_use *use)
{
	static const uint64_t values[] = {1 << 10, 1 << 20, 1 << 30, UINT64_C(1) << 40};
	char *end;
	double number = strtod(use->text, &end);
	const uint64_t unit = *end ? unit_of(end, "KMGT", values) : 1;
	const double size = number * (double)unit;

	if (end != use->text && unit && size >= (double)use->row->least &&
	    size < (double)use->row->most) {
		*(uint64_t *)field_of(use) = (uint64_t)size;
		return true;
	}
	complain_use("%s: '%s' is not a size such as 512M or 2G, of 1M at least", use->spelling,
		     use->text);
	return false;
}

/* "1" or "1%". */
static bool take_share(const struct option_use *use)
{
	char *end;
	double value = strtod(use->text, &end);

	if (end != use->text && (!*end || !strcmp(end, "%")) && value > 0 &&
	    value <= (double)use->row->most) {
		*(double *)field_of(use) = value;
		return true;
	}
	complain_use("%s: '%s' is not a percentage", use->spelling, use->text);
	return false;
}

/* That of a service is named by its manager. */
static bool take_state_folder(const struct option_use *use)
{
	const char *state = use->spelling ? NULL : getenv("STATE_DIRECTORY");

	use->a->output = state && *state ? state : use->text;
	return true;
}

static bool take_targets(const struct option_use *use)
{
	return targets_parse(&use->a->targets, use->spelling, use->text, use->row->letter == 't');
}

static bool take_cpus(const struct option_use *use)
{
	return scope_parse_cpus(&use->a->scope, use->spelling, use->text);
}

static bool take_cgroups(const struct option_use *use)
{
	size_t length = strlen(use->text);

	if (length && *use->text != ',' && use->text[length - 1] != ',' && !strstr(use->text, ",,"))
		return take_list(use);
	complain_use("%s: '%s' is not a list of cgroups", use->spelling, use->text);
	return false;
}

static bool take_numbers(const struct option_use *use)
{
	if (sample_filter_is_numbers(use->text))
		return take_list(use);
	complain_use("%s: '%s' is not a list of numbers", use->spelling, use->text);
	return false;
}

static bool take_times(const struct option_use *use)
{
	if (sample_times_parse(use->text, &use->a->filter.times))
		return true;
	complain_use("%s: '%s' is neither START,STOP in seconds nor PERCENT%%-PERCENT%%",
		     use->spelling, use->text);
	return false;
}

static bool take_user(const struct option_use *use)
{
	return scope_parse_user(&use->a->scope, use->spelling, use->text);
}

/* What perf can do instead. */
static bool take_call_graph(const struct option_use *use)
{
	static const char *const ways[] = {"fp", "dwarf", "lbr"};
	size_t length = strcspn(use->text, ",");

	use->a->defer = !strcmp(use->text, "fp,defer");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strlen(ways[i]) != length || strncmp(ways[i], use->text, length))
			continue;
		use->a->call_graph = ways[i];
		return true;
	}
	complain_use("%s: '%s' is none of fp, dwarf, lbr and fp,defer", use->spelling, use->text);
	return false;
}

static bool take_sframe_path(const struct option_use *use)
{
	const char *named = use->spelling ? NULL : getenv("BOBBIN_SFRAME_PATH");

	use->a->unwind.sframe_path = named ? named : use->text;
	return true;
}

/* Programs that change to root may leave the variables of the user who called them. */
#define ROOTS "/var/cache/bobbin/tables"

/* $XDG_CACHE_HOME/bobbin, ~/.cache/bobbin, root's own folder; "": there is none. */
static const char *cache_folder(void)
{
	static char path[PATH_MAX];
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length = 0;

	if (!geteuid())
		return ROOTS;
	if (cache && *cache == '/')
		length = snprintf(path, sizeof(path), "%s/bobbin", cache);
	else if (home && *home == '/')
		length = snprintf(path, sizeof(path), "%s/.cache/bobbin", home);
	return length > 0 && length < (int)sizeof(path) ? path : "";
}

/* Without the option the variable counts, and without that what is usual. */
static bool take_table_cache(const struct option_use *use)
{
	const char *named = getenv("BOBBIN_TABLE_CACHE");

	use->a->unwind.cache_path = use->spelling ? use->text : named ? named : cache_folder();
	return true;
}

#define READERS (OF_REPORT | OF_SCRIPT | OF_FLAMEGRAPH | OF_EXPORT | OF_DIFF | OF_ANNOTATE)
#define SAMPLERS (OF_RECORD | OF_TOP)
/* Of a part of the machine or of all of it. */
#define WIDE_SAMPLERS (SAMPLERS | OF_AGENT)
#define UNWINDERS (READERS | WIDE_SAMPLERS | OF_HEAP | OF_STACK | OF_MAPS | OF_CORE)
#define EVERYBODY (~0u)

/* The offset of a member, which must have this type. */
#define AT(type, member) \
	offsetof(struct arguments, member) + \
		0 * sizeof((type *)0 == &((struct arguments *)0)->member)
#define BY(taker) .take = (taker)
#define FLAG(member) BY(take_flag), .field = AT(bool, member)
#define TEXT(member) BY(take_text), .field = AT(const char *, member)
#define NUMBER(member, from, to) \
	BY(take_number), .field = AT(uint64_t, member), .least = (from), .most = (to)
#define SECONDS(member, from, to) \
	BY(take_seconds), .field = AT(uint64_t, member), .least = (from), .most = (to)
#define REAL(taker, member, to) BY(taker), .field = AT(double, member), .most = (to)
#define GIVEN(member) .given = AT(bool, member)

/* clang-format off */
const struct option_row option_rows[] = {
	{SAMPLERS, "freq", 'F', "HZ", "999",
	 "samples per second and CPU", NUMBER(frequency, 1, 100000), GIVEN(has_frequency)},
	{OF_HEAP, "sample-bytes", 0, "N", "524288",
	 "sample one block in N allocated bytes, on average", NUMBER(block_bytes, 1, INT64_MAX)},
	{OF_AGENT, "freq", 'F', "HZ", "19",
	 "samples per second and CPU", NUMBER(frequency, 1, 1000)},
	{OF_AGENT, "output", 'o', "DIR", "/var/lib/bobbin",
	 "folder for the recordings, which is made if it is not there", BY(take_state_folder),
	 .field = AT(const char *, output)},
	{OF_AGENT, "window", 0, "TIME", "60s",
	 "how long each recording takes, from 1s to 1d", BY(take_time), .field = AT(uint64_t, agent.window_ms),
	 .least = 1000, .most = 86400000},
	{OF_AGENT, "keep", 0, "TIME", "7d",
	 "how long recordings are kept; 0: until they are sent", BY(take_time),
	 .field = AT(uint64_t, agent.keep_ms), .most = 315360000000},
	{OF_AGENT, "max-size", 0, "SIZE", "2G",
	 "disk space of all recordings: the oldest ones make room", BY(take_size),
	 .field = AT(uint64_t, agent.max_size), .least = 1 << 20, .most = INT64_MAX},
	{OF_AGENT, "otlp", 0, "URL", NULL,
	 "send profiles to an OpenTelemetry collector, such as http://127.0.0.1:4318/v1development/profiles, "
	 "as do the variables OTEL_EXPORTER_OTLP_ENDPOINT and others", TEXT(agent.otlp)},
	{OF_AGENT, "max-cpu", 0, "PERCENT", NULL,
	 "of one processor for the agent itself: it samples less often when it takes more",
	 REAL(take_share, agent.max_cpu, 100)},
	{OF_AGENT, "metrics", 0, "ADDRESS", NULL,
	 "serve metrics to Prometheus at http://ADDRESS/metrics, such as 127.0.0.1:9464", TEXT(agent.metrics)},
	{OF_RECORD, "event", 'e', "LIST", NULL,
	 "sample by these events instead of cycles or the CPU clock: page-faults and the like, "
	 "tracepoints such as sched:sched_switch, uprobe:FILE:FUNCTION, uretprobe:FILE:FUNCTION; "
	 "may be given again", BY(take_list), .field = AT(char *, event_names)},
	{OF_TOP, "event", 'e', "EVENT", NULL,
	 "count this event instead of cycles or the CPU clock: page-faults and the like, a tracepoint "
	 "such as sched:sched_switch, uprobe:FILE:FUNCTION, uretprobe:FILE:FUNCTION",
	 BY(take_list), .field = AT(char *, event_names)},
	{SAMPLERS, "count", 'c', "N", NULL,
	 "take a sample after N events, instead of -F", NUMBER(period, 1, INT64_MAX)},
	{SAMPLERS, "pid", 'p', "PID", NULL,
	 "sample a running process, or by a name all that have it; for several give a list, or the "
	 "option again; a command says for how long", BY(take_targets)},
	{SAMPLERS, "with-children", 0, NULL, NULL,
	 "with -p: and what these processes have started and runs already", FLAG(targets.with_children)},
	{SAMPLERS, "tid", 't', "TID", NULL,
	 "sample a thread, but nothing that it starts; several as above", BY(take_targets)},
	{OF_RECORD | OF_HEAP, "duration", 0, "SECONDS", NULL,
	 "end after that time, as by Ctrl-C", SECONDS(duration_ms, 1, MOST_DURATION_MS)},
	{OF_RECORD, "all-cpus", 'a', NULL, NULL,
	 "sample everything that runs, until Ctrl-C or as long as a command runs", FLAG(all)},
	{WIDE_SAMPLERS, "cpu", 'C', "LIST", NULL,
	 "sample on these CPUs only, such as 0,2-3: everything, as with -a, or what -p or -t name",
	 BY(take_cpus)},
	{WIDE_SAMPLERS, "cgroup", 'G', "LIST", NULL,
	 "of everything, sample what is in these cgroups, or below them; may be given again",
	 BY(take_cgroups), .field = AT(char *, scope.cgroup_names)},
	{WIDE_SAMPLERS, "user", 'u', "USER", NULL,
	 "of everything, sample the processes of this user, by number or name", BY(take_user)},
	{WIDE_SAMPLERS, "uid", 0, "USER", NULL,
	 "the same", BY(take_user)},
	{OF_TOP, "all-cpus", 'a', NULL, NULL,
	 "sample everything that runs, as without PID, TID and COMMAND", FLAG(all)},
	{OF_TOP, "delay", 'd', "SECONDS", "2",
	 "between two tables, from 0.1 to 3600",
	 SECONDS(top.view.delay_ms, TOP_LEAST_DELAY_MS, TOP_MOST_DELAY_MS)},
	{OF_TOP, "sort", 's', "KEY", "self",
	 "total, self, pid, comm, dso or symbol; by pid and comm functions are counted for each process "
	 "or command", BY(take_order)},
	{OF_TOP, "filter", 0, "TEXT", NULL,
	 "show functions with TEXT in their name", TEXT(top.filters[TOP_FILTER_SYMBOL])},
	{OF_TOP, "sym", 0, "TEXT", NULL,
	 "the same", TEXT(top.filters[TOP_FILTER_SYMBOL])},
	{OF_TOP, "dso", 0, "TEXT", NULL,
	 "show functions of files with TEXT in their path", TEXT(top.filters[TOP_FILTER_DSO])},
	{OF_TOP, "comm", 0, "TEXT", NULL,
	 "show functions of commands with TEXT in their name", TEXT(top.filters[TOP_FILTER_COMM])},
	{OF_TOP, "hide-kernel", 'K', NULL, NULL,
	 "hide functions of the kernel", FLAG(top.view.hide_kernel)},
	{OF_TOP, "hide-user", 'U', NULL, NULL,
	 "hide functions of programs", FLAG(top.view.hide_user)},
	{OF_TOP, "zero", 'z', NULL, NULL,
	 "count each table from zero", FLAG(top.zero)},
	{OF_TOP, "batch", 'b', NULL, NULL,
	 "print one table after the other, even to a terminal", FLAG(top.batch)},
	{OF_TOP, "iterations", 'n', "N", NULL,
	 "end after N tables", NUMBER(top.iterations, 1, UINT32_MAX)},
	{OF_TOP, "entries", 'E', "N", "40",
	 "print at most N functions of a table", NUMBER(top.entries, 1, UINT32_MAX)},
	{OF_RECORD | OF_HEAP, "output", 'o', "FILE", "perf.data",
	 "file to write; an existing one is renamed to FILE.old; pipes, and '-' for standard "
	 "output, get the format for pipes", TEXT(output), GIVEN(has_output)},
	{OF_RECORD | OF_HEAP, "format", 0, "FORMAT", NULL,
	 "write what 'bobbin export' does, instead of a recording: pprof, callgrind, speedscope, "
	 "chrome, firefox or otlp; FILE's name tells, too", TEXT(format)},
	{OF_RECORD, NULL, 'g', NULL, NULL,
	 "accepted without effect: there are always call chains", BY(take_nothing)},
	{OF_RECORD, "call-graph", 0, "HOW", NULL,
	 "fp,defer: take the kernel's own call chains (Linux 6.19 and newer); fp, dwarf, lbr: accepted "
	 "without effect, call chains are found by unwind tables", BY(take_call_graph)},
	{WIDE_SAMPLERS | OF_HEAP, "stack-size", 0, "N", "65528",
	 "read at most N bytes of the stack", NUMBER(stack_bytes, 8, MAX_STACK)},
	{WIDE_SAMPLERS, "bpf", 0, NULL, NULL,
	 "walk stacks inside the kernel from the first sample on, or fail; else that begins when its program is "
	 "loaded, if it can be", FLAG(bpf)},
	{WIDE_SAMPLERS, "no-bpf", 0, NULL, NULL,
	 "copy stacks, and walk the copies",
	 FLAG(no_bpf)},
	{OF_RECORD, "also-copy", 0, NULL, NULL,
	 "with --bpf: walk all stacks in both ways and tell whether they differ", FLAG(also_copy)},
	{OF_RECORD, "in-process", 0, NULL, NULL,
	 "sample the command by timers of its own threads, which needs no permission: a library is preloaded "
	 "into it", FLAG(in_process)},
	{OF_RECORD | OF_AGENT, "off-cpu", 0, NULL, NULL,
	 "also record where threads wait, and for how long: event offcpu-time; where others got their "
	 "CPU: event preempted-time", FLAG(off_cpu)},
	{OF_TOP, "off-cpu", 0, NULL, NULL,
	 "show where threads wait, and how much of the time, instead of where they run", FLAG(off_cpu)},
	{WIDE_SAMPLERS, "off-cpu-thresh", 0, "MS", "1",
	 "with --off-cpu: leave out what takes less than MS milliseconds",
	 NUMBER(off_cpu_ms, 0, 86400000), GIVEN(has_off_cpu_ms)},
	{OF_RECORD, "wakers", 0, NULL, NULL,
	 "with --off-cpu: also record who ends the waits: event offcpu-waker; needs root", FLAG(wakers)},
	{OF_RECORD | OF_HEAP, "no-names", 0, NULL, NULL,
	 "store no names of functions in the recording", FLAG(no_names)},
	{WIDE_SAMPLERS | OF_HEAP, "max-stack", 0, "N", "1024",
	 "keep at most N frames of a stack: the innermost three quarters and the outermost quarter "
	 "of a deeper one", NUMBER(max_stack, 2, BOBBIN_MAX_DEPTH)},
	{READERS, "force", 'f', NULL, NULL,
	 "read a recording of another user, too", FLAG(force)},
	{OF_REPORT, "full", 0, NULL, NULL,
	 "show all functions, each with its callers or callees, instead of a first screen, as do the "
	 "next seven options", BY(take_nothing), GIVEN(full)},
	{OF_REPORT, "children", 0, NULL, NULL,
	 "count for a function what it calls, too, as is usual",
	 BY(take_no_flag), .field = AT(bool, report.no_children), GIVEN(full)},
	{OF_REPORT, "no-children", 0, NULL, NULL,
	 "count a function's own samples only", FLAG(report.no_children), GIVEN(full)},
	{OF_REPORT, "sort", 's', "KEYS", NULL,
	 "columns: any of comm,dso,sym,pid,tid,cpu,srcline,srcfile", BY(take_keys), GIVEN(full)},
	{OF_REPORT, "call-graph", 'g', "HOW", "0.5",
	 "'none'; or a list: a number, to hide branches below that many per cent, and 'caller' or "
	 "'callee', from which graphs begin", BY(take_branches), GIVEN(full)},
	{OF_REPORT, "inverted", 'G', NULL, NULL,
	 "call graphs from callers to callees, as -g caller", BY(take_inverted), GIVEN(full)},
	{OF_REPORT, "percent-limit", 0, "P", "0.1",
	 "hide entries below P per cent", REAL(take_real, report.percent_limit, 100), GIVEN(full)},
	{OF_ANNOTATE, "full", 0, NULL, NULL,
	 "show all instructions, and, where none is named, all functions", BY(take_nothing), GIVEN(full)},
	{OF_ANNOTATE, "percent-limit", 0, "P", "0.5",
	 "show instructions with P per cent of their function or more, and those around them",
	 REAL(take_real, report.percent_limit, 100)},
	{OF_DIFF, "sort", 's', "KEYS", "dso,sym",
	 "columns: any of comm,dso,sym", BY(take_lasting_keys)},
	{OF_DIFF, "percent-limit", 0, "P", "0.01",
	 "hide changes below P percentage points", REAL(take_real, report.percent_limit, 100)},
	{OF_REPORT, "stdio", 0, NULL, NULL,
	 "as perf: text, which the report is without --tui", BY(take_no_flag), .field = AT(bool, tui), GIVEN(full)},
	{OF_REPORT, "tui", 0, NULL, NULL,
	 "on a terminal, walk through the table as in 'top'", FLAG(tui)},
	{OF_SCRIPT, "fields", 'F', "LIST", "comm,tid,time,event,ip,sym,dso",
	 "what to print: a list of comm, pid, tid, cpu, time, event, period, ip, sym, symoff, dso, "
	 "srcline, source, reason, cgroup; +FIELD adds one to the default, -FIELD removes one", BY(take_fields)},
	{OF_DIFF, "flamegraph", 0, NULL, NULL,
	 "draw the second recording as a flame graph, coloured by what has changed", FLAG(picture)},
	{OF_FLAMEGRAPH | OF_DIFF, "title", 0, "TEXT", NULL,
	 "title of the picture", TEXT(flamegraph.title)},
	{OF_FLAMEGRAPH | OF_DIFF, "inverted", 0, NULL, NULL,
	 "callers at the top, which is where they are in a picture higher than 900 pixels", FLAG(flamegraph.inverted)},
	{OF_FLAMEGRAPH | OF_DIFF, "upright", 0, NULL, NULL,
	 "callers at the bottom of any picture", FLAG(flamegraph.upright)},
	{OF_FLAMEGRAPH, "reverse", 0, NULL, NULL,
	 "merge stacks from their ends on: what takes the time first, then who calls it", FLAG(reversed)},
	{OF_REPORT | OF_FLAMEGRAPH, "wall-clock", 0, NULL, NULL,
	 "all of the time of threads, of a recording with waits: on the CPU, waiting, and preempted",
	 FLAG(wall_clock)},
	{OF_FLAMEGRAPH, "by-process", 0, NULL, NULL,
	 "draw each process apart", FLAG(by_process)},
	{OF_FLAMEGRAPH, "by-thread", 0, NULL, NULL,
	 "draw each thread apart", FLAG(by_thread)},
	{OF_FLAMEGRAPH | OF_DIFF, "min-width", 0, "PX", "0.1",
	 "hide frames narrower than PX pixels", REAL(take_real, flamegraph.min_width, 0)},
	{OF_FLAMEGRAPH, "folded", 0, NULL, NULL,
	 "write folded stacks as text instead", FLAG(folded)},
	{OF_REPORT | OF_FLAMEGRAPH | OF_DIFF, "no-fold", 0, NULL, NULL,
	 "show each level of a recursion", FLAG(unfolded)},
	{READERS & ~OF_DIFF, "input", 'i', "FILE", "perf.data",
	 "recording to read; '-' is standard input", TEXT(input)},
	{READERS, "event", 0, "NAME", NULL,
	 "only the samples of this event, such as offcpu-time; a flame graph is of the first one "
	 "otherwise", TEXT(event)},
	{READERS, "comm", 0, "LIST", NULL,
	 "only the samples of these commands", BY(take_list), .field = AT(char *, filter.comms)},
	{READERS, "pid", 0, "LIST", NULL,
	 "only those of these processes", BY(take_numbers), .field = AT(char *, filter.pids)},
	{READERS, "tid", 0, "LIST", NULL,
	 "only those of these threads", BY(take_numbers), .field = AT(char *, filter.tids)},
	{READERS, "cgroup", 0, "LIST", NULL,
	 "only those in these cgroups, or below them, by path or by a part of it; '*', '?' and '[...]' "
	 "as below", BY(take_cgroups), .field = AT(char *, filter.cgroups)},
	{READERS, "dso", 0, "LIST", NULL,
	 "only those with one of these files on their stacks, by path or by its last part",
	 BY(take_list), .field = AT(char *, filter.dsos)},
	{READERS, "sym", 0, "LIST", NULL,
	 "only those with one of these functions on their stacks; '*', '?' and '[...]' stand for "
	 "parts of names", BY(take_list), .field = AT(char *, filter.symbols)},
	{READERS, "time", 0, "RANGE", NULL,
	 "only those between two times in seconds, as 'script' prints them, either of which may be "
	 "missing; or of a part of the recording, such as 10%-20%", BY(take_times)},
	{READERS | OF_TOP, "no-inline", 0, NULL, NULL,
	 "show no inlined functions", BY(take_no_flag), .field = AT(bool, naming.inlines)},
	{READERS | OF_TOP, "no-demangle", 0, NULL, NULL,
	 "show symbols as they are in the files", BY(take_no_flag), .field = AT(bool, naming.demangle)},
	{OF_STACK, "one", '1', NULL, NULL,
	 "only the thread whose number is PID", FLAG(one)},
	{OF_CORE, "one", '1', NULL, NULL,
	 "only the thread that the signal was for", FLAG(one)},
	{OF_CORE, "program", 'e', "FILE", NULL,
	 "the program's file, wherever the core says it was", TEXT(program)},
	{OF_CORE, "sysroot", 0, "DIR", NULL,
	 "look for the mapped files below DIR, by their paths and by their names, too", TEXT(sysroot)},
	{OF_CORE, "pid", 'p', "PID", NULL,
	 "the process is still there, as for a helper of kernel.core_pattern: read its memory and files "
	 "there, and only the notes of FILE", NUMBER(pid, 1, INT32_MAX)},
	{OF_CORE, "output", 'o', "DIR", NULL,
	 "write a new file in DIR, named after the program, the process and the time", TEXT(folder)},
	{OF_STACK | OF_CORE, "lines", 'l', NULL, NULL,
	 "print files and lines of the source", FLAG(lines)},
	{OF_STACK | OF_CORE, "verbose", 'v', NULL, NULL,
	 "print for each frame which table was used", FLAG(verbose)},
	{OF_REPORT | OF_STACK | OF_CORE | OF_MAPS | OF_DOCTOR | OF_DUMP | OF_CHECK | OF_STAT | OF_LINT, "json", 0, NULL, NULL,
	 "print one JSON document", FLAG(json)},
	{UNWINDERS, "no-sframe", 0, NULL, NULL,
	 "use .eh_frame even if a file has .sframe", FLAG(unwind.ignore_sframe)},
	{UNWINDERS, "no-code", 0, NULL, NULL,
	 "infer no rules from machine code that no table covers", FLAG(unwind.ignore_code)},
	{UNWINDERS | OF_LINT, "debug-path", 0, "DIRS", "/usr/lib/debug",
	 "colon-separated folders with debug files", TEXT(unwind.debug_path), GIVEN(has_debug_path)},
	{UNWINDERS, "sframe-path", 0, "DIRS", "/usr/lib/debug/.build-id",
	 "colon-separated folders with side-files by build ID", BY(take_sframe_path)},
	{UNWINDERS, "table-cache", 0, "DIR", "~/.cache/bobbin",
	 "folder in which compiled tables are kept; '' for none", BY(take_table_cache)},
	{READERS, "symfs", 0, "DIR", NULL,
	 "look for the recorded files below DIR", TEXT(naming.symfs)},
	{OF_EXPORT, "format", 0, "FORMAT", NULL,
	 "pprof, callgrind, speedscope, chrome, firefox or otlp; without it, FILE's name tells", TEXT(format)},
	{OF_EXPORT, "output", 'o', "FILE", "-",
	 "file to write, compressed if it is called .gz; '-' is standard output", TEXT(output)},
	{OF_MERGE | OF_UNPACK, "output", 'o', "FILE", "-",
	 "file for the section's bytes", TEXT(output)},
	{OF_CONVERT | OF_REPAIR, "output", 'o', "OUT", NULL,
	 "file to write; '-' is standard output, for the bytes of a section", TEXT(output)},
	{OF_CONVERT | OF_REPAIR, "in-place", 0, NULL, NULL,
	 "change FILE itself: the new file takes its place", FLAG(in_place)},
	{OF_CONVERT | OF_REPAIR, "section-only", 0, NULL, NULL,
	 "write the section's bytes instead of an ELF file", FLAG(section_only)},
	{OF_CONVERT, "side-file", 0, NULL, NULL,
	 "write a compressed side-file, as 'bobbin sframe pack' does", FLAG(side_file)},
	{OF_PACK, "compiled", 0, NULL, NULL,
	 "write compiled tables, which a kernel can be told of, instead of side-files", FLAG(compiled)},
	{OF_CONVERT, "infer", 0, NULL, NULL,
	 "add verified rules, inferred from machine code, for functions without tables", FLAG(infer_rows)},
	{OF_CONVERT | OF_UNPACK, "address", 0, "ADDRESS", "0",
	 "address of the section's bytes in the address space of the file", BY(take_address),
	 GIVEN(has_address)},
	{OF_MERGE, "address", 0, "ADDRESS", NULL,
	 "address of the section; without it, that of the first one", BY(take_address), GIVEN(has_address)},
	{OF_CONVERT | OF_MERGE | OF_UNPACK, "version", 0, "N", "3",
	 "SFrame version of the section, 2 or 3", NUMBER(version, 2, 3)},
	{OF_REPAIR, "version", 0, "N", NULL,
	 "SFrame version of the section, 2 or 3; without it, sections of version 2 keep it and "
	 "others become version 3", NUMBER(version, 2, 3)},
	{OF_CONVERT | OF_MERGE | OF_REPAIR, "share", 0, NULL, NULL,
	 "let functions share equal rows: smaller, but not all readers expect it", FLAG(share)},
	{OF_STAT, "share", 0, NULL, NULL,
	 "convert as 'bobbin sframe convert --share' does", FLAG(share)},
	{OF_CHECK, "against-cfi", 0, NULL, NULL,
	 "compare with .eh_frame and .debug_frame at every address, too", FLAG(against_cfi)},
	{OF_REPAIR, "against-cfi", 0, NULL, NULL,
	 "if the file's call-frame information has a different rule, use that", FLAG(against_cfi)},
	{OF_CONVERT, "verbose", 'v', NULL, NULL,
	 "print each range of code that is left out, and why", FLAG(verbose)},
	{OF_RECORD | OF_AGENT | OF_HEAP, "quiet", 'q', NULL, NULL,
	 "print errors only", FLAG(quiet)},
	{READERS, "quiet", 'q', NULL, NULL,
	 "print no progress line and no warnings", FLAG(quiet)},
	{OF_CHECK, "quiet", 'q', NULL, NULL,
	 "print no notes and no summary", FLAG(quiet)},
	{OF_LINT, "quiet", 'q', NULL, NULL,
	 "print no summary", FLAG(quiet)},
	{OF_CONVERT, "quiet", 'q', NULL, NULL,
	 "print no summary", FLAG(quiet)},
	{OF_MERGE | OF_REPAIR, "quiet", 'q', NULL, NULL,
	 "do not list what is changed, dropped or clipped", FLAG(quiet)},
	{OF_PACK, "quiet", 'q', NULL, NULL,
	 "do not list the files, nor what is dropped or clipped", FLAG(quiet)},
	{EVERYBODY, "help", 'h', NULL, NULL,
	 "show this help", BY(take_nothing)},
};
/* clang-format on */

const size_t option_row_count = sizeof(option_rows) / sizeof(*option_rows);
_Static_assert(sizeof(option_rows) / sizeof(*option_rows) <= OPTION_ROWS_MAX, "raise it");
