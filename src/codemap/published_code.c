/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find the page of another process and copy its memory.
 */
#include "codemap/published_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Reader for struct bobbin_mem; keeps the errno of the last failure. */
struct process_bytes {
	int pid;
	int error;
};

static int copy_process(int pid, uint64_t addr, void *dst, size_t size)
{
	uint8_t *out = dst;

	while (size) {
		struct iovec local = {out, size}, remote = {(void *)(uintptr_t)addr, size};
		ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		if (n <= 0)
			return n ? -errno : -EFAULT;
		out += n;
		addr += (size_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static enum bobbin_reason read_process(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct process_bytes *bytes = ctx;
	int r = copy_process(bytes->pid, addr, dst, len);

	if (!r)
		return BOBBIN_NONE;
	bytes->error = r;
	return BOBBIN_NO_MEMORY;
}

int published_code_read(const struct published_code *code, uint64_t addr, void *dst, size_t size)
{
	return copy_process(code->pid, addr, dst, size);
}

void published_code_init(int pid, struct published_code *ret)
{
	*ret = (struct published_code){.pid = pid};
}

static int open_maps(int pid, FILE **ret)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	*ret = fopen(name, "re");
	if (*ret)
		return 0;
	if (errno == ENOENT)
		return -ESRCH;
	return errno == EACCES ? -EPERM : -errno;
}

/* A readable mapping of the page's name: others may have one like it. */
static bool is_candidate(const char *line, uint64_t *addr)
{
	char read;

	return strstr(line, BOBBIN_CODE_PAGE_NAME) &&
	       sscanf(line, "%" SCNx64 "-%*x %c", addr, &read) == 2 && read == 'r';
}

static int find_page(struct published_code *code, const struct bobbin_mem *mem)
{
	struct process_bytes *bytes = mem->ctx;
	size_t room = 0;
	char *line = NULL;
	uint64_t addr;
	FILE *maps;
	int r = open_maps(code->pid, &maps), found = -ENOENT;

	if (r)
		return r;
	while (found && found != -EPERM && found != -ESRCH && getline(&line, &room, maps) > 0) {
		if (!is_candidate(line, &addr))
			continue;
		r = published_code_probe(addr, mem);
		if (!r)
			code->page = addr;
		if (r != -EFAULT)
			found = r;
		else if (bytes->error != -EFAULT)
			found = bytes->error;
	}
	/* the kernel checks when it reads, too */
	if (found == -ENOENT && ferror(maps))
		found = errno == EACCES || errno == EPERM ? -EPERM : -EIO;
	free(line);
	fclose(maps);
	return found;
}

/* The page has gone: exec, or it was taken away.  1: something has gone with it. */
static int lose_page(struct published_code *code)
{
	bool had = code->count;

	published_code_fini(code);
	published_code_init(code->pid, code);
	return had;
}

int published_code_update(struct published_code *code)
{
	struct process_bytes bytes = {.pid = code->pid};
	struct bobbin_mem mem = {.read = read_process, .ctx = &bytes};
	int lost = 0, r;

	if (code->page) {
		r = published_code_parse(code, &mem);
		if (r != -EFAULT && r != -EBADMSG)
			return r;
		if (r == -EFAULT && bytes.error != -EFAULT)
			return bytes.error;
		lost = lose_page(code);
	}
	r = find_page(code, &mem);
	if (!r)
		r = published_code_parse(code, &mem);
	if (r == -EFAULT && bytes.error)
		r = bytes.error;
	return lost && r <= 0 && r != -EAGAIN ? 1 : r;
}
