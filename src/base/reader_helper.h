/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader_helper.h - what the child process of a process_reader does.
 *
 * A request is a struct helper_request on the socket, with its ranges or its path in the
 * shared memory; the reply is a struct helper_reply, with a descriptor if there is one.
 */
#ifndef BOBBIN_BASE_READER_HELPER_H
#define BOBBIN_BASE_READER_HELPER_H

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define HELPER_RANGES 1024
#define HELPER_BYTES (1u << 20)

enum helper_job {
	HELPER_READ, /* @count ranges, in order; what is read stands in @data one by one */
	HELPER_OPEN, /* @path, with @flags */
	HELPER_STAT, /* @path */
	HELPER_TEXT, /* a copy of @path */
};

struct helper_request {
	enum helper_job job;
	pid_t pid;
	uint32_t count;
	int flags;
};

struct helper_reply {
	int error;
	uint64_t waited_us; /* for others than us, not for a processor */
	struct stat st;
};

struct helper_range {
	uint64_t addr;
	uint32_t size;
	int error; /* out */
};

struct helper_memory {
	union {
		struct helper_range ranges[HELPER_RANGES];
		char path[PATH_MAX];
	};
	uint8_t data[HELPER_BYTES];
};

/* process_vm_readv(2) of the whole range, through any thread that lives: 0, -EFAULT, -ESRCH, -EPERM. */
int read_remotely(pid_t pid, uint64_t addr, void *dst, size_t size);

/* The time, in microseconds. */
uint64_t reader_clock_us(void);

/* Serve until the other end of @socket is closed. */
void reader_helper_run(int socket, struct helper_memory *memory) __attribute__((noreturn));

#endif
