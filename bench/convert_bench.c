/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * convert_bench [-n ROUNDS] [-s] FILE... - how fast call-frame information becomes SFrame.
 *
 * Converts each file ROUNDS times (default 15; -s: with shared rows), from opening
 * it to the section's bytes in memory, and prints one line a file with the medians:
 *
 *	PATH rows milliseconds-from-open milliseconds-of-conversion section-bytes
 *	peak-bytes
 *
 * The last is what the first round of the first file added to the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cfi_image.h"
#include "convert/converter.h"

struct round {
	double whole, conversion; /* milliseconds */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The most memory that the process ever had, in bytes. */
static uint64_t peak(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %lu", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib * 1024;
}

static int run_round(const char *path, const struct convert_options *options, uint64_t *rows,
		     uint64_t *size, struct round *ret)
{
	double start = now(), opened, done;
	struct convert_stats stats;
	struct cfi_image tables;
	uint8_t *data = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = cfi_image_init(fd, &tables);
	close(fd);
	if (r)
		return r;
	opened = now();
	r = convert_cfi(tables.views, tables.count, options, &stats, &data, size);
	done = now();
	*ret = (struct round){done - start, done - opened};
	*rows = stats.cfi_rows;
	free(data);
	cfi_image_fini(&tables);
	return r;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

#define MAX_ROUNDS 1000

static int measure(const char *path, const struct convert_options *options, size_t rounds)
{
	static double whole[MAX_ROUNDS], conversion[MAX_ROUNDS];
	struct round round;
	uint64_t rows = 0, size = 0, before = peak(), most = 0;
	int r;

	for (size_t i = 0; i < rounds; i++) {
		r = run_round(path, options, &rows, &size, &round);
		if (r)
			return r;
		if (!i)
			most = peak();
		whole[i] = round.whole;
		conversion[i] = round.conversion;
	}
	printf("%s %" PRIu64 " %.3f %.3f %" PRIu64 " %" PRIu64 "\n", path, rows,
	       median(whole, rounds), median(conversion, rounds), size, most - before);
	return 0;
}

int main(int argc, char **argv)
{
	struct convert_options options = {.version = 3};
	int opt, r, failed = 0, rounds = 15;

	while ((opt = getopt(argc, argv, "n:s")) != -1) {
		if (opt == 'n')
			rounds = atoi(optarg);
		else if (opt == 's')
			options.share = true;
		else
			return 2;
	}
	for (int i = optind; i < argc; i++) {
		r = measure(argv[i], &options,
			    rounds > 0 && rounds <= MAX_ROUNDS ? (size_t)rounds : 1);
		if (r)
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
		failed += r != 0;
	}
	return failed || optind == argc;
}
