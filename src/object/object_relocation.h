/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_relocation.h - addresses in the frames of a relocatable file.
 */
#ifndef BOBBIN_OBJECT_RELOCATION_H
#define BOBBIN_OBJECT_RELOCATION_H

#include "object/object_reader.h"

/* Apply all relocations of frames.  -EBADMSG, -ENOMEM, the errno of reading. */
int object_relocate(struct object_reader *reader);

#endif
