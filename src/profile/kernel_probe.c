/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kernel_probe.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpfwalk/bpf_walk.h"
#include "profile/ring.h"
#include "profile/sampler.h"

/* Documentation/admin-guide/LSM/Yama.rst: nobody may attach */
#define PTRACE_NONE 3
#define PATH_SIZE 128

static struct perf_event_attr clock_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(struct perf_event_attr),
		.freq = 1,
		.sample_freq = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* A descriptor or a negative errno; @tid 0: this thread; -1: all, on the first CPU. */
static int open_event(const struct perf_event_attr *attr, pid_t tid)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, tid < 0 ? 0 : -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int try_event(const struct perf_event_attr *attr, pid_t tid)
{
	int fd = open_event(attr, tid);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int probe_own_samples(void)
{
	struct perf_event_attr attr = clock_attr();

	return try_event(&attr, 0);
}

int probe_kernel_part(void)
{
	struct perf_event_attr attr = clock_attr();

	attr.exclude_kernel = 0;
	return try_event(&attr, 0);
}

int probe_all_processes(void)
{
	struct perf_event_attr attr = clock_attr();

	return try_event(&attr, -1);
}

int probe_cycles(void)
{
	struct perf_event_attr attr = clock_attr();

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	return try_event(&attr, 0);
}

int probe_build_ids(void)
{
	struct perf_event_attr attr = clock_attr();

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.build_id = 1;
	return try_event(&attr, 0);
}

int probe_large_buffers(void)
{
	struct perf_event_attr attr = clock_attr();
	struct ring ring;
	int r, fd = open_event(&attr, 0);

	if (fd < 0)
		return fd;
	r = ring_open(fd, SAMPLER_RING_BYTES, &ring);
	if (!r)
		ring_close(&ring);
	close(fd);
	return r;
}

void probe_kernel_walk(int *walks, int *waits)
{
	struct bobbin_unwinder *unwinder;
	const struct bpf_walk_options options = {0};
	struct bpf_walk *walk = NULL;
	struct bpf_walk_stats stats;
	int r = bobbin_unwinder_open(NULL, &unwinder);

	*walks = *waits = r;
	if (r)
		return;
	r = bpf_walk_start(unwinder, &options, &walk);
	if (!r)
		r = bpf_walk_wait(walk);
	*walks = *waits = r;
	if (!r)
		bpf_walk_stats(walk, &stats);
	if (!r && !stats.waits)
		*waits = -EOPNOTSUPP;
	bpf_walk_close(walk);
	bobbin_unwinder_close(unwinder);
}

const char *probe_walk_error(int error, char *room, size_t size)
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

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !syscall(SYS_capget, &header, data) &&
	       data[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number);
}

bool kernel_setting(const char *name, int64_t *ret)
{
	char path[PATH_SIZE];
	int64_t value;
	bool read;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (!f)
		return false;
	read = fscanf(f, "%" SCNd64, &value) == 1;
	fclose(f);
	if (read)
		*ret = value;
	return read;
}

uint32_t kernel_most_samples(void)
{
	int64_t most;

	if (!kernel_setting("perf_event_max_sample_rate", &most) || most < 1 || most > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)most;
}

int probe_attaching(void)
{
	int64_t scope = 0;

	/* without Yama there is no such setting */
	kernel_setting("yama/ptrace_scope", &scope);
	if (!scope || (scope < PTRACE_NONE && has_capability(CAP_SYS_PTRACE)))
		return 0;
	return -EPERM;
}
