// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/verified_rows.h"

#include "base/vector.h"
#include "convert/fde_list.h"
#include "core/bisect.h"
#include "infer/infer.h"
#include "infer/machine.h"
#include "infer/program_elf.h"
#include "infer/uncovered_code.h"
#include "table/infer_ops.h"

/* Bytes between the instructions of a function, at most one less: loops are aligned. */
#define MOST_PADDING 64

static int list_functions(const struct bobbin_cfi_view *views, unsigned int count,
			  struct coverage *ret)
{
	struct fde_list fdes;
	int r = fde_list_init(views, count, &fdes);

	if (r)
		return r;
	for (size_t i = 0; i < fdes.count && !r; i++)
		r = coverage_add(ret, fdes.fdes[i].start, fdes.fdes[i].end);
	coverage_settle(ret);
	fde_list_fini(&fdes);
	return r;
}

/* The parts of a row in a set of addresses: parts of a function may be in code with tables. */
static int take_parts(const struct infer_row *row, const struct coverage *wanted,
		      struct verified_rows *ret)
{
	size_t i = bisect(k, 0, wanted->count, wanted->ranges[k].end > row->start);
	int r = 0;

	for (; i < wanted->count && wanted->ranges[i].start < row->end && !r; i++) {
		const struct bobbin_range *range = &wanted->ranges[i];

		r = vector_push(
			ret->row, ret->count, ret->capacity,
			(struct added_row){
				.start = row->start > range->start ? row->start : range->start,
				.end = row->end < range->end ? row->end : range->end,
				.function = row->function,
				.word = row->word,
			});
	}
	return r;
}

static int take_rows(const struct infer_rows *rows, const struct coverage *wanted,
		     struct verified_rows *ret)
{
	int r = 0;

	for (size_t i = 0; i < rows->count && !r; i++) {
		const struct infer_row *row = &rows->rows[i];

		if (!row->verified) {
			ret->guesses++;
			continue;
		}
		ret->functions += row->start == row->function;
		r = take_parts(row, wanted, ret);
	}
	return r;
}

static bool has_all(const struct coverage *set, uint64_t start, uint64_t end)
{
	const size_t i = bisect(k, 0, set->count, set->ranges[k].end > start);

	return i < set->count && set->ranges[i].start <= start && end <= set->ranges[i].end;
}

/* Whether padding is all that is between two addresses. */
static bool is_padding(const struct program *program, const struct insn_decoder *decoder,
		       uint64_t start, uint64_t end)
{
	struct insn insn = {0};
	uint64_t at = start, size;

	for (; at < end; at += insn.len) {
		const uint8_t *code = program_bytes(program, at, &size);

		if (!code)
			return false;
		insn_decode(decoder, code, size, at, &insn);
		if (!program->machine->is_padding(code, insn.len))
			return false;
	}
	return at == end;
}

/*
 * Padding inside a function leads to what follows it, if to anything, so that row begins with it.
 * Without this, the function falls into parts.
 */
static void bridge(struct verified_rows *rows, const struct program *program,
		   const struct coverage *wanted, const struct insn_decoder *decoder)
{
	for (size_t i = 1; i < rows->count; i++) {
		const struct added_row *last = &rows->row[i - 1];
		struct added_row *row = &rows->row[i];

		if (row->function == last->function && row->start - last->end < MOST_PADDING &&
		    has_all(wanted, last->end, row->start) &&
		    is_padding(program, decoder, last->end, row->start))
			row->start = last->end;
	}
}

static int infer(struct program *program, const struct coverage *wanted, struct verified_rows *ret)
{
	const struct infer_options options = {.only = wanted};
	struct insn_decoder *decoder = insn_decoder_open(program->machine);
	struct infer_rows rows = {0};
	int r = decoder ? infer_rows(program, &options, &rows) : -ENOMEM;

	if (!r)
		r = take_rows(&rows, wanted, ret);
	if (!r)
		bridge(ret, program, wanted, decoder);
	infer_rows_fini(&rows);
	insn_decoder_close(decoder);
	return r == -ENODATA ? 0 : r;
}

static int infer_uncovered(struct program *program, struct coverage *functions,
			   struct verified_rows *ret)
{
	struct coverage wanted = {0};
	int r = uncovered_code_find(program, functions, &wanted);

	if (!r && coverage_bytes(&wanted) > INFER_FILE_MAX)
		r = -EFBIG;
	if (!r && wanted.count)
		r = infer(program, &wanted, ret);
	coverage_fini(&wanted);
	return r;
}

int verified_rows_infer(int fd, const struct bobbin_cfi_view *views, unsigned int count,
			struct verified_rows *ret)
{
	struct verified_rows rows = {0};
	struct coverage functions = {0};
	struct program program;
	int r = program_of_elf(fd, NULL, &program);

	if (r)
		return r;
	r = list_functions(views, count, &functions);
	if (!r)
		r = infer_uncovered(&program, &functions, &rows);
	coverage_fini(&functions);
	program_fini(&program);
	if (r)
		verified_rows_fini(&rows);
	else
		*ret = rows;
	return r;
}

void verified_rows_fini(struct verified_rows *rows)
{
	free(rows->row);
	*rows = (struct verified_rows){0};
}
