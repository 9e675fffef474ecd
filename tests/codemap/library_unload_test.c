/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shared library, opened and closed at run time; its path is the argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/code_page.h>
#include <bobbin/codectl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *library;

static unsigned int count_pages(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int pages = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		pages += strstr(line, BOBBIN_CODE_PAGE_NAME) != NULL;
	fclose(maps);
	return pages;
}

static int call(unsigned int option, const struct code_elf_info *info)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	__typeof__(&bobbin_codectl) function;
	int r;

	assert_non_null(handle);
	*(void **)&function = dlsym(handle, "bobbin_codectl");
	assert_non_null(function);
	r = function(option, info, sizeof(*info), 0, NULL);
	dlclose(handle);
	return r;
}

static void a_closed_library_stays_with_its_map_and_its_page(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct code_elf_info info = {.text_start = (uintptr_t)text,
					   .text_end = (uintptr_t)text + size};

	(void)state;
	assert_ptr_not_equal(text, MAP_FAILED);
	assert_int_equal(call(CODE_REGISTER_ELF, &info), 0);
	assert_int_equal(call(CODE_UNREGISTER, &info), 0);
	assert_int_equal(count_pages(), 1);
	munmap(text, size);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_closed_library_stays_with_its_map_and_its_page),
	};

	library = argc > 1 ? argv[1] : "";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
