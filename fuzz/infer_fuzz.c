/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as machine code, or as a file that has some.
 *
 *	u8: 0 code of x86-64, of which the first quarter is also data; 1, 3 an ELF file; 2 code of AArch64
 *	bytes
 *
 * Contract: rows ascend, do not overlap, lie in code and have rules that can be applied; the
 * work is bounded by the bytes; a section of the verified ones is what it was made of.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/promise.h"
#include "convert/comparison.h"
#include "convert/converter.h"
#include "infer/infer.h"
#include "infer/program_elf.h"
#include "infer/verified_rows.h"

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
		/* below the CFA, unless the function has moved it: then anywhere on the stack */
		promise(program->machine != &machine_amd64 ||
			rule.ra.how == BOBBIN_HOW_IN_CFA_MEM ||
			rule.ra.how == BOBBIN_HOW_IN_REG_MEM);
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

static void infer_code(const struct machine *machine, const uint8_t *data, size_t size)
{
	struct program program = {.machine = machine};
	struct program_span *spans = calloc(1, sizeof(*spans));
	uint8_t *bytes = malloc(size ? size : 1);
	const size_t data_size = size / 4 & ~(size_t)(machine->shortest - 1);

	promise(spans && bytes);
	memcpy(bytes, data, size);
	*spans = (struct program_span){CODE, size, bytes, true};
	program.spans = spans;
	program.span_count = program.span_capacity = 1;
	promise(!coverage_add(&program.code, CODE + data_size, CODE + size));
	coverage_settle(&program.code);
	promise(!program_add_start(&program, CODE + data_size, START_SYMBOL));
	infer_program(&program);
	program_fini(&program);
}

/* A section of verified rows has each of them, and no other. */
static void convert(const struct machine *machine, int fd)
{
	struct convert_options options = {.version = 3, .arch = machine->arch()};
	struct verified_rows rows;
	struct convert_stats stats;
	uint8_t *section;
	uint64_t size;

	if (verified_rows_infer(fd, NULL, 0, &rows))
		return;
	options.added = (struct added_rows){rows.row, rows.count};
	promise(rows.functions <= rows.count);
	promise(!convert_cfi(NULL, 0, &options, &stats, &section, &size));
	promise(!comparison_prove(NULL, 0, &options.added, section, size, 0));
	free(section);
	verified_rows_fini(&rows);
}

static void infer_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("infer", MFD_CLOEXEC);
	struct bobbin_error error = {0};
	struct program program;

	promise(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!program_of_elf(fd, &error, &program)) {
		infer_program(&program);
		convert(program.machine, fd);
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
		infer_code(data[0] % 4 ? &machine_aarch64 : &machine_amd64, data + 1, size - 1);
	return 0;
}
