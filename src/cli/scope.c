/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup_files.h"
#include "base/vector.h"
#include "cli/command.h"

/* A number at the start of @at, which moves behind it; false: there is none that a CPU can have. */
static bool take_cpu(const char **at, unsigned int *ret)
{
	size_t length = strspn(*at, "0123456789");
	unsigned long value = strtoul(*at, NULL, 10);

	if (!length || value >= SAMPLER_CPUS)
		return false;
	*at += length;
	*ret = (unsigned int)value;
	return true;
}

static bool take_range(struct cpu_choice *cpus, const char **at)
{
	unsigned int first, last;

	if (!take_cpu(at, &first))
		return false;
	last = first;
	if (**at == '-' && (++*at, !take_cpu(at, &last) || last < first))
		return false;
	for (; first <= last; first++)
		cpus->bits[first / 64] |= 1ull << first % 64;
	return true;
}

static bool are_there(const struct cpu_choice *cpus, const char *option)
{
	for (long cpu = sysconf(_SC_NPROCESSORS_CONF); cpu < SAMPLER_CPUS; cpu++) {
		if (!cpu_choice_has(cpus, (unsigned int)cpu))
			continue;
		complain_use("%s: this machine has no CPU %ld", option, cpu);
		return false;
	}
	return true;
}

bool scope_parse_cpus(struct scope *scope, const char *option, const char *list)
{
	const char *at = list;

	scope->cpus.some = true;
	while (take_range(&scope->cpus, &at)) {
		if (!*at)
			return are_there(&scope->cpus, option);
		if (*at++ != ',')
			break;
	}
	complain_use("%s: '%s' is not a list of CPUs, such as 0,2-3", option, list);
	return false;
}

bool scope_parse_user(struct scope *scope, const char *option, const char *user)
{
	const struct passwd *entry = getpwnam(user);
	uint64_t number = 0;

	if (entry) {
		number = entry->pw_uid;
	} else if (!*user || user[strspn(user, "0123456789")]) {
		complain_use("%s: there is no user '%s'", option, user);
		return false;
	} else if (!parse_number(option, user, 0, UINT32_MAX - 1, &number)) {
		return false;
	}
	scope->by_user = true;
	scope->user = (uint32_t)number;
	return true;
}

/* The real paths of the cgroups. */
struct cgroup_paths {
	char mount[PATH_MAX];
	char **paths;
	size_t count, capacity;
};

static int find_cgroup(struct cgroup_paths *found, const char *name)
{
	char *path, *real;

	if (asprintf(&path, "%s/%s", found->mount, cgroup_name(MOUNTS_FILE, name)) < 0)
		path = NULL;
	real = path ? realpath(path, NULL) : NULL;
	if (!real || !folder_is_within(real, found->mount)) {
		complain("cgroup '%s': no such folder below %s", name, found->mount);
		free(path);
		free(real);
		return 1;
	}
	free(path);
	if (!vector_push(found->paths, found->count, found->capacity, real))
		return 0;
	free(real);
	complain("%s", strerror(ENOMEM));
	return 1;
}

static int find_all(struct cgroup_paths *found, const char *list)
{
	char *names = strdup(list), *rest = names, *name;
	int r = 0;

	while (!r && (name = strsep(&rest, ",")))
		r = find_cgroup(found, name);
	free(names);
	return r;
}

/* A cgroup has what is below it, too: nothing is to be sampled twice. */
static bool is_covered(const struct cgroup_paths *found, size_t i)
{
	for (size_t k = 0; k < found->count; k++) {
		if (k == i || !folder_is_within(found->paths[i], found->paths[k]))
			continue;
		if (k < i || !folder_is_within(found->paths[k], found->paths[i]))
			return true;
	}
	return false;
}

static int open_cgroups(struct scope *scope, const struct cgroup_paths *found)
{
	scope->cgroups = calloc(found->count, sizeof(*scope->cgroups));
	if (!scope->cgroups) {
		complain("%s", strerror(ENOMEM));
		return 1;
	}
	for (size_t i = 0; i < found->count; i++) {
		int fd;

		if (is_covered(found, i))
			continue;
		fd = open(found->paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			complain_file(found->paths[i], -errno, NULL);
			return 1;
		}
		scope->cgroups[scope->cgroup_count++] = fd;
	}
	return 0;
}

int scope_open(struct scope *scope)
{
	struct cgroup_paths found = {0};
	int r;

	if (!scope->cgroup_names)
		return 0;
	if (!cgroup_events_mount(MOUNTS_FILE, found.mount)) {
		complain("no cgroups are mounted here");
		return 1;
	}
	r = find_all(&found, scope->cgroup_names);
	if (!r)
		r = open_cgroups(scope, &found);
	for (size_t i = 0; i < found.count; i++)
		free(found.paths[i]);
	free(found.paths);
	return r;
}

void scope_close(struct scope *scope)
{
	for (size_t i = 0; i < scope->cgroup_count; i++)
		close(scope->cgroups[i]);
	free(scope->cgroups);
	free(scope->cgroup_names);
	scope->cgroups = NULL;
	scope->cgroup_names = NULL;
	scope->cgroup_count = 0;
}
