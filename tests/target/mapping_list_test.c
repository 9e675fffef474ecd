/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A search finds what is in the list, wherever the one before it ended. */
#include "target/mapping_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PAGE 4096

/* What a search remembers of the last one holds while the list changes. */
static void searches_agree_with_the_list(void **state)
{
	struct file_table files = {0};
	struct mapping_list maps = {.files = &files};

	(void)state;
	srandom(2);
	for (unsigned int i = 0; i < 20000; i++) {
		const uint64_t addr = (uint64_t)(random() % 300) * PAGE;
		const struct bobbin_mapping mapping = {
			.start = addr, .end = addr + PAGE, .path = "//anon"};

		if (random() % 20 == 0)
			assert_int_equal(mapping_list_add(&maps, &mapping, NULL), 0);
		else if (random() % 20 == 0)
			assert_int_equal(mapping_list_remove(&maps, addr, addr + PAGE), 0);
		assert_ptr_equal(mapping_list_find(&maps, addr), mapping_list_at(&maps, addr));
	}
	mapping_list_fini(&maps);
	file_table_fini(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_agree_with_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
