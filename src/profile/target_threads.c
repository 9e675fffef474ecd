/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/target_threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "target/thread.h"

int target_threads(pid_t pid, pid_t tid, pid_t **tids, size_t *count, size_t *capacity)
{
	pid_t *own = NULL;
	int n = tid ? 1 : thread_list(pid, &own), r;

	if (n < 0)
		return n;
	r = vector_reserve(tids, capacity, *count + (size_t)n, sizeof(**tids));
	if (!r) {
		memcpy(*tids + *count, tid ? &tid : own, (size_t)n * sizeof(*own));
		*count += (size_t)n;
	}
	free(own);
	return r;
}
