/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_event.h - one record of perf, decoded, and which event of a recording has made it.
 *
 *	record + attributes ──perf_event_decode()──► struct perf_event
 *
 * The same records come out of a ring buffer of the kernel and out of a
 * perf.data file, and go into one.  What a record holds, and where, depends on
 * the attributes of its event: sample_type lists the fields of a sample; with
 * sample_id_all every other record ends with a few of them.
 *
 * A decoded event borrows from its record: it is valid as long as that is.
 * Records are not trusted, wherever they come from.
 */
#ifndef BOBBIN_PROFILE_PERF_EVENT_H
#define BOBBIN_PROFILE_PERF_EVENT_H

#include <bobbin/stack_memory.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"
#include "base/sample_area.h"

struct perf_reader_attr;

#define PERF_NO_CPU UINT32_MAX
/* Most entries of the kernel's part of a call chain, where a recorder gives or keeps a sample. */
#define PERF_KERNEL_CHAIN_MAX 256

struct perf_mmap {
	uint64_t addr, len, pgoff;
	uint32_t maj, min; /* of the device, with ino: MMAP2 without build ID */
	uint64_t ino, ino_gen;
	uint32_t prot, flags; /* of mmap(2): MMAP2 */
	uint8_t build_id_len; /* 0: none */
	uint8_t build_id[20];
	const char *filename;
};

/**
 * struct perf_values - what counters have reached, of an event or of its group
 * @words: of each @each words, the value first; NULL: the sample has none
 * @id_at: which of them is the id of the counter's event
 */
struct perf_values {
	const uint64_t *words;
	uint64_t count;
	uint8_t each, id_at;
};

struct perf_sample {
	uint64_t ip, period;
	struct perf_values values; /* those without ids are passed over */
	/* addresses and PERF_CONTEXT_ marks, leaf first */
	const uint64_t *callchain;
	uint64_t callchain_nr;
	/* opaque bytes of the event */
	const void *raw;
	uint32_t raw_size;
	/* user registers: the values of the bits set in the mask, in order */
	uint64_t regs_abi, regs_mask;
	const uint64_t *regs; /* NULL: none */
	/* copy of the user stack from the stack pointer on, dyn_size bytes of it valid */
	const uint8_t *stack; /* NULL: none */
	uint64_t stack_size, dyn_size;
	/* of stacks that were left for that one, side by side, and where the code of the last goes on
	   if walks cannot come there otherwise, or 0; of samples that no kernel took */
	struct bobbin_stack_copy left[SAMPLE_LEFT_STACKS];
	uint64_t left_pc;
	/* of a block of a heap: where it is, and the PC of who called the allocator; 0: of none */
	uint64_t block, caller;
	uint64_t cgroup; /* its number, see struct cgroup; 0: it is not known */
};

/* What the number of a cgroup in samples stands for. */
struct perf_cgroup {
	uint64_t id;
	const char *path;
};

/* Code that the kernel was given, or that has gone. */
struct perf_ksymbol {
	uint64_t addr;
	uint32_t len;
	bool gone;
	const char *name;
};

/* The user part of the call chain of earlier samples: those of the thread with the cookie. */
struct perf_user_chain {
	uint64_t cookie;
	const uint64_t *pcs; /* with marks, as in a sample */
	uint64_t count;
};

/**
 * struct perf_event - a record
 * @type: PERF_RECORD_…; decides which member of the union holds
 * @misc: flags of the record's header, the CPU mode among them
 * @pid: process, and @tid thread, that the record speaks of; -1 if it does not say
 * @cpu: PERF_NO_CPU if the record does not say
 * @offset: where the record begins in its file; of a compressed one, where its container does
 * @time: in nanoseconds of the recording's clock; 0 if the record does not say
 * @id: of the event that made the record, 0 if the record does not say
 * @attr: that event; set by perf_reader, NULL elsewhere
 */
struct perf_event {
	uint32_t type;
	uint16_t misc;
	uint32_t pid, tid, cpu;
	uint64_t offset, time, id;
	const struct perf_reader_attr *attr;
	union {
		struct perf_mmap mmap; /* MMAP, MMAP2 */
		struct {
			const char *comm;
			bool exec;
		} comm;
		struct {
			uint32_t ppid, ptid;
		} task;                            /* FORK, EXIT */
		uint64_t lost;                     /* LOST: records; LOST_SAMPLES: samples */
		struct perf_ksymbol ksymbol;       /* KSYMBOL */
		struct perf_cgroup cgroup;         /* CGROUP */
		struct perf_user_chain user_chain; /* CALLCHAIN_DEFERRED */
		struct perf_sample sample;
	};
};

/*
 * Take a record apart, by the attributes of its event.  @record is aligned to 8 bytes, at least
 * 8 of @size bytes, and the header's size must not exceed it.  @ret has @offset 0 and @attr
 * NULL.  0, or -EBADMSG if the record contradicts itself or its attributes.
 */
int perf_event_decode(const struct perf_event_attr *attr, const void *record, uint64_t size,
		      struct perf_event *ret);

/* Whether a sample has all the parts that these attributes ask for, and no more; @record as there. */
bool perf_event_fits(const struct perf_event_attr *attr, const void *record, uint64_t size);

/*
 * The time stamp, and the id, of a record that is not decoded, at any alignment; 0 if it has
 * none.  The id's place is the same in all events of a recording, see perf_event_same_ids().
 */
uint64_t perf_event_time(const struct perf_event_attr *attr, const void *record, uint64_t size);
uint64_t perf_event_id(const struct perf_event_attr *attr, const void *record, uint64_t size);

/* Whether the id stands at the same place in the records of both, or these look the same. */
bool perf_event_same_ids(const struct perf_event_attr *a, const struct perf_event_attr *b);

/* Whether the event is the time that a CPU, or a task, has run: its weights are nanoseconds. */
static inline bool perf_attr_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Change a flag that <linux/perf_event.h> may not have: the @place-th bit after read_format. */
void perf_attr_flag(struct perf_event_attr *attr, unsigned int place, bool on);

/*
 * The user register of this bit in the mask, as in <asm/perf_regs.h>; false if the sample does
 * not have it.
 */
bool perf_sample_reg(const struct perf_sample *sample, unsigned int reg, uint64_t *ret);

/* Entries and marks of the call chain that are the kernel's part. */
size_t perf_sample_kernel_count(const struct perf_sample *sample);

/* Whether the user part of a sample comes later. */
bool perf_sample_is_deferred(const struct perf_sample *sample, uint64_t *cookie);

/* An id of an event: of the one whose attributes have this number. */
struct owned_id {
	uint64_t id;
	uint32_t attr;
};

struct event_ids {
	struct owned_id *ids;
	size_t count, room;
	struct hash_index index;
	uint64_t seed; /* of its hash: the ids may be a liar's; set by the caller */
};

/* NULL: no event has it. */
struct owned_id *event_ids_find(const struct event_ids *ids, uint64_t id);

/* The last one to claim an id has it.  0 or -ENOMEM. */
int event_ids_add(struct event_ids *ids, uint64_t id, uint32_t attr);

void event_ids_fini(struct event_ids *ids);

#define EVENT_NAME_SIZE 64

/*
 * By its attributes, as perf calls it: "page-faults:u"; others by their numbers, "tracepoint:317".
 * Events with one name may differ in what the name does not say.
 */
void event_name_of(const struct perf_event_attr *attr, char name[EVENT_NAME_SIZE]);

#endif
