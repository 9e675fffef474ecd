/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/linux_calls.h"

#include <bobbin/sframe_builder.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/native_arch.h"

/* No address, descriptor or set of flags: every call refuses it. */
#define NONSENSE ((const void *)(uintptr_t)-4096)
#define MAX_SECTION 256

/* EINVAL: the kernel has no filters. */
static bool is_filtered(void)
{
	int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);

	return mode != SECCOMP_MODE_DISABLED && (mode != -1 || errno != EINVAL);
}

/* Programs install seccomp filters at any time: check before each call. */
static long native_call(long number, unsigned int option, const void *info, size_t size)
{
	int saved = errno;
	long r = -ENOSYS;

	if (!is_filtered()) {
		r = number == KERNEL_CODECTL ? syscall(number, option, info, size, 0, 0, 0)
					     : syscall(number, info, size, 0, 0, 0, 0);
		if (r == -1)
			r = -errno;
	}
	errno = saved;
	return r;
}

kernel_call linux_calls_native(void)
{
	return native_call;
}

/* Something executable, for the section that is registered on trial. */
static int trial_code(int n)
{
	return n + 1;
}

/* One function, whose only row says that it has no caller. */
static uint64_t make_section(uint8_t *section, uint64_t text)
{
	const struct bobbin_sframe_function function = {.start = text, .size = 1};
	struct bobbin_sframe_built fde;
	struct bobbin_sframe_builder builder;
	uint8_t rows[64];

	if (bobbin_sframe_builder_init(native_arch(), (uintptr_t)section, 3, &builder))
		return 0;
	builder.fdes = &fde;
	builder.fde_max = 1;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	if (bobbin_sframe_builder_add(&builder, &function) ||
	    bobbin_sframe_builder_finish(&builder, section, MAX_SECTION))
		return 0;
	return bobbin_sframe_builder_size(&builder);
}

/* Both calls must refuse a bad pointer and an empty structure, with these errors. */
static bool refuses_nonsense(kernel_call call)
{
	const struct sframe_setup nothing = {0};
	const size_t size = SFRAME_SETUP_SIZE_VER0;

	if (call(KERNEL_SFRAME_REGISTER, 0, NONSENSE, size) != -EFAULT ||
	    call(KERNEL_SFRAME_UNREGISTER, 0, NONSENSE, size) != -EFAULT)
		return false;
	return call(KERNEL_SFRAME_REGISTER, 0, &nothing, size) == -EINVAL &&
	       call(KERNEL_SFRAME_UNREGISTER, 0, &nothing, size) < 0;
}

/* Accept a call that registers once and unregisters once. */
static bool keeps_register(kernel_call call, struct sframe_setup *setup)
{
	const struct sframe_setup key = {.sframe_start = setup->sframe_start};
	const size_t size = SFRAME_SETUP_SIZE_VER0;
	bool twice;

	if (call(KERNEL_SFRAME_UNREGISTER, 0, &key, size) >= 0 ||
	    call(KERNEL_SFRAME_REGISTER, 0, setup, size))
		return false;
	twice = !call(KERNEL_SFRAME_REGISTER, 0, setup, size);
	return !call(KERNEL_SFRAME_UNREGISTER, 0, &key, size) && !twice &&
	       call(KERNEL_SFRAME_UNREGISTER, 0, &key, size) < 0;
}

static bool probe(kernel_call call)
{
	uint8_t *section;
	uint64_t text = (uintptr_t)trial_code, size;
	bool found;

	if (!call || !refuses_nonsense(call))
		return false;
	section = malloc(MAX_SECTION);
	if (!section)
		return false;
	size = make_section(section, text);
	found = size &&
		keeps_register(call, &(struct sframe_setup){.sframe_start = (uintptr_t)section,
							    .sframe_size = size,
							    .text_start = text,
							    .text_size = 1});
	free(section);
	return found;
}

bool linux_calls_exist(struct linux_calls *calls)
{
	if (calls->state == LINUX_CALLS_UNKNOWN)
		calls->state = probe(calls->call) ? LINUX_CALLS_PRESENT : LINUX_CALLS_ABSENT;
	return calls->state == LINUX_CALLS_PRESENT;
}

static int call_kernel(struct linux_calls *calls, long number, const struct sframe_setup *setup)
{
	long r = linux_calls_exist(calls) ? calls->call(number, 0, setup, SFRAME_SETUP_SIZE_VER0)
					  : -ENOSYS;

	return r > 0 ? -EPROTO : (int)r;
}

int linux_calls_register(struct linux_calls *calls, const struct sframe_setup *setup)
{
	return call_kernel(calls, KERNEL_SFRAME_REGISTER, setup);
}

int linux_calls_unregister(struct linux_calls *calls, uint64_t sframe_start)
{
	const struct sframe_setup key = {.sframe_start = sframe_start};

	return call_kernel(calls, KERNEL_SFRAME_UNREGISTER, &key);
}

/* Options and structures are told apart before they are looked at. */
static bool codectl_refuses_nonsense(kernel_call call)
{
	const struct code_jit_info nothing = {0};
	const size_t size = CODE_JIT_INFO_SIZE_VER0;

	return call(KERNEL_CODECTL, UINT32_MAX, NONSENSE, size) == -EINVAL &&
	       call(KERNEL_CODECTL, CODE_REGISTER_JIT, NONSENSE, size) == -EFAULT &&
	       call(KERNEL_CODECTL, CODE_UNREGISTER, NONSENSE, size) == -EFAULT &&
	       call(KERNEL_CODECTL, CODE_REGISTER_JIT, &nothing, size) == -EINVAL;
}

static bool codectl_keeps_register(kernel_call call)
{
	/* with no entries it covers nothing yet */
	static const struct code_jit_unwind_table table;
	const struct code_jit_info info = {.text_start = (uintptr_t)trial_code,
					   .text_end = (uintptr_t)trial_code + 1,
					   .unwind_head = (uintptr_t)&table};
	const size_t size = CODE_JIT_INFO_SIZE_VER0;
	bool twice;

	if (call(KERNEL_CODECTL, CODE_UNREGISTER, &info, size) >= 0 ||
	    call(KERNEL_CODECTL, CODE_REGISTER_JIT, &info, size))
		return false;
	twice = !call(KERNEL_CODECTL, CODE_REGISTER_JIT, &info, size);
	return !call(KERNEL_CODECTL, CODE_UNREGISTER, &info, size) && !twice &&
	       call(KERNEL_CODECTL, CODE_UNREGISTER, &info, size) < 0;
}

static bool codectl_open(struct linux_calls *calls)
{
	bool found;

	if (calls->codectl == LINUX_CALLS_UNKNOWN) {
		found = linux_calls_exist(calls) && codectl_refuses_nonsense(calls->call) &&
			codectl_keeps_register(calls->call);
		calls->codectl = found ? LINUX_CALLS_PRESENT : LINUX_CALLS_ABSENT;
	}
	return calls->codectl == LINUX_CALLS_PRESENT;
}

int linux_calls_codectl(struct linux_calls *calls, enum code_opt option, const void *info,
			size_t size)
{
	long r = codectl_open(calls) ? calls->call(KERNEL_CODECTL, option, info, size) : -ENOSYS;

	return r > 0 ? -EPROTO : (int)r;
}
