/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * named_file.h - one mapped file, as who wants names of it sees it.
 *
 * Its bytes are read by another process (name_process.h), of which each function is asked for
 * once.  A file that ends that process a few times is read no further.
 */
#ifndef BOBBIN_SYMBOL_NAMED_FILE_H
#define BOBBIN_SYMBOL_NAMED_FILE_H

#include "symbol/file_paths.h"
#include "symbol/name_process.h"

/* What is known of a file's offsets, so that it is asked for once; zero to begin. */
struct answer_ranges {
	void *tree;
	size_t count, memory;
};

struct named_file {
	unsigned int number;
	pid_t pid; /* that has it mapped, or 0 */
	struct file_paths paths;
	void *image; /* an image in memory, else NULL */
	size_t image_size;
	struct build_id build_id;
	unsigned int known_to; /* by its number of starts; 0: the paths are known to no process */
	bool missing;          /* nothing could be opened */
	unsigned int failures;
	int failure; /* of the last one */
	bool told;   /* of a failure */
	struct answer_ranges answers;
};

struct named_file_context {
	struct name_process *process;
	struct names names;
};

/* @image is taken over, if not NULL.  Returns 0, -ENOMEM. */
int named_file_new(const struct symbol_file *file, unsigned int number, void *image,
		   size_t image_size, struct named_file **ret);
void named_file_free(struct named_file *f);

/* Other paths for the same file: it is read again.  Returns 0, -ENOMEM. */
int named_file_set_paths(struct named_file *f, const struct symbol_file *file);

/* Set the build ID of an image by its bytes.  0, -EINVAL, -ENOMEM, -EAGAIN. */
int named_file_read_image(struct named_file *f, struct named_file_context *c);

/* As symbolizer_resolve(). */
int named_file_resolve(struct named_file *f, struct named_file_context *c, uint64_t offset,
		       struct symbol *ret, size_t max);

/*
 * That offsets in these ranges will be asked for: what is found of them is remembered, together
 * in fewer questions.
 */
void named_file_expect(struct named_file *f, struct named_file_context *c,
		       const struct offset_range *ranges, size_t count);

/* Whether it is opened by a descriptor of ours, whose number will be another file's. */
bool named_file_is_held(const struct named_file *f);

/* The bytes that are held. */
size_t named_file_memory(const struct named_file *f);

#endif
