/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_helpers.h - the kernel's helpers, for programs of bpf/ that are compiled as user code.
 *
 * It stands in for libbpf's header of this name.  Maps are told apart by their addresses;
 * what stands for the kernel is native_sampler.c.
 */
#ifndef BOBBIN_NATIVE_BPF_HELPERS_H
#define BOBBIN_NATIVE_BPF_HELPERS_H

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, type) type *name
#define __ksym
#define __weak

struct task_struct;

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_probe_read_user(void *room, uint32_t size, const void *from);
long bpf_copy_from_user(void *room, uint32_t size, const void *from);
long bpf_loop(uint32_t count, void *turn, void *ctx, uint64_t flags);
uint32_t bpf_get_smp_processor_id(void);
uint64_t bpf_get_current_pid_tgid(void);
uint64_t bpf_ktime_get_ns(void);
struct task_struct *bpf_get_current_task_btf(void);
long bpf_find_vma(struct task_struct *task, uint64_t addr, void *callback, void *ctx,
		  uint64_t flags);
long bpf_task_pt_regs(struct task_struct *task);
long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags);
long bpf_map_delete_elem(void *map, const void *key);
uint64_t bpf_get_current_uid_gid(void);
uint64_t bpf_get_attach_cookie(void *ctx);
long bpf_perf_event_output(void *ctx, void *map, uint64_t index, void *data, uint64_t size);
long bpf_get_stack(void *ctx, void *room, uint32_t size, uint64_t flags);
long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags);
uint64_t bpf_ringbuf_query(void *ring, uint64_t what);
void *bpf_ringbuf_reserve(void *ring, uint64_t size, uint64_t flags);
void bpf_ringbuf_submit(void *data, uint64_t flags);
void bpf_ringbuf_discard(void *data, uint64_t flags);

#endif
