/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find the page of another process and copy its memory.
 */
#include "codemap/page_copy.h"

#include <errno.h>
#include <string.h>

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

void page_copy_init(const struct remote_process *process, struct page_copy *ret)
{
	*ret = (struct page_copy){.process = *process};
}

/* The kernel's word for memory without a file that has the page's name. */
static bool is_page_name(const char *name)
{
	return !strcmp(name, "/memfd:" BOBBIN_CODE_PAGE_NAME " (deleted)") ||
	       !strcmp(name, "[anon:" BOBBIN_CODE_PAGE_NAME "]");
}

bool page_copy_may_be(const struct proc_map *map)
{
	return map->read && is_page_name(map->path);
}

/* Whether it is of no use to look on. */
static bool is_hopeless(int error)
{
	return error == -EPERM || error == -ESRCH || error == -ETIMEDOUT;
}

/* A search for the page among the mappings: others may have a name like it. */
struct page_search {
	struct page_copy *code;
	const struct bobbin_mem *mem;
	int found; /* 0, or why not */
};

static int try_mapping(void *ctx, const struct proc_map *map)
{
	struct page_search *s = ctx;
	const struct process_bytes *bytes = s->mem->ctx;
	int r;

	if (!page_copy_may_be(map))
		return 0;
	r = page_copy_probe(map->start, s->mem);
	if (!r)
		s->code->page = map->start;
	if (r != -EFAULT)
		s->found = r;
	else if (bytes->error != -EFAULT)
		s->found = bytes->error;
	return !s->found || is_hopeless(s->found);
}

static int find_page(struct page_copy *code, const struct bobbin_mem *mem)
{
	struct page_search s = {code, mem, -ENOENT};
	int r = proc_maps_read(&code->process, try_mapping, &s);

	return r < 0 && s.found == -ENOENT ? r : s.found;
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
