/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments and tables are read before the registry's lock is taken: a file that is
 * slow to read keeps no fork waiting.
 */
#include <bobbin/codectl.h>

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/file_range.h"
#include "codemap/code_checks.h"
#include "codemap/own_registry.h"
#include "codemap/struct_copy.h"
#include "core/deps.h"
#include "core/refusal.h"

#define MAX_BUILD_ID 20
#define TABLE_FLAGS (CODE_TABLE_FILE | CODE_TABLE_ZSTD | CODE_TABLE_COMPILED)

/* The bytes of a table, in memory of their own: free(). */
struct table_bytes {
	void *data;
	size_t size;
};

/* The request points into the rest. */
struct elf_request {
	struct code_request request;
	struct code_identity identity;
	struct code_text_range *ranges;
	char *path, *debug_link;
	uint8_t build_id[MAX_BUILD_ID];
	struct table_bytes table; /* if it is from a file */
};

/* What belongs together is there, or is not. */
static bool is_whole(const struct code_elf_info *i)
{
	return !i->elf_start == !i->elf_end && !i->sframe_start == !i->sframe_end &&
	       !i->build_id == !i->build_id_len && !i->text_ranges == !i->text_range_count &&
	       (i->debug_link_pathname || !i->debug_link_crc);
}

static int check_numbers(const struct code_elf_info *i)
{
	bool in_file = i->table_flags & CODE_TABLE_FILE;

	if (i->reserved || i->table_flags & ~TABLE_FLAGS || !is_whole(i))
		return -EINVAL;
	if (!in_file &&
	    (i->table_flags || i->table_fd || i->table_offset || i->table_size || i->table_addr))
		return -EINVAL;
	if (in_file && i->sframe_start)
		return -EINVAL;
	if (i->elf_end && i->elf_start >= i->elf_end)
		return -EINVAL;
	if (i->build_id_len > MAX_BUILD_ID)
		return -EINVAL;
	return i->text_range_count > CHECK_MAX_RANGES ? -E2BIG : 0;
}

static int copy_ranges(const struct code_elf_info *info, struct elf_request *e)
{
	size_t more = info->text_range_count;

	e->ranges = malloc((more + 1) * sizeof(*e->ranges));
	if (!e->ranges)
		return -ENOMEM;
	e->ranges[0] = (struct code_text_range){info->text_start, info->text_end};
	if (more && memory_copy(e->ranges + 1, info->text_ranges, more * sizeof(*e->ranges)))
		return -EFAULT;
	e->request.ranges = e->ranges;
	e->request.count = more + 1;
	return check_ranges(e->ranges, e->request.count);
}

static int copy_string(uint64_t addr, char **ret)
{
	char string[PATH_MAX];
	int r;

	if (!addr)
		return 0;
	r = string_copy(string, sizeof(string), addr);
	if (r)
		return r;
	*ret = strdup(string);
	return *ret ? 0 : -ENOMEM;
}

static int copy_identity(const struct code_elf_info *info, struct elf_request *e)
{
	int r = copy_string(info->pathname, &e->path);

	if (!r)
		r = copy_string(info->debug_link_pathname, &e->debug_link);
	if (!r)
		r = memory_copy(e->build_id, info->build_id, info->build_id_len);
	e->identity = (struct code_identity){.elf_start = info->elf_start,
					     .elf_end = info->elf_end,
					     .path = e->path,
					     .debug_link = e->debug_link,
					     .build_id = e->build_id,
					     .build_id_len = info->build_id_len,
					     .debug_link_crc = info->debug_link_crc};
	e->request.identity = &e->identity;
	return r;
}

/* An image is where it is said to be, and has the text. */
static int check_image(const struct code_elf_info *info, const struct elf_request *e)
{
	unsigned char magic[SELFMAG];

	if (!info->elf_end)
		return 0;
	for (size_t i = 0; i < e->request.count; i++)
		if (e->ranges[i].start < info->elf_start || e->ranges[i].end > info->elf_end)
			return -EINVAL;
	if (info->elf_end - info->elf_start < sizeof(Elf64_Ehdr))
		return -EINVAL;
	if (memory_copy(magic, info->elf_start, sizeof(magic)))
		return -EFAULT;
	return memcmp(magic, ELFMAG, SELFMAG) ? -EINVAL : 0;
}

static int check_place(const struct code_elf_info *info)
{
	struct stat st;
	uint64_t end;

	if (!info->table_size)
		return -EINVAL;
	if (fstat(info->table_fd, &st))
		return -EBADF;
	if (!S_ISREG(st.st_mode) ||
	    __builtin_add_overflow(info->table_offset, info->table_size, &end) ||
	    end > (uint64_t)st.st_size)
		return -EINVAL;
	return info->table_size > CHECK_MAX_TABLE ? -EFBIG : 0;
}

