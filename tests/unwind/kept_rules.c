/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept-rules FILE... - whether walkers find the same with tables that were kept, and after those
 * have rested.
 *
 * At each address of a file's code: rule, source and function, and the functions that the
 * sources list.
 */
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/module.h"

static struct {
	uint64_t compared, different;
} sums;

static struct module *open_file(char *path, struct table_cache *cache)
{
	const struct bobbin_unwinder_options options = {0};
	const struct module_context context = {.options = &options, .cache = cache};
	struct mapped_file file = {.kind = FILE_REGULAR, .path = path};
	struct module *m;

	if (module_open(&context, &file, UINT64_MAX, &m)) {
		printf("%s: not read\n", path);
		exit(1);
	}
	return m;
}

static void compare(struct module *m, struct module *kept, uint64_t addr)
{
	struct table_answer wanted, found;

	table_set_row(&m->tables, addr, &wanted);
	table_set_row(&kept->tables, addr, &found);
	sums.compared++;
	/* where the information is malformed there is no function, either */
	if (wanted.source == found.source && bobbin_rule_equal(&wanted.row.rule, &found.row.rule) &&
	    (wanted.row.function == found.row.function || !wanted.row.rule.cfa.how) &&
	    found.row.start <= addr && addr < found.row.end)
		return;
	if (!sums.different++)
		printf("0x%" PRIx64 ": source %d, not %d; function 0x%" PRIx64 ", not 0x%" PRIx64
		       "\n",
		       addr, found.source, wanted.source, found.row.function, wanted.row.function);
}

static int count_function(void *ctx, uint64_t start, uint64_t end)
{
	*(uint64_t *)ctx += start ^ end << 20;
	return 0;
}

static void compare_functions(struct module *m, struct module *kept)
{
	enum bobbin_source sources[TABLE_SOURCES];
	unsigned int count = table_set_sources(&m->tables, sources);

	for (unsigned int i = 0; i < count; i++) {
		uint64_t wanted = 0, found = 0;

		table_set_functions(&m->tables, sources[i], count_function, &wanted);
		table_set_functions(&kept->tables, sources[i], count_function, &found);
		sums.different += wanted != found;
	}
}

/* The bytes that others take: the same, kept or made now. */
static void compare_tables(const char *path, struct module *m, struct module *kept)
{
	const struct kept_table *wanted = &m->kept.kept, *found = &kept->kept.kept;

	if (!cached_cfi_table(&m->image, &m->kept, UINT64_MAX) &&
	    !cached_cfi_table(&kept->image, &kept->kept, UINT64_MAX) &&
	    wanted->size == found->size && !memcmp(wanted->data, found->data, found->size))
		return;
	printf("%s: another table\n", path);
	sums.different++;
}

static void compare_modules(const char *path, struct module *m, struct module *kept)
{
	for (size_t i = 0; i < m->image.segment_count; i++) {
		const struct elf_segment *s = &m->image.segments[i];

		for (uint64_t at = 0; s->exec && at < s->memsz; at++)
			compare(m, kept, s->vaddr + at);
	}
	compare_functions(m, kept);
	if (m->kept.count == 1 || kept->kept.count == 1)
		compare_tables(path, m, kept);
}

/* A table that is made at the end is found the next time. */
static void compare_kept(char *path, struct module *m, struct table_cache *cache)
{
	struct module *kept = open_file(path, cache);
	struct table_answer answer;

	for (size_t i = 0; i < m->image.segment_count; i++)
		module_rule(kept, kept->image.segments[i].offset, &answer);
	sums.different += kept->kept.found;
	module_close(kept);
	kept = open_file(path, cache);
	if (!kept->kept.found) {
		printf("%s: not kept\n", path);
		sums.different++;
	}
	compare_modules(path, m, kept);
	module_close(kept);
}

/* What one that rests was made of is given back, and read again to list its functions. */
static void compare_resting(char *path, struct module *m, struct table_cache *cache)
{
	struct module *resting = open_file(path, cache);
	bool alone = !cached_cfi_table(&resting->image, &resting->kept, UINT64_MAX);

	module_rest(resting);
	if (alone && elf_image_copied(&resting->image) >= elf_image_copied(&m->image)) {
		printf("%s: nothing was given back\n", path);
		sums.different++;
	}
	compare_modules(path, m, resting);
	module_rest(resting);
	compare_functions(m, resting);
	module_close(resting);
}

/* Without a cache it is all read again. */
static void compare_forgotten(char *path, struct module *m)
{
	struct module *forgotten = open_file(path, NULL);
	uint64_t bytes = module_rests_from(forgotten);

	module_rest(forgotten);
	if (!bytes || module_rests_from(forgotten)) {
		printf("%s: nothing was forgotten\n", path);
		sums.different++;
	}
	compare_modules(path, m, forgotten);
	module_rest(forgotten);
	compare_functions(m, forgotten);
	module_close(forgotten);
}

static void compare_file(char *path, struct table_cache *cache, struct table_cache *other)
{
	struct module *m = open_file(path, NULL);

	compare_forgotten(path, m);
	compare_kept(path, m, cache);
	compare_resting(path, m, other);
	printf("%s: %" PRIu64 " addresses, %" PRIu64 " different\n", path, sums.compared,
	       sums.different);
	module_close(m);
}

static int remove_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
	return remove(path);
}

static struct table_cache *open_cache(char *folder)
{
	struct table_cache *cache;

	if (!mkdtemp(folder) || table_cache_open(folder, 0, NULL, &cache))
		exit(2);
	return cache;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/kept-rules-XXXXXX", second[] = "/tmp/kept-rules-XXXXXX";
	struct table_cache *cache = open_cache(folder), *other = open_cache(second);

	for (int i = 1; i < argc; i++)
		compare_file(argv[i], cache, other);
	table_cache_close(cache);
	table_cache_close(other);
	nftw(folder, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	nftw(second, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	return sums.different || !sums.compared;
}
