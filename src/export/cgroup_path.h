/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_path.h - what the path of a cgroup says of who runs there.
 *
 *	/system.slice/nginx.service			a unit of systemd
 *	/docker/ID, …/docker-ID.scope			a container: of Docker,
 *	…/libpod-ID.scope/container, …/crio-ID.scope	of Podman, of CRI-O,
 *	/kubepods/burstable/podUID/ID			and one of a pod of Kubernetes
 *
 * Paths may be anything.
 */
#ifndef BOBBIN_EXPORT_CGROUP_PATH_H
#define BOBBIN_EXPORT_CGROUP_PATH_H

#include <stdbool.h>

/* With the terminator; names of folders have 255 characters at most. */
#define CGROUP_CONTAINER_SIZE 65
#define CGROUP_POD_SIZE 37
#define CGROUP_UNIT_SIZE 256

/* The ID of the innermost container, 64 hexadecimal digits.  false: it says none. */
bool cgroup_container(const char *path, char ret[CGROUP_CONTAINER_SIZE]);

/* The UID of the innermost pod, with dashes, as Kubernetes spells it.  false: it says none. */
bool cgroup_pod(const char *path, char ret[CGROUP_POD_SIZE]);

/*
 * The innermost unit of systemd, "nginx.service" or "session-1.scope"; in a container, one that runs
 * in it.  A scope that is only a container is none: its name is another one each time.  false: it
 * says none.
 */
bool cgroup_unit(const char *path, char ret[CGROUP_UNIT_SIZE]);

#endif
