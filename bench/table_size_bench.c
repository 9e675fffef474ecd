/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_size_bench FOLDER... - how large unwind tables are in each form.
 *
 * Takes each different ELF file with .eh_frame below the folders and prints the
 * sums of bytes as it is, as SFrame with and without shared rows, as a compiled
 * table, and as a side-file; the same for those that have an .sframe section, which the
 * assembler and the linker have made; and, for the largest side-file, what a lookup costs
 * when its block is decoded already and when it is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "cfi_image.h"
#include "convert/converter.h"
#include "sidefile/sidefile.h"
#include "table/table_sources.h"

#define LOOKUPS 20000
#define ROUNDS 5

struct seen_file {
	dev_t device;
	ino_t inode;
};

/* Of the largest side-file. */
struct largest {
	char *path;
	uint8_t *sidefile;
	uint64_t sidefile_size;
};

/* Bytes of files in each form. */
struct sizes {
	uint64_t files, cfi, made, plain, shared, compiled, side;
};

/* nftw() passes no context. */
static struct {
	struct seen_file *seen;
	size_t seen_count, seen_capacity;
	struct sizes all, assembled; /* those that have an .sframe section */
	uint64_t refused, rows;
	double convert_seconds, pack_seconds, compile_seconds;
	struct largest largest;
} sums;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_new(const struct stat *status)
{
	for (size_t i = 0; i < sums.seen_count; i++)
		if (sums.seen[i].inode == status->st_ino && sums.seen[i].device == status->st_dev)
			return false;
	if (vector_reserve(&sums.seen, &sums.seen_capacity, sums.seen_count + 1,
			   sizeof(*sums.seen)))
		exit(1);
	sums.seen[sums.seen_count++] = (struct seen_file){status->st_dev, status->st_ino};
	return true;
}

static void keep_largest(const char *path, struct largest *it)
{
	if (it->sidefile_size > sums.largest.sidefile_size) {
		struct largest smaller = sums.largest;

		it->path = strdup(path);
		sums.largest = *it;
		*it = smaller;
	}
	free(it->path);
	free(it->sidefile);
}

/* Bytes of the section that the converter makes for a file. */
static int converted_size(const struct bobbin_cfi_view *view, bool share, uint64_t *size)
{
	const struct convert_options options = {.version = 3, .share = share};
	struct convert_stats stats;
	uint8_t *data;
	int r = convert_cfi(view, 1, &options, &stats, &data, size);

	if (!r)
		free(data);
	return r;
}

static int pack(const struct bobbin_cfi_view *cfi, struct largest *it)
{
	struct table_builder rows;
	int r = table_builder_init(cfi->arch, NULL, 0, &rows);

	if (!r)
		r = compile_cfi_rows(cfi, 1, &rows, NULL);
	if (!r)
		r = sidefile_make(&rows, &it->sidefile, &it->sidefile_size);
	table_builder_fini(&rows);
	return r;
}

static int compile(const struct bobbin_cfi_view *cfi, uint64_t *size)
{
	double start = now();
	uint64_t rows;
	uint8_t *data;
	int r = compile_cfi(cfi, 1, NULL, 0, 0, &rows, &data, size);

	if (r)
		return r;
	sums.compile_seconds += now() - start;
	sums.rows += rows;
	free(data);
	return 0;
}

static void add_sizes(struct sizes *to, const struct sizes *from)
{
	to->files += from->files;
	to->cfi += from->cfi;
	to->made += from->made;
	to->plain += from->plain;
	to->shared += from->shared;
	to->compiled += from->compiled;
	to->side += from->side;
}

