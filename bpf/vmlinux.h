/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vmlinux.h - the few types of the kernel that the programs use.
 *
 * Written by hand, so that a build does not depend on the kernel that it runs on: where the
 * members are in the running kernel is looked up in its BTF when the programs are loaded.
 */
#ifndef BOBBIN_VMLINUX_H
#define BOBBIN_VMLINUX_H

typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef unsigned long size_t;
typedef _Bool bool;
enum {
	false,
	true
};

/* core/deps.h declares its functions; the programs here do not call them */
struct bpf_iter_num {
	__u64 opaque[1];
};

/* of the user's interface, linux/bpf.h */
#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERF_EVENT_ARRAY 4
#define BPF_F_MMAPABLE (1U << 10)
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_RB_NO_WAKEUP 1
#define BPF_F_CURRENT_CPU 0xffffffffULL

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* x86-64 */
struct pt_regs {
	unsigned long bp, cs, ip, sp;
};

struct task_struct {
	unsigned int flags;
	int tgid;
	struct task_struct *real_parent;
	__u64 self_exec_id;
};

struct bpf_map {
	__u32 id;
};

#pragma clang attribute pop

/* for programs that run something when a task returns to user mode: Linux 6.18 */
struct bpf_task_work {
	__u64 __opaque;
} __attribute__((aligned(8)));

/* linux/bpf_perf_event.h; the verifier knows it, its layout is the user's interface */
struct bpf_perf_event_data {
	struct {
		unsigned long words[21];
	} regs;
	__u64 sample_period;
	__u64 addr;
};

#endif
