/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gzip_stream.c - a stream that compresses, as RFC 1952 says.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "export/profile_format.h"

#define OUT_SIZE ((size_t)1 << 16)
/* of deflateInit2(): a gzip header and trailer instead of zlib's */
#define GZIP_WINDOW (MAX_WBITS + 16)
#define MEMORY_LEVEL 8

struct gzip {
	z_stream zlib;
	FILE *out;
	unsigned char bytes[OUT_SIZE];
};

/* 0, or -1 and errno. */
static int deflate_all(struct gzip *z, int flush)
{
	do {
		size_t size;

		z->zlib.next_out = z->bytes;
		z->zlib.avail_out = sizeof(z->bytes);
		deflate(&z->zlib, flush);
		size = sizeof(z->bytes) - z->zlib.avail_out;
		if (fwrite(z->bytes, 1, size, z->out) != size)
			return -1;
	} while (!z->zlib.avail_out);
	return 0;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct gzip *z = cookie;

	if (size > UINT32_MAX)
		size = UINT32_MAX;
	z->zlib.next_in = (unsigned char *)(uintptr_t)bytes;
	z->zlib.avail_in = (uInt)size;
	return deflate_all(z, Z_NO_FLUSH) ? 0 : (ssize_t)size;
}

static int end(void *cookie)
{
	struct gzip *z = cookie;
	int r = deflate_all(z, Z_FINISH);

	deflateEnd(&z->zlib);
	free(z);
	return r;
}

FILE *gzip_stream(FILE *out)
{
	struct gzip *z = calloc(1, sizeof(*z));
	FILE *stream;

	if (!z)
		return NULL;
	z->out = out;
	if (deflateInit2(&z->zlib, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		errno = ENOMEM;
		return NULL;
	}
	stream = fopencookie(z, "w", (cookie_io_functions_t){.write = write_some, .close = end});
	if (stream)
		return stream;
	deflateEnd(&z->zlib);
	free(z);
	return NULL;
}

int stream_close(FILE *stream, int error)
{
	const bool failed = ferror(stream);

	if (fclose(stream) && !error)
		return -errno;
	return error || !failed ? error : -EIO;
}
