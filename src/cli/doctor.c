/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/preload.h"
#include "export/json_output.h"
#include "profile/kernel_probe.h"
#include "symbol/kallsyms.h"

#define WIDTH 95
#define INDENT 8
#define DEFAULT_RATE 999

/**
 * struct feature - something of the kernel that bobbin can use
 * @name: two or three words
 * @probe: 0 or a negative errno
 * @without: what is there without it
 * @permission: what to do where it is not allowed
 * @absence: what to do, or why nothing can be done, where the kernel has no such thing
 * @needed: nothing can be recorded without it
 * @why: the words for an error of @probe, or NULL: the errno's
 */
struct feature {
	const char *name;
	int (*probe)(void);
	const char *without, *permission, *absence;
	bool needed;
	const char *(*why)(int error, char *room, size_t size);
};

static int probe_rate(void)
{
	return kernel_most_samples() < DEFAULT_RATE ? -ERANGE : 0;
}

static int probe_kernel_names(void)
{
	struct symlist names;
	int r = kallsyms_read("/proc/kallsyms", &names);

	if (r)
		return r;
	if (!names.map.count)
		r = -EACCES;
	symlist_fini(&names);
	return r;
}

static int probe_inside(void)
{
	return preload_exists("libbobbin-sampler.so") ? 0 : -ENOENT;
}

/* Loading the program once tells both. */
static struct {
	bool tried;
	int walks, waits;
} kernel_walks;

static int probe_walks(void)
{
	if (!kernel_walks.tried)
		probe_kernel_walk(&kernel_walks.walks, &kernel_walks.waits);
	kernel_walks.tried = true;
	return kernel_walks.walks;
}

static int probe_waiting_walks(void)
{
	probe_walks();
	return kernel_walks.waits;
}

static const char *why_no_waits(int error, char *room, size_t size)
{
	return kernel_walks.walks ? probe_walk_error(error, room, size)
				  : "the kernel has no bpf_task_work";
}

#define NO_EVENTS \
	"the kernel has no perf events (CONFIG_PERF_EVENTS), or a container's filter of " \
	"system calls forbids them"

/* clang-format off */
static const struct feature features[] = {
	{"own processes", probe_own_samples,
	 "nothing can be recorded but by 'record --in-process'",
	 "'sysctl kernel.perf_event_paranoid=2' or less, root, or CAP_PERFMON; in a container also a "
	 "filter of system calls that allows perf_event_open(2)",
	 NO_EVENTS, true, NULL},
	{"from inside", probe_inside,
	 "'record --in-process' does not work, which samples without a permission",
	 NULL, "libbobbin-sampler.so, which comes with bobbin's libraries", false, NULL},
	{"kernel part", probe_kernel_part,
	 "call chains have user code only, and time in the kernel is not sampled",
	 "'sysctl kernel.perf_event_paranoid=1' or less, root, or CAP_PERFMON", NO_EVENTS, false, NULL},
	{"all processes", probe_all_processes,
	 "only processes of the same user can be recorded",
	 "'sysctl kernel.perf_event_paranoid=0' or less, root, or CAP_PERFMON", NO_EVENTS, false, NULL},
	{"hardware counters", probe_cycles,
	 "the CPU clock is sampled instead of cycles",
	 "'sysctl kernel.perf_event_paranoid=2' or less, root, or CAP_PERFMON",
	 "a machine with counters that this kernel knows; virtual machines often have none", false, NULL},
	{"999 Hz", probe_rate,
	 "fewer samples are taken",
	 NULL, "'sysctl kernel.perf_event_max_sample_rate=100000'; the kernel lowers it when samples "
	 "take too much time", false, NULL},
	{"large buffers", probe_large_buffers,
	 "less of each stack is copied at high frequencies, so deep stacks are cut",
	 "CAP_IPC_LOCK, a higher 'ulimit -l', or a higher kernel.perf_event_mlock_kb", NO_EVENTS, false, NULL},
	{"build IDs", probe_build_ids,
	 "mapped files are identified by their paths until they are opened",
	 NULL, "Linux 5.12 or later", false, NULL},
	{"walks in the kernel", probe_walks,
	 "stacks are copied and walked in user space: the same result, but at a higher cost",
	 "root, or CAP_BPF and CAP_PERFMON",
	 "a bobbin that was built with BPF, Linux 5.17 or later with CONFIG_DEBUG_INFO_BTF, and the "
	 "first namespace of process IDs", false, probe_walk_error},
	{"walks that wait", probe_waiting_walks,
	 "stacks of which a page is not in memory are copied, as far as they are, and cut there",
	 "root, or CAP_BPF and CAP_PERFMON", "the same, and a kernel with bpf_task_work, such as 6.18", false, why_no_waits},
	{"attaching", probe_attaching,
	 "'bobbin stack' and 'bobbin maps' take the descendants of their shell at most",
	 "'sysctl kernel.yama.ptrace_scope=0', root, or CAP_SYS_PTRACE", NULL, false, NULL},
	{"names in the kernel", probe_kernel_names,
	 "functions of the kernel are shown as addresses",
	 "'sysctl kernel.kptr_restrict=0', or 1 and CAP_SYSLOG", NULL, false, NULL},
};
/* clang-format on */

#define FEATURES (features + sizeof(features) / sizeof(*features))

static const char *remedy(const struct feature *f, int error)
{
	bool forbidden = error == -EACCES || error == -EPERM;
	const char *text = forbidden ? f->permission : f->absence;

	return text ? text : forbidden ? f->absence : f->permission;
}

static void print_more(const char *label, const char *text)
{
	int column = printf("%5s%s", "", label);

	print_words(text, column, INDENT, WIDTH, stdout);
	putchar('\n');
}

static const char *reason(const struct feature *f, int error, char room[WALK_ERROR_SIZE])
{
	if (f->why)
		return f->why(error, room, WALK_ERROR_SIZE);
	return error == -ERANGE ? "not allowed" : strerror(-error);
}

static void print_feature(const struct feature *f, int error)
{
	char room[WALK_ERROR_SIZE];

	if (!error) {
		printf("yes  %s\n", f->name);
		return;
	}
	printf("no   %s: %s\n", f->name, reason(f, error, room));
	print_more("without it:", f->without);
	print_more("it takes:", remedy(f, error));
}

static void json_feature(struct json_output *json, const struct feature *f, int error)
{
	json_object(json, NULL);
	json_string(json, "name", f->name);
	json_bool(json, "works", !error);
	if (error) {
		json_number(json, "errno", -error);
		json_string(json, "without", f->without);
		json_string(json, "takes", remedy(f, error));
	}
	json_object_end(json);
}

int run_doctor(struct arguments *a)
{
	struct json_output json = json_output(stdout);
	bool able = true;

	if (a->json) {
		json_object(&json, NULL);
		json_array(&json, "features");
	}
	for (const struct feature *f = features; f < FEATURES; f++) {
		int error = f->probe();

		able &= !error || !f->needed;
		if (a->json)
			json_feature(&json, f, error);
		else
			print_feature(f, error);
	}
	if (a->json) {
		json_array_end(&json);
		json_object_end(&json);
	}
	return !finish_output() || !able;
}
