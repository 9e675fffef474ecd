/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/codectl.h>

#include <errno.h>

#include "codemap/code_calls.h"
#include "codemap/own_registry.h"
#include "core/deps.h"

#define WEAK __attribute__((weak))

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
