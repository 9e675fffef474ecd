/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments and tables are read before the registry's lock is taken: a file that is
 * slow to read keeps no fork waiting.
 */
#include <bobbin/codectl.h>

#include <errno.h>

#include "codemap/code_checks.h"
#include "codemap/elf_request.h"
#include "codemap/own_registry.h"
#include "codemap/struct_copy.h"
#include "core/deps.h"

#define WEAK __attribute__((weak))
#define KIND(kind) (1u << (kind))

/* What a caller gets beyond the return value: @ret is touched if it says something. */
static int tell(int r, enum bobbin_code_place place, const struct bobbin_error *err,
		struct bobbin_code_result *ret)
{
	if (!ret)
		return r;
	if (!r)
		*ret = (struct bobbin_code_result){.place = place};
	else if (r == -EBADMSG)
		ret->error = *err;
	return r;
}

/* A section in the caller's memory: starts are relative to where it is. */
static int open_section(struct code_request *request, struct bobbin_error *err)
{
	uint64_t start = request->table, end = start + request->table_size;
	int r = check_readable(start, end);

	if (r)
		return r;
	return check_section((const void *)(uintptr_t)start, request->table_size, start,
			     request->ranges, request->count, err, &request->sframe);
}

/* @in_memory: the section is where @request->table says, and not opened yet. */
static int insert(struct registry *registry, struct code_request *request, bool in_memory,
		  struct bobbin_code_result *ret)
{
	enum bobbin_code_place place = BOBBIN_CODE_IN_PROCESS;
	struct bobbin_error err = {0};
	int r = in_memory ? open_section(request, &err) : 0;

	if (r)
		return tell(r, place, &err, ret);
	registry_lock(registry);
	r = check_text(registry_mappings(registry), request->ranges, request->count);
	if (!r)
		r = registry_insert(registry, request, &place);
	registry_unlock(registry);
	return tell(r, place, &err, ret);
}

static int register_elf(struct registry *registry, const void *from, size_t size,
			struct bobbin_code_result *ret)
{
	struct bobbin_error err = {0};
	struct code_elf_info info;
	struct elf_request e;
	int r = struct_copy(&info, sizeof(info), from, size);

	if (r)
		return r;
	r = elf_request_init(&info, &err, &e);
	if (r)
		r = tell(r, BOBBIN_CODE_IN_PROCESS, &err, ret);
	else
		r = insert(registry, &e.request, info.sframe_start != 0, ret);
	if (!r)
		elf_request_registered(&e);
	elf_request_fini(&e);
	return r;
}

static int register_jit(struct registry *registry, const void *from, size_t size,
			struct bobbin_code_result *ret)
{
	struct code_text_range text;
	struct code_request request;
	struct bobbin_error err = {0};
	struct code_jit_info info;
	int r = struct_copy(&info, sizeof(info), from, size);

	if (r)
		return r;
	text = (struct code_text_range){info.text_start, info.text_end};
	request = (struct code_request){.kind = CODE_JIT,
					.key = info.unwind_head,
					.ranges = &text,
					.count = 1,
					.table = info.unwind_head};
	r = check_ranges(&text, 1);
	if (!r)
		r = check_jit_head(&info, &err);
	if (r)
		return tell(r, BOBBIN_CODE_IN_PROCESS, &err, ret);
	return insert(registry, &request, false, ret);
}

/* 0, -ENOENT, or why it is no such structure. */
static int unregister_jit(struct registry *registry, const void *from, size_t size)
{
	struct code_jit_info info;
	int r = struct_copy(&info, sizeof(info), from, size);

	if (r)
		return r;
	if (!info.text_end)
		return -EINVAL;
	return registry_unregister(registry,
				   &(struct code_match){.key = info.unwind_head,
							.kinds = KIND(CODE_JIT),
							.table = info.unwind_head,
							.text = {info.text_start, info.text_end}});
}

static int unregister_elf(struct registry *registry, const void *from, size_t size)
{
	struct code_elf_info info;
	int r = struct_copy(&info, sizeof(info), from, size);

	if (r)
		return r;
	if (!info.text_end)
		return -EINVAL;
	return registry_unregister(
		registry, &(struct code_match){.key = elf_request_key(&info),
					       .kinds = KIND(CODE_SECTION) | KIND(CODE_NAMED),
					       .table = info.sframe_start,
					       .text = {info.text_start, info.text_end}});
}

/*
 * The structure does not say which it is, but both begin with addresses: it is the
 * one by which something was registered.  One that is no JIT's is -E2BIG as such.
 */
static int unregister(struct registry *registry, const void *info, size_t size)
{
	int as_jit = unregister_jit(registry, info, size), r;

	if (as_jit != -ENOENT && as_jit != -E2BIG && as_jit != -EINVAL)
		return as_jit;
	r = unregister_elf(registry, info, size);
	return r == -EINVAL && as_jit == -ENOENT ? as_jit : r;
}

