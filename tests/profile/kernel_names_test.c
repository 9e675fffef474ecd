/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kernel_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/naming.h"
#include "symbol/recorded_names.h"
#include "symbol/symbolizer.h"

/* The head that a recording's names begin with, and what is read of them. */
struct kept {
	struct byte_buffer blob;
	struct recorded_names *names;
};

static const char list[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000100 T vfs_read\n"
			   "ffffffff81000200 t ksys_read\n"
			   "ffffffffa0000000 t probe\t[module]\n"
			   "ffffffffc0000000 t bpf_prog_1234_hook\t[bpf]\n"
			   "ffffffffc0000040 t bpf_prog_5678_hook\t[bpf]\n";

static struct symbolizer *symbolizer_of(const char *text)
{
	char path[] = "/tmp/kallsyms.XXXXXX";
	const struct symbolizer_options options = {.kallsyms = path, .demangle = true};
	struct symbolizer *s;
	struct symbol symbol;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(symbolizer_open(&options, &s), 0);
	/* it is read once */
	assert_int_equal(symbolizer_kernel(s, 1, &symbol), 0);
	unlink(path);
	close(fd);
	return s;
}

static struct kept kept_of(const uint64_t *pcs, size_t count)
{
	struct symbolizer *s = symbolizer_of(list);
	struct kernel_names noted = {0};
	struct kept kept = {0};
	struct bobbin_error err;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(kernel_names_note(&noted, pcs[i]), 0);
	recorded_names_head(&kept.blob, NULL);
	kernel_names_write(&noted, s, &kept.blob);
	assert_false(kept.blob.failed);
	assert_int_equal(
		recorded_names_open((struct bytes){.data = kept.blob.data, .size = kept.blob.size},
				    0, &err, &kept.names),
		0);
	kernel_names_fini(&noted);
	symbolizer_close(s);
	return kept;
}

static void forget(struct kept *kept)
{
	recorded_names_close(kept->names);
	byte_buffer_fini(&kept->blob);
}

static const struct bobbin_mapping kernel = {.path = NAMING_KERNEL};

static const char *name_at(const struct kept *kept, uint64_t pc, uint64_t *offset)
{
	struct recorded_function f;

	if (!recorded_names_find(kept->names, &kernel, pc, &f))
		return NULL;
	*offset = pc - f.offset;
	return f.name;
}

static void functions_that_were_sampled_are_kept(void **state)
{
	static const uint64_t pcs[] = {0xffffffffa0000010, 0xffffffff81000150, 0xffffffff81000120,
				       0xffffffff81000150, 0xffffffff81000208};
	struct kept kept = kept_of(pcs, 5);
	const struct recorded_function *functions;
	uint64_t offset;

	assert_string_equal(name_at(&kept, 0xffffffff81000120, &offset), "vfs_read");
	assert_int_equal(offset, 0x20);
	assert_string_equal(name_at(&kept, 0xffffffff81000208, &offset), "ksys_read");
	assert_string_equal(name_at(&kept, 0xffffffffa0000010, &offset), "probe [module]");
	assert_int_equal(offset, 0x10);
	/* once each, and no further than samples have shown */
	assert_int_equal(recorded_names_functions(kept.names, &kernel, &functions), 3);
	assert_null(name_at(&kept, 0xffffffff81000151, &offset));
	assert_null(name_at(&kept, 0xffffffff81000010, &offset));
	forget(&kept);
}

static void programs_of_bpf_have_no_name_that_lasts(void **state)
{
	static const uint64_t pcs[] = {0xffffffffc0000010, 0xffffffff81000120};
	struct kept kept = kept_of(pcs, 2);
	uint64_t offset;

	assert_null(name_at(&kept, 0xffffffffc0000010, &offset));
	assert_non_null(name_at(&kept, 0xffffffff81000120, &offset));
	forget(&kept);
}

static void a_kept_name_is_a_symbol(void **state)
{
	struct symbolizer *s = symbolizer_of(list);
	struct symbol symbol;

	assert_int_equal(symbolizer_kernel_kept(s, "probe [module]", 0xa0, 5, &symbol), 1);
	assert_string_equal(symbol.name, "probe [module]");
	assert_int_equal(symbol.start, 0xa0);
	assert_int_equal(symbol.offset, 5);
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_were_sampled_are_kept),
		cmocka_unit_test(programs_of_bpf_have_no_name_that_lasts),
		cmocka_unit_test(a_kept_name_is_a_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
