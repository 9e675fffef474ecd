/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_memory.h - where a walk reads the stack: a copy of its top, or another process.
 */
#ifndef BOBBIN_STACK_MEMORY_H
#define BOBBIN_STACK_MEMORY_H

#include <bobbin/step.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bobbin_unwinder;

/**
 * struct bobbin_stack_copy - a copy of the top of a stack, as samples carry it
 * @addr: of the first byte, the stack pointer
 * @data, @size: the bytes, borrowed
 */
struct bobbin_stack_copy {
	uint64_t addr;
	const uint8_t *data;
	size_t size;
};

/**
 * bobbin_stack_copy_read() - read function of struct bobbin_mem
 * @ctx: struct bobbin_stack_copy
 * @addr, @dst, @len: as in struct bobbin_mem
 *
 * Return: BOBBIN_REASON_NONE; BOBBIN_REASON_STACK_END above the copy; BOBBIN_REASON_NO_MEMORY
 * elsewhere.  Safe in every context.
 */
enum bobbin_reason bobbin_stack_copy_read(void *ctx, uint64_t addr, void *dst, size_t len);

/**
 * struct bobbin_process_memory - another process's memory, read by the page
 * @pid, @reader: private
 *
 * Set up with bobbin_process_memory_init() or bobbin_unwinder_process_memory(); nothing to
 * give back.
 */
struct bobbin_process_memory {
	int pid;
	uint32_t next;
	void *reader;
	struct {
		uint64_t addr;
		uint32_t size;
		uint8_t bytes[4096];
	} pages[4];
};

/**
 * bobbin_process_memory_init() - start with nothing read
 * @memory: storage of the caller
 * @pid: the process; the own one is fine
 */
void bobbin_process_memory_init(struct bobbin_process_memory *memory, int pid);

/**
 * bobbin_unwinder_process_memory() - the same, within the unwinder's deadline
 * @unwinder: must live as long as @memory is read
 * @pid: the process
 * @memory: storage of the caller
 */
void bobbin_unwinder_process_memory(struct bobbin_unwinder *unwinder, int pid,
				    struct bobbin_process_memory *memory);

/**
 * bobbin_process_memory_read() - read function of struct bobbin_mem
 * @ctx: struct bobbin_process_memory
 * @addr, @dst, @len: as in struct bobbin_mem
 *
 * Keeps the last four pages: set @ctx up again when the process has run.
 * process_vm_readv(2); no allocation.  It waits for whoever fills the page, which may be
 * the process itself, and cannot be interrupted: see bobbin_unwinder_process_memory().
 *
 * Return: BOBBIN_REASON_NONE, BOBBIN_REASON_NO_MEMORY or BOBBIN_REASON_NO_ANSWER.
 */
enum bobbin_reason bobbin_process_memory_read(void *ctx, uint64_t addr, void *dst, size_t len);

#ifdef __cplusplus
}
#endif

#endif
