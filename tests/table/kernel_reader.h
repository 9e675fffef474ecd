/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kernel_reader.h - the kernel's lookup in a compiled table, compiled for a test. */
#ifndef TEST_KERNEL_READER_H
#define TEST_KERNEL_READER_H

#include <bobbin/rule.h>
#include <stdbool.h>
#include <stdint.h>

struct kernel_reader;

/* Of a table that is all of the process's memory, for text from @start to @end; NULL: refused. */
struct kernel_reader *kernel_reader_open(const uint8_t *table, uint64_t size, uint64_t start,
					 uint64_t end, uint64_t bias);
void kernel_reader_close(struct kernel_reader *reader);

/* As sframe_lookup_compiled(); @copies: that were made from the table. */
int kernel_reader_lookup(struct kernel_reader *reader, uint64_t pc, unsigned int *copies,
			 struct bobbin_row *ret);

/* Copies of what is not in the table, since the beginning. */
unsigned long kernel_reader_outside(void);

#endif
