/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * late_sidefile.h - a file's side-file, which is looked for when it is first needed.
 *
 * Most files' own tables cover all that is asked.
 */
#ifndef BOBBIN_UNWIND_LATE_SIDEFILE_H
#define BOBBIN_UNWIND_LATE_SIDEFILE_H

#include "elf/elf_image.h"
#include "sidefile/sidefile.h"
#include "unwind/table_set.h"

struct late_sidefile {
	const struct elf_image *image; /* whose it is */
	const char *path;      /* where side-files are, borrowed; NULL: looked for already */
	struct sidefile *file; /* or NULL */
};

/* As sidefile_lookup(), after which a malformed one is closed; -ENODATA: there is none. */
int late_sidefile_lookup(struct late_sidefile *late, uint64_t vaddr, struct bobbin_row *ret);

/* Each function, or block of one, up to what is malformed; what @sink returned. */
int late_sidefile_functions(struct late_sidefile *late, function_sink sink, void *ctx);

extern const struct table_ops late_sidefile_ops;

#endif
