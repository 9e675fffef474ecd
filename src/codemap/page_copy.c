/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find the page of another process and copy its memory.
 */
#include "codemap/page_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reader for struct bobbin_mem; keeps the errno of the last failure. */
struct process_bytes {
	struct remote_process process;
	int error;
};

static enum bobbin_reason read_process(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct process_bytes *bytes = ctx;
	int r = process_read(&bytes->process, addr, dst, len);

	if (!r)
		return BOBBIN_REASON_NONE;
	bytes->error = r;
	return BOBBIN_REASON_NO_MEMORY;
}

int page_copy_read(const struct page_copy *code, uint64_t addr, void *dst, size_t size)
{
	return process_read(&code->process, addr, dst, size);
}

void page_copy_init(const struct remote_process *process, struct page_copy *ret)
{
	*ret = (struct page_copy){.process = *process};
}

static int open_maps(const struct remote_process *process, FILE **ret)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/maps", process->pid);
	fd = process_text_open(process, name);
	if (fd < 0 && fd != -ENOENT)
		return fd == -EACCES ? -EPERM : fd;
	*ret = fd < 0 ? NULL : fdopen(fd, "r");
	if (*ret)
		return 0;
	if (fd < 0)
		return -ESRCH;
	close(fd);
	return -ENOMEM;
}

/* The kernel's word for memory without a file that has the page's name. */
static bool is_page_name(const char *name)
{
	return !strcmp(name, "/memfd:" BOBBIN_CODE_PAGE_NAME " (deleted)") ||
	       !strcmp(name, "[anon:" BOBBIN_CODE_PAGE_NAME "]");
}

/* A readable mapping of the page's name: others may have one like it. */
static bool is_candidate(char *line, uint64_t *addr)
{
	int name = 0;
	char read;

	line[strcspn(line, "\n")] = 0;
	return sscanf(line, "%" SCNx64 "-%*x %c%*3c %*x %*x:%*x %*u %n", addr, &read, &name) == 2 &&
	       name && read == 'r' && is_page_name(line + name);
}

/* Whether it is of no use to look on. */
static bool is_hopeless(int error)
{
	return error == -EPERM || error == -ESRCH || error == -ETIMEDOUT;
}

static int find_page(struct page_copy *code, const struct bobbin_mem *mem)
{
	struct process_bytes *bytes = mem->ctx;
	size_t room = 0;
	char *line = NULL;
	uint64_t addr;
	FILE *maps;
	int r = open_maps(&code->process, &maps), found = -ENOENT;

	if (r)
		return r;
	while (found && !is_hopeless(found) && getline(&line, &room, maps) > 0) {
		if (!is_candidate(line, &addr))
			continue;
		r = page_copy_probe(addr, mem);
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
static int lose_page(struct page_copy *code)
{
	const struct remote_process process = code->process;
	const uint64_t limit = code->limit;
	bool had = code->count;

	page_copy_fini(code);
	page_copy_init(&process, code);
	code->limit = limit;
	return had;
}

bool page_copy_is_same(const struct page_copy *code, const struct remote_process *process)
{
	struct process_bytes bytes = {.process = *process};
	struct bobbin_mem mem = {.read = read_process, .ctx = &bytes};

	return code->page && page_copy_unchanged(code, &mem);
}

int page_copy_update(struct page_copy *code)
{
	struct process_bytes bytes = {.process = code->process};
	struct bobbin_mem mem = {.read = read_process, .ctx = &bytes};
	int lost = 0, r;

	if (code->page) {
		r = page_copy_parse(code, &mem, &code->process);
		if (r != -EFAULT && r != -EBADMSG)
			return r;
		if (r == -EFAULT && bytes.error != -EFAULT)
			return bytes.error;
		lost = lose_page(code);
	}
	r = find_page(code, &mem);
	if (!r)
		r = page_copy_parse(code, &mem, &code->process);
	if (r == -EFAULT && bytes.error)
		r = bytes.error;
	return lost && r <= 0 && r != -EAGAIN ? 1 : r;
}