static int read_bytes(const struct code_elf_info *info, struct table_bytes *ret)
{
	struct table_bytes file = {.size = info->table_size};
	int r;

	file.data = malloc(file.size);
	if (!file.data)
		return -ENOMEM;
	r = file_range_read(info->table_fd, info->table_offset, file.data, file.size);
	if (r) {
		free(file.data);
		return r == -EBADF ? r : -EIO;
	}
	*ret = file;
	return 0;
}

/* Memory is taken for what the frame says, which then must be so. */
static int decompress(const struct table_bytes *frame, struct bobbin_error *err,
		      struct table_bytes *ret)
{
	unsigned long long size = ZSTD_getFrameContentSize(frame->data, frame->size);
	struct table_bytes file = {.size = size};
	size_t got;

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    ZSTD_findFrameCompressedSize(frame->data, frame->size) != frame->size)
		return refuse(err, 0, BOBBIN_REASON_SIDEFILE_FRAME);
	if (size > CHECK_MAX_TABLE)
		return -EFBIG;
	file.data = malloc(file.size ? file.size : 1);
	if (!file.data)
		return -ENOMEM;
	got = ZSTD_decompress(file.data, file.size, frame->data, frame->size);
	if (ZSTD_isError(got) || got != file.size) {
		free(file.data);
		return refuse(err, 0, BOBBIN_REASON_SIDEFILE_FRAME);
	}
	*ret = file;
	return 0;
}

/*
 * Read what table_fd, table_offset, table_size and table_flags of @info say.
 * -EBADF: no descriptor for reading; -EINVAL: no regular file, or not in it; -EFBIG:
 * more than CHECK_MAX_TABLE, there or decompressed; -EBADMSG and @err: no zstd frame
 * that says its size; -EIO: reading failed, the file became shorter; -ENOMEM.
 */
static int read_file(const struct code_elf_info *info, struct bobbin_error *err,
		     struct table_bytes *ret)
{
	struct table_bytes bytes;
	int r = check_place(info);

	if (!r)
		r = read_bytes(info, &bytes);
	if (r)
		return r;
	if (info->table_flags & CODE_TABLE_ZSTD) {
		r = decompress(&bytes, err, ret);
		free(bytes.data);
		return r;
	}
	*ret = bytes;
	return 0;
}

static int read_table(const struct code_elf_info *info, struct bobbin_error *err,
		      struct elf_request *e)
{
	int r = read_file(info, err, &e->table);

	if (r)
		return r;
	e->request.table = (uintptr_t)e->table.data;
	e->request.table_size = e->table.size;
	e->request.owned = e->table.data;
	e->request.free_owned = free;
	if (e->request.kind == CODE_COMPILED)
		return check_compiled(e->table.data, e->table.size, info->table_addr, e->build_id,
				      info->build_id_len, e->ranges, e->request.count, err,
				      &e->request.compiled);
	return check_section(e->table.data, e->table.size, info->table_addr, e->ranges,
			     e->request.count, err, &e->request.sframe);
}

/* What elf_request_init() gave it as key. */
static uint64_t elf_request_key(const struct code_elf_info *info)
{
	return info->sframe_start ? info->sframe_start : info->text_start;
}

/*
 * Copy and check all but what depends on mappings: text that can be executed, tables
 * in memory.  The errors are those of docs/registration.md.  elf_request_fini() also after
 * failure.
 */
static int elf_request_init(const struct code_elf_info *info, struct bobbin_error *err,
			    struct elf_request *e)
{
	int r = check_numbers(info);

	*e = (struct elf_request){.request.kind = CODE_NAMED};
	if (!r)
		r = copy_ranges(info, e);
	if (!r)
		r = copy_identity(info, e);
	if (!r)
		r = check_image(info, e);
	if (r)
		return r;
	e->request.key = elf_request_key(info);
	if (info->sframe_start || info->table_flags)
		e->request.kind = info->table_flags & CODE_TABLE_COMPILED ? CODE_COMPILED
									  : CODE_SECTION;
	e->request.table = info->sframe_start;
	e->request.table_size = info->sframe_end - info->sframe_start;
	return info->table_flags ? read_table(info, err, e) : 0;
}

static void elf_request_fini(struct elf_request *e)
{
	free(e->ranges);
	free(e->path);
	free(e->debug_link);
	free(e->table.data);
}

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
	/* the table is the registration's now */
	if (!r)
		e.table.data = NULL;
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
					       .kinds = KIND(CODE_SECTION) | KIND(CODE_COMPILED) |
							KIND(CODE_NAMED),
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
