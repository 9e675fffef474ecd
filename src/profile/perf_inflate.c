/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "profile/perf_inflate.h"

/* One call of perf_inflate_put(): the first place that it could complete. */
struct piece {
	uint64_t place, offset;
};

struct perf_inflate {
	ZSTD_DStream *stream;
	uint8_t **blocks;
	size_t nr_blocks, max_blocks;
	uint64_t parsed, filled; /* in the last block */
	uint64_t total_in, total_out;
	struct piece *pieces;
	size_t nr_pieces, max_pieces;
};

int perf_inflate_open(struct perf_inflate **ret)
{
	struct perf_inflate *inflate = calloc(1, sizeof(*inflate));

	if (!inflate)
		return -ENOMEM;
	inflate->stream = ZSTD_createDStream();
	if (!inflate->stream) {
		free(inflate);
		return -ENOMEM;
	}
	*ret = inflate;
	return 0;
}

void perf_inflate_close(struct perf_inflate *inflate)
{
	if (!inflate)
		return;
	for (size_t i = 0; i < inflate->nr_blocks; i++)
		free(inflate->blocks[i]);
	free(inflate->blocks);
	free(inflate->pieces);
	ZSTD_freeDStream(inflate->stream);
	free(inflate);
}

static int add_piece(struct perf_inflate *inflate, uint64_t offset)
{
	uint64_t place = inflate->parsed;

	if (vector_reserve(&inflate->pieces, &inflate->max_pieces, inflate->nr_pieces + 1,
			   sizeof(*inflate->pieces)))
		return -ENOMEM;
	if (inflate->nr_blocks)
		place += (inflate->nr_blocks - 1) * (uint64_t)PERF_INFLATE_BLOCK;
	inflate->pieces[inflate->nr_pieces++] = (struct piece){.place = place, .offset = offset};
	return 0;
}

/* The unfinished record moves to the new block. */
static int add_block(struct perf_inflate *inflate)
{
	uint64_t left = perf_inflate_left(inflate);
	uint8_t *block;

	if (vector_reserve(&inflate->blocks, &inflate->max_blocks, inflate->nr_blocks + 1,
			   sizeof(*inflate->blocks)))
		return -ENOMEM;
	block = malloc(PERF_INFLATE_BLOCK);
	if (!block)
		return -ENOMEM;
	if (left)
		memcpy(block, inflate->blocks[inflate->nr_blocks - 1] + inflate->parsed, left);
	inflate->blocks[inflate->nr_blocks++] = block;
	inflate->parsed = 0;
	inflate->filled = left;
	return 0;
}

uint64_t perf_inflate_left(const struct perf_inflate *inflate)
{
	return inflate->filled - inflate->parsed;
}

const uint8_t *perf_inflate_at(const struct perf_inflate *inflate, uint64_t place)
{
	return inflate->blocks[place / PERF_INFLATE_BLOCK] + place % PERF_INFLATE_BLOCK;
}

uint64_t perf_inflate_offset(const struct perf_inflate *inflate, uint64_t place)
{
	/* the first piece is at the first place */
	size_t after = bisect(i, 1, inflate->nr_pieces, inflate->pieces[i].place > place);

	return inflate->pieces[after - 1].offset;
}

static int hand_out(struct perf_inflate *inflate, int (*record)(void *, uint64_t, const uint8_t *),
		    void *ctx)
{
	uint64_t base = (inflate->nr_blocks - 1) * (uint64_t)PERF_INFLATE_BLOCK;
	struct perf_event_header header;
	int r;

	while (perf_inflate_left(inflate) >= sizeof(header)) {
		const uint8_t *at = perf_inflate_at(inflate, base + inflate->parsed);

		memcpy(&header, at, sizeof(header));
		if (header.size < sizeof(header))
			return -EBADMSG;
		if (header.size > perf_inflate_left(inflate))
			return 0;
		r = record(ctx, base + inflate->parsed, at);
		if (r < 0)
			return r;
		inflate->parsed += header.size;
	}
	return 0;
}

/* Fill the rest of the last block; the stream may have more than fits. */
static int fill(struct perf_inflate *inflate, ZSTD_inBuffer *in)
{
	ZSTD_outBuffer out = {.dst = inflate->blocks[inflate->nr_blocks - 1],
			      .size = PERF_INFLATE_BLOCK,
			      .pos = inflate->filled};
	size_t consumed = in->pos, r = ZSTD_decompressStream(inflate->stream, &out, in);

	if (ZSTD_isError(r))
		return -EBADMSG;
	if (in->pos == consumed && out.pos == inflate->filled && in->pos < in->size)
		return -EBADMSG;
	inflate->total_out += out.pos - inflate->filled;
	inflate->filled = out.pos;
	if (inflate->total_out / PERF_INFLATE_RATIO > inflate->total_in)
		return -EBADMSG;
	return 0;
}

int perf_inflate_put(struct perf_inflate *inflate, const void *data, uint64_t size, uint64_t offset,
		     int (*record)(void *ctx, uint64_t place, const uint8_t *record), void *ctx)
{
	ZSTD_inBuffer in = {.src = data, .size = size};
	int r = add_piece(inflate, offset);

	inflate->total_in += size;
	while (!r && (in.pos < in.size || inflate->filled == PERF_INFLATE_BLOCK)) {
		if (!inflate->nr_blocks || inflate->filled == PERF_INFLATE_BLOCK)
			r = add_block(inflate);
		if (!r)
			r = fill(inflate, &in);
		if (!r)
			r = hand_out(inflate, record, ctx);
	}
	return r;
}
