/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_reader_state.h - a reader, for its pass over the file (perf_scan.c) and what follows
 * (perf_delivery.c).
 */
#ifndef BOBBIN_PROFILE_PERF_READER_STATE_H
#define BOBBIN_PROFILE_PERF_READER_STATE_H

#include <zstd.h>

#include "base/block_store.h"
#include "profile/cgroup_table.h"
#include "profile/perf_reader.h"

/* A record: in the file, or among the inflated ones. */
struct indexed {
	uint64_t time, place;
};

/* A record with the user part of a call chain, which comes after its samples. */
struct indexed_chain {
	uint64_t cookie, time, place;
};

/* Compressed bytes of the file, and the first place that they could complete. */
struct inflated_piece {
	uint64_t place, offset;
};

/**
 * struct inflated - the records inside the compressed records of `perf record -z`
 *
 *	COMPRESSED | COMPRESSED | …   pieces of one zstd stream
 *	     └──────┴────► blocks of 1 MiB, each record whole in one block
 *
 * They are kept until the end, since they are delivered in the order of time, many of them in a file
 * of their own.  A record is indexed
 * as soon as it is complete, so that nothing is inflated beyond the first byte that is no record.
 */
struct inflated {
	ZSTD_DStream *stream; /* NULL: nothing is compressed */
	struct block_store store;
	uint64_t parsed, filled; /* in the last block */
	uint64_t total_in, total_out;
	struct inflated_piece *pieces;
	size_t nr_pieces, max_pieces;
};

/* What a counter has reached, in one thread where its threads count apart. */
struct read_value {
	uint64_t id, value;
	uint32_t tid;
};

struct perf_reader {
	const uint8_t *data;
	uint64_t size;
	bool mapped, pipe, truncated;
	uint64_t touched; /* bytes of records since pages were given back, see perf_scan_touch() */
	struct perf_reader_attr *attrs;
	size_t nr_attrs, max_attrs;
	uint64_t claimed; /* ids, of all attributes; some more than once */
	struct event_ids ids;
	struct cgroup_table cgroups;
	char (*made_names)[EVENT_NAME_SIZE]; /* of the attributes that have no others */
	struct perf_span features[PERF_FILE_FEATURES];
	struct inflated inflated;
	struct indexed *index; /* in the order of time, once all is read */
	size_t count, room, next;
	struct indexed_chain *chains; /* by cookie and time, likewise */
	size_t nr_chains, max_chains;
	struct read_value *values; /* as of the samples so far */
	size_t nr_values, max_values;
	struct hash_index value_index;
	struct perf_event
		carrier; /* a sample whose values from @next_value on are to be given out */
	uint64_t next_value;
	struct perf_reader_stats stats;
	/* a record that is not aligned in the file */
	_Alignas(8) uint8_t aligned[PERF_FILE_RECORD_BYTES];
	_Alignas(8) uint8_t aligned_chain[PERF_FILE_RECORD_BYTES];
};

/* Take in attributes and features, inflate, and index the records.  0, or as perf_reader_open(). */
int perf_scan(struct perf_reader *reader, struct bobbin_error *err);

/*
 * That a record of @size bytes was read.  Pages that were read would count as memory of ours until the
 * end; once in a while all are given back, and come again from the file if they are needed.
 */
void perf_scan_touch(struct perf_reader *reader, uint64_t size);

/* The record at a place of the index, and where it, or what it comes from, stands in the file. */
const uint8_t *perf_scan_record(const struct perf_reader *reader, uint64_t place);
uint64_t perf_scan_offset(const struct perf_reader *reader, uint64_t place);

/* The event of a record, NULL: a sample of an unknown one. */
const struct perf_reader_attr *perf_scan_attr(const struct perf_reader *reader,
					      const uint8_t *record, uint64_t size, uint32_t type);

#endif
