/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scope.h - the part of the machine that record samples: CPUs, cgroups, a user.
 */
#ifndef BOBBIN_CLI_SCOPE_H
#define BOBBIN_CLI_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/sampler.h"

struct scope {
	struct cpu_choice cpus;
	char *cgroup_names; /* a list, or NULL */
	int *cgroups;       /* their folders */
	size_t cgroup_count;
	bool by_user;
	uint32_t user;
};

/* Take the argument of -C, a list of numbers and ranges, "0,2-3".  false after a complaint. */
bool scope_parse_cpus(struct scope *scope, const char *option, const char *list);

/* Take the argument of --user, a number or a name.  false after a complaint. */
bool scope_parse_user(struct scope *scope, const char *option, const char *user);

/* Find the cgroups, if there are any.  0, or an exit status after a complaint. */
int scope_open(struct scope *scope);
void scope_close(struct scope *scope);

#endif
