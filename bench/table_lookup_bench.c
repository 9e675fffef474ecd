/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_lookup_bench FILE... - what lookups of random addresses cost, in one run.
 *
 * In a file's compiled table, beside an SFrame section of it with an index and its .eh_frame;
 * and how many cache lines of the table each lookup reads.  The median of several rounds.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cfi_image.h"
#include "convert/converter.h"
#include "table/table_sources.h"
#include "table_touches.h"
#include "unwind/indexed_sections.h"

#define LOOKUPS 65536
#define ROUNDS 9

struct subject {
	const char *path;
	struct cfi_image image;
	uint64_t rows;
	struct compiled_table table;
	uint64_t table_size;
	uint8_t *bytes, *section; /* the table's, at a cache line; the section's */
	struct indexed_sections sframe;
	uint64_t addresses[LOOKUPS];
};

/* Of this thread alone: the machine may be busy. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void look_up_table(const struct subject *s, uint64_t addr)
{
	struct compiled_row row;

	compiled_table_find(&s->table, addr, &row);
}

static void look_up_sframe(const struct subject *s, uint64_t addr)
{
	struct bobbin_error error;
	struct bobbin_row row;

	indexed_sections_lookup(&s->sframe, addr, &error, &row);
}

static void look_up_cfi(const struct subject *s, uint64_t addr)
{
	static struct bobbin_cfi_rows program;
	struct bobbin_error error;
	struct bobbin_row row;

	bobbin_cfi_lookup(s->image.views, addr, &program, &error, &row);
}

static double round_time(const struct subject *s, size_t count,
			 void (*look_up)(const struct subject *s, uint64_t addr))
{
	double start = now();

	for (size_t i = 0; i < count; i++)
		look_up(s, s->addresses[i]);
	return 1e9 * (now() - start) / (double)count;
}

/* The three take turns. */
static void measure(const struct subject *s)
{
	double times[3][ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		times[0][i] = round_time(s, LOOKUPS, look_up_table);
		times[1][i] = round_time(s, LOOKUPS, look_up_sframe);
		times[2][i] = round_time(s, LOOKUPS, look_up_cfi);
	}
	for (unsigned int i = 0; i < 3; i++)
		qsort(times[i], ROUNDS, sizeof(double), by_value);
	printf("  lookup: compiled table %.1f ns (best %.1f), SFrame with an index %.1f ns, .eh_frame "
	       "%.0f ns\n",
	       times[0][ROUNDS / 2], times[0][0], times[1][ROUNDS / 2], times[2][ROUNDS / 2]);
}

static void count_lines(const struct subject *s)
{
	struct table_touches sum = {0};
	unsigned int most = 0, two = 0;

	for (size_t i = 0; i < LOOKUPS; i++) {
		struct table_touches t = table_touches(&s->table, s->addresses[i]);

		sum.index += t.index;
		sum.blocks += t.blocks;
		sum.shared += t.shared;
		most = t.index + t.blocks > most ? t.index + t.blocks : most;
		two += t.index + t.blocks <= 2;
	}
	printf("  cache lines: %.3f of the index and %.3f of the blocks, 2 in %.2f %% of lookups, at "
	       "most %u; %.1f of the rules, which all lookups share\n",
	       (double)sum.index / LOOKUPS, (double)sum.blocks / LOOKUPS, 100.0 * two / LOOKUPS,
	       most, (double)sum.shared / LOOKUPS);
}

/* Random ones that the table knows. */
static void choose_addresses(struct subject *s)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < LOOKUPS;) {
		struct compiled_row row;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		s->addresses[i] = s->table.start + (seed >> 11) % (s->table.end - s->table.start);
		i += !compiled_table_find(&s->table, s->addresses[i], &row);
	}
}

static int make_table(struct subject *s)
{
	uint8_t *data;
	int r = compile_cfi(s->image.views, 1, NULL, 0, 0, &s->rows, &data, &s->table_size);

	if (r)
		return r;
	/* as it is where it is mapped */
	s->bytes = aligned_alloc(TABLE_BLOCK_SIZE, (s->table_size + TABLE_BLOCK_SIZE - 1) &
							   -(uint64_t)TABLE_BLOCK_SIZE);
	if (!s->bytes)
		exit(1);
	memcpy(s->bytes, data, s->table_size);
	free(data);
	return compiled_table_init(s->bytes, s->table_size, NULL, &s->table);
}

static int make_section(struct subject *s)
{
	const struct convert_options options = {.version = 3};
	struct convert_stats stats;
	struct bobbin_error error;
	uint64_t size;
	int r = convert_cfi(s->image.views, 1, &options, &stats, &s->section, &size);

	return r ? r
		 : indexed_sections_open(s->section, size, 0, s->image.views[0].arch, &error,
					 &s->sframe);
}

static bool open_subject(const char *path, struct subject *s)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && !cfi_image_init(fd, &s->image) && s->image.count;

	s->path = path;
	close(fd);
	return good && !make_table(s) && !make_section(s);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct subject *s = calloc(1, sizeof(*s));

		if (!s || !open_subject(argv[i], s)) {
			printf("%s: not read\n", argv[i]);
			return 1;
		}
		choose_addresses(s);
		printf("%s: %" PRIu64 " rows, compiled table of %" PRIu64 " bytes\n", argv[i],
		       s->rows, s->table_size);
		measure(s);
		count_lines(s);
		indexed_sections_fini(&s->sframe);
		cfi_image_fini(&s->image);
		free(s->section);
		free(s->bytes);
		free(s);
	}
	return argc < 2;
}
