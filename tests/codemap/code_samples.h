/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* code_samples.h - what tests of registrations with cmocka need. */
#ifndef TEST_CODE_SAMPLES_H
#define TEST_CODE_SAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/codectl.h>
#include <stdlib.h>
#include <string.h>

#include "code_count.h"
#include "sample_code.h"

#endif
