/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * user_chain_index.h - where the user parts of call chains are that come after their samples.
 */
#ifndef BOBBIN_PROFILE_USER_CHAIN_INDEX_H
#define BOBBIN_PROFILE_USER_CHAIN_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Threads whose parts can have one cookie and come after one sample: the cookies are unique. */
#define MAX_SHARED_COOKIE 64

struct user_chain_entry {
	uint64_t cookie, time;
	uint64_t place; /* of the record, as its reader counts */
};

/* Zero to begin. */
struct user_chain_index {
	struct user_chain_entry *entries; /* by cookie and time, once they are settled */
	size_t count, room;
};

/* Note a record of @size bytes; one that is too short to have a cookie is not.  0 or -ENOMEM. */
int user_chain_index_add(struct user_chain_index *index, uint64_t time, uint64_t place,
			 const uint8_t *record, uint16_t size);

void user_chain_index_settle(struct user_chain_index *index);

/*
 * The parts that a sample of this time and cookie can have, oldest first: their number, at most
 * MAX_SHARED_COOKIE.
 */
size_t user_chain_index_find(const struct user_chain_index *index, uint64_t cookie, uint64_t time,
			     const struct user_chain_entry **ret);

void user_chain_index_fini(struct user_chain_index *index);

#endif
