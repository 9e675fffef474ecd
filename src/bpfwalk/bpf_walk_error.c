/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpfwalk/bpf_walk.h"

const char *bpf_walk_error(int error, char *room, size_t size)
{
	struct utsname system = {0};

	if (error == -ENOSYS)
		return "this bobbin was built without BPF";
	if (error == -ENXIO)
		return "does not work inside a process-ID namespace (container)";
	if (error == -EPERM)
		return "the kernel does not allow it: run as root, or give bobbin CAP_BPF and "
		       "CAP_PERFMON";
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF, see CONFIG_DEBUG_INFO_BTF";
	if (error == -E2BIG)
		return "the kernel's verifier gave up: the program is too long for it";
	/* -EACCES is from the verifier */
	uname(&system);
	snprintf(room, size, "Linux %s does not load the program, which needs 5.17 or newer: %s",
		 system.release, strerror(-error));
	return room;
}
