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
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_F_NO_PREALLOC (1U << 0)
#define BPF_F_MMAPABLE (1U << 10)
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_FORCE_WAKEUP 2
#define BPF_RB_AVAIL_DATA 0
#define BPF_ANY 0
#define BPF_NOEXIST 1

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* x86-64 */
struct pt_regs {
	unsigned long bp, cs, ip, sp;
};

struct signal_struct {
	struct {
		int counter;
	} live;
};

/* x86-64 */
struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	unsigned int flags;
	int pid, tgid, exit_state;
	struct task_struct *real_parent;
	__u64 self_exec_id;
	struct signal_struct *signal;
	struct thread_struct thread;
};

struct super_block {
	unsigned int s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
};

struct file {
	struct inode *f_inode;
};

/* x86-64 */
struct mm_struct {
	struct {
		void *vdso;
	} context;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

struct bpf_map {
	__u32 id;
};

struct perf_sample_data {
	__u64 sample_flags, time;
};

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
};

#pragma clang attribute pop

/* for programs that run something when a task returns to user mode: Linux 6.18 */
struct bpf_task_work {
	__u64 __opaque;
} __attribute__((aligned(8)));

/* over the mappings of a task: Linux 6.7 */
struct bpf_iter_task_vma {
	__u64 __opaque[1];
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
