/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "profile/kernel_walk.h"

const char *kernel_walk_error(int error, char *room, size_t size)
{
	struct utsname system = {0};

	if (error == -ENOSYS)
		return "this bobbin was built without BPF";
	if (error == -ENXIO)
		return "not in a process-ID namespace of its own";
	if (error == -EPERM)
		return "the kernel does not allow it: run as root, or give bobbin CAP_BPF and "
		       "CAP_PERFMON";
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF, see CONFIG_DEBUG_INFO_BTF";
	/* -EACCES is from the verifier */
	uname(&system);
	snprintf(room, size, "Linux %s does not load the program, which needs 5.17 or newer: %s",
		 system.release, strerror(-error));
	return room;
}
