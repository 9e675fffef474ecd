/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/task_names.h"

#include <stdint.h>
#include <stdlib.h>

struct task_name {
	int id;
	const char *comm;
};

void task_names_fini(struct task_names *names)
{
	free(names->tasks);
	hash_index_fini(&names->index);
	name_pool_fini(&names->names);
	*names = (struct task_names){0};
}

static struct task_name *find(const struct task_names *names, int id)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&names->index, hash_words((uint64_t)id, 0, 0), &at, &i))
		if (names->tasks[i].id == id)
			return &names->tasks[i];
	return NULL;
}

static int add(struct task_names *names, int id, const char *comm)
{
	return hash_index_push(&names->index, hash_words((uint64_t)id, 0, 0), names->tasks,
			       names->count, names->room, (struct task_name){id, comm});
}

int task_names_note(struct task_names *names, int pid, int tid, const char *comm)
{
	struct task_name *known = find(names, tid);
	int r = name_pool_intern(&names->names, comm, &comm);

	if (r)
		return r;
	if (known)
		known->comm = comm;
	else
		r = add(names, tid, comm);
	return r || find(names, pid) ? r : add(names, pid, comm);
}

int task_names_change(struct task_names *names, int id, const char *comm)
{
	struct task_name *known = find(names, id);

	return known ? name_pool_intern(&names->names, comm, &known->comm) : 0;
}

const char *task_names_find(const struct task_names *names, int id)
{
	const struct task_name *known = find(names, id);

	return known ? known->comm : "";
}
