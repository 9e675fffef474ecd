/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_path.h - where side-files are: NN/NNNN….sframe.zst below a folder.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_PATH_H
#define BOBBIN_SIDEFILE_SIDEFILE_PATH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The name of a file's side-file below the first @length characters of @folder:
 * the first byte of the build ID is the folder, the others are the file.  To be
 * free()d; NULL without memory or with a build ID of less than two bytes.
 */
char *sidefile_path(const char *folder, size_t length, const uint8_t *build_id, size_t id_length);

/*
 * Open the side-file of a build ID in the first folder of a colon-separated list
 * that has one.  A descriptor of a regular file, -ENOENT, -ENOMEM.
 */
int sidefile_find(const char *folders, const uint8_t *build_id, size_t id_length);

#endif