int code_calls_codectl(struct registry *registry, unsigned int option, const void *info,
		       size_t info_size, unsigned int flags, struct bobbin_code_result *ret)
{
	int r;

	if (flags)
		return -EINVAL;
	switch (option) {
	case CODE_REGISTER_ELF:
		return register_elf(registry, info, info_size, ret);
	case CODE_REGISTER_JIT:
		return register_jit(registry, info, info_size, ret);
	case CODE_UNREGISTER:
		r = unregister(registry, info, info_size);
		return tell(r, BOBBIN_CODE_IN_PROCESS, &(struct bobbin_error){0}, ret);
	default:
		return -EINVAL;
	}
}

static int register_section(struct registry *registry, struct code_text_range text, uint64_t start,
			    uint64_t size, struct bobbin_code_result *ret)
{
	struct code_request request = {.kind = CODE_SECTION,
				       .key = start,
				       .ranges = &text,
				       .count = 1,
				       .table = start,
				       .table_size = size};
	int r = check_ranges(&text, 1);

	return r ? r : insert(registry, &request, true, ret);
}

static int unregister_section(struct registry *registry, uint64_t start)
{
	if (!start)
		return -EINVAL;
	return registry_unregister(
		registry,
		&(struct code_match){.key = start, .kinds = KIND(CODE_SECTION), .table = start});
}

int code_calls_register(struct registry *registry, const struct sframe_setup *from, size_t size,
			struct bobbin_code_result *ret)
{
	struct sframe_setup setup;
	int r = struct_copy(&setup, sizeof(setup), from, size);

	if (r)
		return r;
	if (setup.flags)
		return -EINVAL;
	return register_section(
		registry,
		(struct code_text_range){setup.text_start, setup.text_start + setup.text_size},
		setup.sframe_start, setup.sframe_size, ret);
}

int code_calls_unregister(struct registry *registry, const struct sframe_setup *from, size_t size)
{
	struct sframe_setup setup;
	int r = struct_copy(&setup, sizeof(setup), from, size);

	if (r)
		return r;
	if (setup.sframe_size || setup.text_start || setup.text_size || setup.flags)
		return -EINVAL;
	return unregister_section(registry, setup.sframe_start);
}

int code_calls_prctl(struct registry *registry, int option, unsigned long arg2, unsigned long arg3,
		     unsigned long arg4, unsigned long arg5)
{
	switch (option) {
	case BOBBIN_PR_ADD_SFRAME:
		return register_section(registry, (struct code_text_range){arg4, arg5}, arg2,
					arg3 - arg2, NULL);
	case BOBBIN_PR_REMOVE_SFRAME:
		if (arg3 || arg4 || arg5)
			return -EINVAL;
		return unregister_section(registry, arg2);
	default:
		return -EINVAL;
	}
}

BOBBIN_API int bobbin_codectl(unsigned int option, const void *info, size_t info_size,
			      unsigned int flags, struct bobbin_code_result *ret)
{
	struct registry *registry;
	int r = own_registry_open(&registry);

	return r ? r : code_calls_codectl(registry, option, info, info_size, flags, ret);
}

BOBBIN_API int bobbin_sframe_register(const struct sframe_setup *setup, size_t size,
				      struct bobbin_code_result *ret)
{
	struct registry *registry;
	int r = own_registry_open(&registry);

	return r ? r : code_calls_register(registry, setup, size, ret);
}

BOBBIN_API int bobbin_sframe_unregister(const struct sframe_setup *setup, size_t size)
{
	struct registry *registry;
	int r = own_registry_open(&registry);

	return r ? r : code_calls_unregister(registry, setup, size);
}

BOBBIN_API int bobbin_prctl(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4,
			    unsigned long arg5)
{
	struct registry *registry;
	int r = own_registry_open(&registry);

	return r ? r : code_calls_prctl(registry, option, arg2, arg3, arg4, arg5);
}

BOBBIN_API int bobbin_code_dropped(uint64_t addr, struct bobbin_error *ret)
{
	struct registry *registry = own_registry();
	struct code_map *map = registry ? registry_map(registry) : NULL;
	const struct code *code;
	uint64_t dropped = 0;
	unsigned int token;

	if (!map)
		return -ENOENT;
	token = read_enter(code_map_readers(map));
	code = code_map_find(map, addr, NULL);
	if (code)
		dropped = atomic_load(&code->dropped);
	read_leave(code_map_readers(map), token);
	if (!code)
		return -ENOENT;
	if (!dropped)
		return 0;
	*ret = dropped_error(dropped);
	return 1;
}

/* As the C library says it. */
static int with_errno(int r)
{
	if (!r)
		return 0;
	errno = -r;
	return -1;
}

BOBBIN_API WEAK int codectl(unsigned int option, void *info, size_t info_size, unsigned int flags)
{
	return with_errno(bobbin_codectl(option, info, info_size, flags, NULL));
}

BOBBIN_API WEAK int sframe_register(struct sframe_setup *setup, size_t size)
{
	return with_errno(bobbin_sframe_register(setup, size, NULL));
}

BOBBIN_API WEAK int sframe_unregister(struct sframe_setup *setup, size_t size)
{
	return with_errno(bobbin_sframe_unregister(setup, size));
}
