/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_samples.h - sections and side-files for tests, made on the spot.
 */
#ifndef TEST_SIDEFILE_SAMPLES_H
#define TEST_SIDEFILE_SAMPLES_H

#include <bobbin/sframe.h>

#include "sidefile/sidefile.h"

struct sample {
	uint8_t *bytes; /* of a section or of a side-file */
	uint64_t size;
};

#define SAMPLE_START 0x401000ull
#define SAMPLE_ADDRESS 0x600000ull /* of the section */
#define SAMPLE_BUILD_ID \
	(const uint8_t[]) \
	{ \
		0xab, 0xcd, 0xef, 0x01 \
	}
#define SAMPLE_BUILD_ID_SIZE 4

/*
 * A section, V3, with functions of every kind that the architecture can have:
 * rows of growing and shrinking frames, stubs that repeat, flexible ones, signal
 * frames, outermost ones, ones that start late; @count of the common kind.
 */
struct sample sample_section(const struct bobbin_arch *arch, unsigned int count);

/* The section that convert_cfi() makes of a file. */
struct sample sample_of_file(const char *path);

/* The view of a section. */
struct bobbin_sframe_view sample_view(const struct sample *section);

/* The side-file of a section. */
struct sample sample_sidefile(const struct sample *section);

/* Write bytes to a file; the result of sidefile_open() for it. */
int sample_open(const void *bytes, size_t size, struct bobbin_error *err, struct sidefile **ret);

void sample_free(struct sample *sample);

#endif
