/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attached [SECTION] - a program of all kinds of data, which looks for its own .sframe.
 *
 * Exit status 1 if any of its data is not as it was compiled, or if the bytes of
 * its PT_GNU_SFRAME are not those of the file SECTION.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif
#ifndef BSS
#define BSS 12345
#endif

static char zeroes[BSS];
static _Thread_local int local = 42;
static _Thread_local int local_zero;
static int initialised = 7;
static const int *const relocated = &initialised;
static int constructed;

__attribute__((constructor)) static void construct(void)
{
	constructed = 1;
}

static int bss_is_clear(void)
{
	for (size_t i = 0; i < sizeof(zeroes); i++)
		if (zeroes[i])
			return 0;
	memset(zeroes, 1, sizeof(zeroes));
	return 1;
}

struct section {
	const void *bytes;
	size_t size;
};

/* The first module is the program. */
static int find(struct dl_phdr_info *info, size_t size, void *ret)
{
	struct section *section = ret;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_GNU_SFRAME)
			continue;
		section->bytes = (const void *)(info->dlpi_addr + p->p_vaddr);
		section->size = p->p_memsz;
	}
	return 1;
}

static int section_is(const char *path)
{
	struct section section = {NULL, 0};
	FILE *file = fopen(path, "rb");
	int same;

	dl_iterate_phdr(find, &section);
	if (!file || !section.bytes)
		return 0;
	for (size_t i = 0; i < section.size; i++)
		if (getc(file) != ((const unsigned char *)section.bytes)[i])
			return 0;
	same = getc(file) == EOF;
	fclose(file);
	return same;
}

int main(int argc, char **argv)
{
	char *heap = malloc(1 << 20), *small = malloc(100);

	if (!heap || !small || !bss_is_clear() || local != 42 || local_zero || *relocated != 7 ||
	    !constructed)
		return 1;
	memset(heap, 1, 1 << 20);
	memset(small, 1, 100);
	local_zero = local;
	if (argc > 1 && !section_is(argv[1])) {
		puts("another section");
		return 1;
	}
	puts("all is well");
	return 0;
}
