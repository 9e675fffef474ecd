/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_torture FILE - damage a recording in some thousand ways and let the
 * reader keep the contract of fuzz/perf_data_fuzz.c.  Built with sanitizers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 400
#define FLIPS 3000
/* Header, attributes and first records, where each byte counts. */
#define FRONT 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 24;
}

/* A copy of exactly this size, so that reading beyond it is noticed. */
static void try_cut(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void flip_some(const uint8_t *data, size_t size, size_t within, uint64_t *state)
{
	uint8_t *copy = malloc(size);

	memcpy(copy, data, size);
	for (uint64_t n = 1 + next_random(state) % 4; n; n--)
		copy[next_random(state) % within] ^= 1u << next_random(state) % 8;
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static uint8_t *load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;

	if (!file || fseek(file, 0, SEEK_END))
		return NULL;
	*size = (size_t)ftell(file);
	rewind(file);
	data = malloc(*size + 1);
	*size = fread(data, 1, *size, file);
	fclose(file);
	return data;
}

int main(int argc, char **argv)
{
	uint64_t state = 1;
	size_t size = 0;
	uint8_t *data = argc == 2 ? load(argv[1], &size) : NULL;

	if (!data || !size) {
		fprintf(stderr, "perf_torture: nothing to read\n");
		return 1;
	}
	for (size_t i = 0; i < CUTS; i++) {
		try_cut(data, i < size ? i : size);
		try_cut(data, next_random(&state) % size);
	}
	for (size_t i = 0; i < FLIPS; i++) {
		flip_some(data, size, size < FRONT ? size : FRONT, &state);
		flip_some(data, size, size, &state);
	}
	free(data);
	return 0;
}
