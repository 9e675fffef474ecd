/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_writer.h - the rows of a table become a side-file.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_WRITER_H
#define BOBBIN_SIDEFILE_SIDEFILE_WRITER_H

#include "table/table_builder.h"

/**
 * sidefile_make() - make a side-file in memory
 * @builder: the rows of a file, with its build ID if it has one
 * @data: the side-file, which becomes the caller's
 * @size: its bytes
 *
 * Equal rows give equal bytes, with one version of zstd.
 *
 * Return: 0; -ERANGE: too many different rules; -ENOMEM.
 */
int sidefile_make(const struct table_builder *builder, uint8_t **data, uint64_t *size);

#endif
