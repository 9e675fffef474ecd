/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_writer.h - an SFrame section becomes a compressed side-file.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_WRITER_H
#define BOBBIN_SIDEFILE_SIDEFILE_WRITER_H

#include <bobbin/sframe.h>

/**
 * sidefile_make() - make a side-file in memory
 * @view: the section; its functions ascend and do not overlap, as
 *	merge_sections() and convert_cfi() leave them
 * @build_id, @id_length: of the file, 2 to 20 bytes, or none
 * @err: where in the section and why on failure, or NULL
 * @data: the side-file, which becomes the caller's
 * @size: its bytes
 *
 * Equal sections give equal bytes, with one version of zstd.
 *
 * Return: 0; -EINVAL: no usable build ID; -EBADMSG: the section is malformed or
 * not in order, or has a rule that V3 cannot express; -ENOMEM.
 */
int sidefile_make(const struct bobbin_sframe_view *view, const uint8_t *build_id, uint8_t id_length,
		  struct bobbin_error *err, uint8_t **data, uint64_t *size);

#endif