static int measure(const char *path, const struct cfi_image *t)
{
	struct sizes sizes = {.files = 1};
	struct largest it = {0};
	double start = now(), converted;
	int r = converted_size(t->views, false, &sizes.plain);

	converted = now();
	sums.convert_seconds += converted - start;
	if (!r)
		r = pack(t->views, &it);
	sums.pack_seconds += now() - converted;
	if (!r)
		r = converted_size(t->views, true, &sizes.shared);
	if (!r)
		r = compile(t->views, &sizes.compiled);
	if (r) {
		free(it.sidefile);
		return r;
	}
	sizes.cfi = t->image.eh_frame.size + t->image.eh_frame_hdr.size;
	sizes.made = t->image.sframe.size;
	sizes.side = it.sidefile_size;
	add_sizes(&sums.all, &sizes);
	if (sizes.made)
		add_sizes(&sums.assembled, &sizes);
	keep_largest(path, &it);
	return 0;
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *at)
{
	struct cfi_image tables;
	int fd;

	if (type != FTW_F || !S_ISREG(status->st_mode) || !is_new(status))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!cfi_image_init(fd, &tables)) {
		if (tables.count && !tables.views[0].debug_frame)
			sums.refused += !!measure(path, &tables);
		cfi_image_fini(&tables);
	}
	close(fd);
	return 0;
}

static void print_size(const struct sizes *sizes, const char *name, uint64_t bytes)
{
	printf("  %-28s %12" PRIu64 " bytes  %.3f\n", name, bytes,
	       (double)bytes / (double)sizes->cfi);
}

static void print_sizes(const struct sizes *sizes)
{
	print_size(sizes, ".eh_frame and .eh_frame_hdr", sizes->cfi);
	if (sizes->made)
		print_size(sizes, "SFrame as linked", sizes->made);
	print_size(sizes, "SFrame V3", sizes->plain);
	print_size(sizes, "SFrame V3, shared rows", sizes->shared);
	print_size(sizes, "compiled tables", sizes->compiled);
	print_size(sizes, "side-files", sizes->side);
}

/* Nanoseconds of a lookup, the best of a few rounds, at block i * @step. */
static double lookup_time(struct sidefile *s, uint32_t step)
{
	const struct sidefile_head *head = sidefile_head(s);
	double best = 0;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint32_t lookups = step ? LOOKUPS / 10 : LOOKUPS;
		double start = now(), taken;

		for (uint32_t i = 0; i < lookups; i++) {
			struct bobbin_row row;
			uint32_t block = (uint32_t)((uint64_t)i * step % head->block_count);

			sidefile_lookup(s, head->blocks[block].first + i % 4096, NULL, &row);
		}
		taken = 1e9 * (now() - start) / lookups;
		best = !round || taken < best ? taken : best;
	}
	return best;
}

static int measure_lookups(void)
{
	const struct largest *l = &sums.largest;
	int fd = memfd_create("sidefile", MFD_CLOEXEC);
	struct sidefile *s;

	if (fd < 0 || write(fd, l->sidefile, l->sidefile_size) != (ssize_t)l->sidefile_size ||
	    sidefile_open(fd, NULL, &s))
		return -EIO;
	printf("lookup in the side-file of %s, %" PRIu32 " blocks\n", l->path,
	       sidefile_head(s)->block_count);
	printf("  %-28s %12.0f ns\n", "block decoded already", lookup_time(s, 0));
	printf("  %-28s %12.0f ns\n", "block to be decoded", lookup_time(s, 31));
	sidefile_close(s);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		nftw(argv[i], visit, 32, FTW_PHYS);
	if (!sums.all.files) {
		printf("no file with .eh_frame\n");
		return 1;
	}
	printf("%" PRIu64 " files, %" PRIu64 " not converted\n", sums.all.files, sums.refused);
	sums.all.made = 0;
	print_sizes(&sums.all);
	if (sums.assembled.files) {
		printf("%" PRIu64 " of them with .sframe\n", sums.assembled.files);
		print_sizes(&sums.assembled);
	}
	printf("%" PRIu64
	       " rows: %.2f bytes a row in compiled tables, made at %.1f M rows a second\n",
	       sums.rows, (double)sums.all.compiled / (double)sums.rows,
	       (double)sums.rows / 1e6 / sums.compile_seconds);
	printf("converted at %.1f, packed at %.1f MB of .eh_frame a second\n",
	       (double)sums.all.cfi / 1e6 / sums.convert_seconds,
	       (double)sums.all.cfi / 1e6 / sums.pack_seconds);
	return measure_lookups() ? 1 : 0;
}
