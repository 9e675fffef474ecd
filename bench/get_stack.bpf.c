/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own walk by frame pointers, at each sample, given out whole. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#define FRAMES 1024

struct stack {
	__u64 size, frames[FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} room SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} stacks SEC(".maps");

__u64 samples, frames;

SEC("perf_event") int get_stack(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	struct stack *s = bpf_map_lookup_elem(&room, &zero);
	long size;

	if (!s)
		return 0;
	size = bpf_get_stack(ctx, s->frames, sizeof(s->frames), 1ull << 8 /* BPF_F_USER_STACK */);
	if (size <= 0 || size > (long)sizeof(s->frames))
		return 0;
	s->size = (__u64)size;
	samples++;
	frames += (__u64)size / 8;
	bpf_ringbuf_output(&stacks, s, 8 + (__u64)size, BPF_RB_NO_WAKEUP);
	return 0;
}

char program_license[] SEC("license") = "GPL";
