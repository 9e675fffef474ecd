/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program.h - programs that a test writes, builds and takes apart.
 *
 * Everything happens in a directory of the test's own, which is the current
 * one between program_setup() and program_teardown().
 */
#ifndef TESTS_SYMBOL_PROGRAM_H
#define TESTS_SYMBOL_PROGRAM_H

#include "symbol/symbolizer.h"

#include <stdbool.h>

/* cmocka group fixtures. */
int program_setup(void **state);
int program_teardown(void **state);

void write_text(const char *path, const char *text);

/* Run a shell command, which must succeed; its output is kept out of the way. */
__attribute__((format(printf, 1, 2))) void run(const char *format, ...);

/* Whether a shell command succeeds. */
__attribute__((format(printf, 1, 2))) bool runs(const char *format, ...);

/* The first line that a shell command prints. */
__attribute__((format(printf, 3, 4))) void output_of(char *dst, size_t size, const char *format,
						     ...);

/* The file offset of a function (as nm spells it) plus @more. */
uint64_t offset_of(const char *path, const char *function, uint64_t more);

/* The file offset of an address. */
uint64_t offset_of_address(const char *path, uint64_t address);

/* The bytes of a file, from malloc. */
uint8_t *read_bytes(const char *path, size_t *size);

/* The build ID that readelf shows, in lower-case digits and in bytes. */
size_t build_id_of(const char *path, char digits[129], uint8_t bytes[64]);

/* A symbolizer with these options; a failure ends the test. */
struct symbolizer *open_symbolizer(const struct symbolizer_options *options);

/* Resolve one address of the file at @path. */
int resolve(struct symbolizer *s, const char *path, uint64_t offset, struct symbol *ret,
	    size_t max);

/* One address has one name, or with NULL none. */
void assert_name_at(struct symbolizer *s, const char *path, uint64_t offset, const char *name);

/* The file offset of a function in the table of exported symbols. */
uint64_t offset_of_export(const char *path, const char *name);

#endif
