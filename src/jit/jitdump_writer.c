/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump_writer.c - functions with their bytes and the time, for perf inject.
 *
 * perf learns of the file by an executable mapping of it, which serves nothing else.
 */
#include <bobbin/jit_names.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_range.h"
#include "base/jitdump_format.h"
#include "core/deps.h"
#include "jit/names_file.h"

#define MAX_CODE (1u << 30) /* of a record, whose size has 32 bits */

struct bobbin_jitdump {
	int fd;
	pid_t pid;
	void *marker;
	size_t marker_size;
	pthread_mutex_t lock; /* for what follows, and the file */
	off_t size;
	uint64_t index;
};

/*
 * All of it or nothing: half a record would spoil those after it.  Times are those of
 * perf record -k 1.
 */
static int append(struct bobbin_jitdump *dump, const void *head, size_t head_size, const void *code,
		  size_t code_size)
{
	int status = file_append(dump->fd, head, head_size);

	if (!status)
		status = file_append(dump->fd, code, code_size);
	if (!status)
		dump->size += (off_t)(head_size + code_size);
	else if (ftruncate(dump->fd, dump->size))
		return -EIO;
	return status;
}

static int append_header(struct bobbin_jitdump *dump, const struct bobbin_arch *arch)
{
	struct jitdump_header header = {
		.magic = JITDUMP_MAGIC,
		.version = JITDUMP_VERSION,
		.total_size = sizeof(header),
		.elf_machine = arch->elf_machine,
		.pid = (uint32_t)dump->pid,
		.timestamp = clock_now(),
	};

	return append(dump, &header, sizeof(header), NULL, 0);
}

/* The mapping by which perf finds the file. */
static int map_marker(struct bobbin_jitdump *dump)
{
	dump->marker_size = (size_t)sysconf(_SC_PAGESIZE);
	dump->marker = mmap(NULL, dump->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump->fd,
			    0);
	return dump->marker == MAP_FAILED ? -errno : 0;
}

BOBBIN_API int bobbin_jitdump_open(const char *directory, const struct bobbin_arch *arch,
				   struct bobbin_jitdump **ret)
{
	const char *folder = directory ? directory : ".";
	struct bobbin_jitdump *dump = calloc(1, sizeof(*dump));
	char name[32];
	int status;

	if (!dump)
		return -ENOMEM;
	dump->pid = getpid();
	snprintf(name, sizeof(name), "jit-%d.dump", (int)dump->pid);
	dump->fd = names_file_open(folder, name, NAMES_FILE_OWN);
	if (dump->fd < 0) {
		status = dump->fd;
		free(dump);
		return status;
	}
	status = append_header(dump, arch);
	if (!status)
		status = map_marker(dump);
	if (status) {
		names_file_remove(folder, name);
		close(dump->fd);
		free(dump);
		return status;
	}
	pthread_mutex_init(&dump->lock, NULL);
	*ret = dump;
	return 0;
}

static int append_code(struct bobbin_jitdump *dump, const void *start, uint64_t size,
		       const char *name, size_t name_size)
{
	struct jitdump_load load = {
		.prefix = {.id = JITDUMP_LOAD, .timestamp = clock_now()},
		.pid = (uint32_t)dump->pid,
		.tid = (uint32_t)syscall(SYS_gettid),
		.vma = (uintptr_t)start,
		.code_addr = (uintptr_t)start,
		.code_size = size,
		.code_index = dump->index,
	};
	char head[sizeof(load) + NAMES_MAX_NAME + 1];
	size_t head_size = sizeof(load) + name_size + 1;
	int status;

	load.prefix.total_size = (uint32_t)(head_size + size);
	memcpy(head, &load, sizeof(load));
	memcpy(head + sizeof(load), name, name_size);
	head[head_size - 1] = '\0';
	status = append(dump, head, head_size, start, size);
	dump->index += !status;
	return status;
}

BOBBIN_API int bobbin_jitdump_add(struct bobbin_jitdump *dump, const void *start, uint64_t size,
				  const char *name)
{
	int status;

	if (!name || !*name || !size || (uintptr_t)start + size < size)
		return -EINVAL;
	if (size > MAX_CODE)
		return -E2BIG;
	if (getpid() != dump->pid)
		return -ECHILD;
	pthread_mutex_lock(&dump->lock);
	status = append_code(dump, start, size, name, strnlen(name, NAMES_MAX_NAME));
	pthread_mutex_unlock(&dump->lock);
	return status;
}

BOBBIN_API int bobbin_jitdump_close(struct bobbin_jitdump *dump)
{
	int status = 0;

	if (!dump)
		return 0;
	if (getpid() == dump->pid) {
		struct jitdump_prefix close_record = {JITDUMP_CLOSE, sizeof(close_record),
						      clock_now()};

		status = append(dump, &close_record, sizeof(close_record), NULL, 0);
	}
	munmap(dump->marker, dump->marker_size);
	close(dump->fd);
	pthread_mutex_destroy(&dump->lock);
	free(dump);
	return status;
}
