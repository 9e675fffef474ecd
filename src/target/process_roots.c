/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/process_roots.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vector.h"
#include "target/file_roots.h"

static bool is_own(const struct stat *root)
{
	struct stat own;

	return stat("/", &own) || (own.st_dev == root->st_dev && own.st_ino == root->st_ino);
}

/* @st: of the root, which a file system in user space may take its time to tell again. */
static const char *add(struct process_roots *roots, const struct remote_process *process,
		       const char *path, const struct stat *st)
{
	struct process_root root = {
		.device = st->st_dev,
		.inode = st->st_ino,
		.fd = process_file_open(process, path, O_DIRECTORY, NULL),
	};

	if (root.fd < 0)
		return NULL;
	/* the helper, which opens what is below it, is another process */
	if (asprintf(&root.path, "/proc/%d/fd/%d", getpid(), root.fd) > 0) {
		if (!vector_push(roots->list, roots->count, roots->room, root))
			return root.path;
		free(root.path);
	}
	close(root.fd);
	return NULL;
}

const char *process_roots_find(struct process_roots *roots, const struct remote_process *process)
{
	char path[32];
	struct stat st;

	if (!process->pid)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/root", process->pid);
	if (process_file_stat(process, path, &st))
		return NULL;
	if (is_own(&st))
		return OWN_ROOT;
	for (size_t i = 0; i < roots->count; i++)
		if (roots->list[i].device == st.st_dev && roots->list[i].inode == st.st_ino)
			return roots->list[i].path;
	return roots->count < PROCESS_ROOTS_MAX ? add(roots, process, path, &st) : NULL;
}

void process_roots_fini(struct process_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		close(roots->list[i].fd);
		free(roots->list[i].path);
	}
	free(roots->list);
	*roots = (struct process_roots){0};
}
