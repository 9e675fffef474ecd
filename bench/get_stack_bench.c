/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * get_stack_bench HZ COMMAND… - what bpf_get_stack() costs, by kernel.bpf_stats_enabled.
 *
 * Runs a command with one thread, and prints samples, frames a sample, and nanoseconds a
 * sample and a frame in the program.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "get_stack.skel.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_event(pid_t pid, unsigned long hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = hz,
		.disabled = 1,
		.enable_on_exec = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail("perf_event_open");
	return fd;
}

/* A child that waits for a byte before it becomes the command. */
static pid_t start(char **command, int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static int drop(void *ctx, void *data, size_t size)
{
	return 0;
}

int main(int argc, char **argv)
{
	struct get_stack *bpf = get_stack__open_and_load();
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	struct ring_buffer *ring;
	int go, fd, status;
	pid_t pid;

	if (argc < 3 || !bpf)
		return 77;
	pid = start(argv + 2, &go);
	fd = open_event(pid, strtoul(argv[1], NULL, 10));
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(bpf->progs.get_stack)))
		fail("PERF_EVENT_IOC_SET_BPF");
	ring = ring_buffer__new(bpf_map__fd(bpf->maps.stacks), drop, NULL, NULL);
	if (!ring || write(go, "", 1) != 1)
		fail("start");
	while (waitpid(pid, &status, WNOHANG) == 0) {
		ring_buffer__consume(ring);
		usleep(20000);
	}
	if (bpf_obj_get_info_by_fd(bpf_program__fd(bpf->progs.get_stack), &info, &size))
		fail("bpf_obj_get_info_by_fd");
	if (!bpf->bss->samples)
		return 1;
	printf("%llu %.1f %.1f %.1f\n", (unsigned long long)bpf->bss->samples,
	       (double)bpf->bss->frames / (double)bpf->bss->samples,
	       (double)info.run_time_ns / (double)info.run_cnt,
	       (double)info.run_time_ns / (double)bpf->bss->frames);
	ring_buffer__free(ring);
	get_stack__destroy(bpf);
	return 0;
}
