/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of the kernel's text, compared with all of /proc/kallsyms. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profile/perf_event.h"
#include "profile/snapshot.h"

struct text {
	uint64_t start, end;
};

/* Zeros where addresses are hidden. */
static struct text text_by_names(void)
{
	struct text text = {0};
	char line[512], name[512];
	uint64_t addr;
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %511s", &addr, name) == 2) {
			if (!strcmp(name, "_text"))
				text.start = addr;
			if (!strcmp(name, "_etext"))
				text.end = addr;
		}
	if (f)
		fclose(f);
	return text;
}

static int take(void *ctx, const struct perf_event *event)
{
	struct text *told = ctx;

	assert_int_equal(event->type, PERF_RECORD_MMAP);
	assert_string_equal(event->mmap.filename, "[kernel.kallsyms]_text");
	*told = (struct text){event->mmap.addr, event->mmap.addr + event->mmap.len};
	return 0;
}

static void the_kernels_text_is_told_as_its_symbols_say(void **state)
{
	const struct text named = text_by_names();
	struct text told = {0};

	assert_int_equal(snapshot_kernel(1, take, &told), 0);
	assert_int_equal(told.start, named.start);
	assert_int_equal(told.end, named.end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_text_is_told_as_its_symbols_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
