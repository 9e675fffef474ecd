/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as machine code, or as a file that has some.
 *
 *	u8: 0 code, of which the first quarter is also data; 1 an ELF file | bytes
 *
 * Contract: rows ascend, do not overlap, lie in code and have rules that can be applied; the
 * work is bounded by the bytes.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/promise.h"
#include "infer/infer.h"
#include "infer/program_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE 0x401000
#define MOST_BYTES 65536

static void check_rows(const struct infer_rows *rows, const struct program *program)
{
	uint64_t end = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct infer_row *row = &rows->rows[i];
		struct bobbin_rule rule;

		promise(row->start >= end && row->start < row->end);
		promise(program_code(program, row->start));
		bobbin_rule_unpack(row->word, &rule);
		promise(rule.cfa.how == BOBBIN_HOW_AT_REG || rule.cfa.how == BOBBIN_HOW_IN_REG_MEM);
		promise(rule.ra.how == BOBBIN_HOW_IN_CFA_MEM && rule.ra.off == -8);
		end = row->end;
	}
}

static void infer_program(struct program *program)
{
	const struct infer_options options = {0};
	struct infer_rows rows;
	uint64_t bytes;
	int r = infer_rows(program, &options, &rows);

	promise(!r || r == -ENODATA || r == -EFBIG || r == -ENOTSUP || r == -ENOMEM);
	if (r)
		return;
	bytes = coverage_bytes(&program->code);
	promise(rows.counts.functions <= bytes);
	check_rows(&rows, program);
	infer_rows_fini(&rows);
}

static void infer_code(const uint8_t *data, size_t size)
{
	struct program program = {0};
	struct program_span *spans = calloc(1, sizeof(*spans));
	uint8_t *bytes = malloc(size ? size : 1);

	promise(spans && bytes);
	memcpy(bytes, data, size);
	*spans = (struct program_span){CODE, size, bytes, true};
	program.spans = spans;
	program.span_count = program.span_capacity = 1;
	promise(!coverage_add(&program.code, CODE + size / 4, CODE + size));
	coverage_settle(&program.code);
	promise(!program_add_start(&program, CODE + size / 4, START_SYMBOL));
	infer_program(&program);
	program_fini(&program);
}

static void infer_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("infer", MFD_CLOEXEC);
	struct bobbin_error error = {0};
	struct program program;

	promise(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!program_of_elf(fd, &error, &program)) {
		infer_program(&program);
		program_fini(&program);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > MOST_BYTES)
		return 0;
	if (data[0] % 2)
		infer_file(data + 1, size - 1);
	else
		infer_code(data + 1, size - 1);
	return 0;
}
