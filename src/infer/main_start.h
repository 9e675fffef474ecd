/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main_start.h - main(), of which a program without symbols has but the address.
 */
#ifndef BOBBIN_INFER_MAIN_START_H
#define BOBBIN_INFER_MAIN_START_H

#include "infer/program_code.h"
#include "infer/x86_insn.h"

/*
 * What the entry hands to the C library becomes known as starts; @program is settled, and will have to
 * be again.  0, -ENOMEM.
 */
int main_start_find(struct program *program, const struct x86_decoder *decoder);

#endif
