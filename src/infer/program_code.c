// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/program_code.h"

#include <string.h>

#include "base/vector.h"
#include "core/bytes.h"

#define WORD 8

void program_fini(struct program *program)
{
	for (size_t i = 0; i < program->span_count; i++)
		free(program->spans[i].bytes);
	free(program->spans);
	coverage_fini(&program->code);
	free(program->starts);
	free(program->pointed);
	free(program->pointers);
	free(program->imports);
	free(program->no_return);
	free(program->tables);
	free(program->pads);
	*program = (struct program){0};
}

int program_add_start(struct program *program, uint64_t addr, unsigned int flags)
{
	return vector_push(program->starts, program->start_count, program->start_capacity,
			   (struct program_start){.addr = addr, .flags = (uint8_t)flags});
}

int program_add_pad(struct program *program, uint64_t start, uint64_t end, uint64_t pad)
{
	return vector_push(program->pads, program->pad_count, program->pad_capacity,
			   (struct program_pad){start, end, pad});
}

/* The last element whose first member, a uint64_t, is at most @addr; -1: none is. */
static ptrdiff_t last_at(const void *array, size_t count, size_t size, uint64_t addr)
{
	size_t low = 0, high = count;
	uint64_t start;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		memcpy(&start, (const char *)array + middle * size, sizeof(start));
		if (start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return (ptrdiff_t)low - 1;
}

#define LAST_AT(array, count, addr) last_at(array, count, sizeof(*(array)), addr)

static void sort(void *array, size_t count, size_t size)
{
	if (count)
		qsort(array, count, size, vector_by_start);
}

/* Starts outside of code are left out, several at one place become one. */
static void unite_starts(struct program *p)
{
	size_t kept = 0;

	sort(p->starts, p->start_count, sizeof(*p->starts));
	for (size_t i = 0; i < p->start_count; i++) {
		const struct program_start start = p->starts[i];

		if (kept && p->starts[kept - 1].addr == start.addr)
			p->starts[kept - 1].flags |= start.flags;
		else if (program_code(p, start.addr))
			p->starts[kept++] = start;
	}
	p->start_count = kept;
}

/* Those that bound functions stay. */
static int part_starts(struct program *p)
{
	size_t kept = 0;
	int r = 0;

	p->pointed_count = 0;
	for (size_t i = 0; i < p->start_count && !r; i++)
		if (p->starts[i].flags & START_BOUND)
			p->starts[kept++] = p->starts[i];
		else
			r = vector_push(p->pointed, p->pointed_count, p->pointed_capacity,
					p->starts[i]);
	p->start_count = kept;
	return r;
}

void program_sort_pointers(struct program *p)
{
	sort(p->spans, p->span_count, sizeof(*p->spans));
	sort(p->pointers, p->pointer_count, sizeof(*p->pointers));
}

int program_settle(struct program *p)
{
	int r = 0;

	program_sort_pointers(p);
	sort(p->imports, p->import_count, sizeof(*p->imports));
	sort(p->no_return, p->no_return_count, sizeof(*p->no_return));
	sort(p->tables, p->table_count, sizeof(*p->tables));
	sort(p->pads, p->pad_count, sizeof(*p->pads));
	for (size_t i = 0; i < p->pointed_count && !r; i++)
		r = program_add_start(p, p->pointed[i].addr, p->pointed[i].flags);
	if (r)
		return r;
	unite_starts(p);
	return part_starts(p);
}

const struct bobbin_range *program_code(const struct program *program, uint64_t addr)
{
	const struct coverage *code = &program->code;
	ptrdiff_t i = LAST_AT(code->ranges, code->count, addr);

	return i >= 0 && addr < code->ranges[i].end ? &code->ranges[i] : NULL;
}

const uint8_t *program_bytes(const struct program *program, uint64_t addr, uint64_t *size)
{
	ptrdiff_t i = LAST_AT(program->spans, program->span_count, addr);
	const struct program_span *span = i < 0 ? NULL : &program->spans[i];

	if (!span || addr - span->addr >= span->size)
		return NULL;
	*size = span->size - (addr - span->addr);
	return span->bytes + (addr - span->addr);
}

bool program_word(const struct program *program, uint64_t addr, uint64_t *ret)
{
	ptrdiff_t i = LAST_AT(program->pointers, program->pointer_count, addr);
	const uint8_t *bytes;
	uint64_t size;

	if (i >= 0 && program->pointers[i].at == addr) {
		*ret = program->pointers[i].value;
		return true;
	}
	bytes = program_bytes(program, addr, &size);
	if (!bytes || size < WORD)
		return false;
	*ret = load_u64(bytes, false);
	return true;
}

bool program_fixed_word(const struct program *program, uint64_t addr, uint64_t *ret)
{
	ptrdiff_t i = LAST_AT(program->pointers, program->pointer_count, addr);

	if (i < 0 || program->pointers[i].at != addr || addr < program->fixed ||
	    addr >= program->fixed_end)
		return false;
	*ret = program->pointers[i].value;
	return true;
}

struct program_start *program_start(const struct program *program, uint64_t addr)
{
	ptrdiff_t i = LAST_AT(program->starts, program->start_count, addr);

	return i < 0 ? NULL : &program->starts[i];
}

uint64_t program_next(const struct program *program, uint64_t addr)
{
	const struct bobbin_range *code = program_code(program, addr);
	size_t i = (size_t)(LAST_AT(program->starts, program->start_count, addr) + 1);

	if (!code)
		return addr;
	return i < program->start_count && program->starts[i].addr < code->end
		       ? program->starts[i].addr
		       : code->end;
}

struct program_start *program_pointed(const struct program *program, uint64_t addr)
{
	ptrdiff_t i = LAST_AT(program->pointed, program->pointed_count, addr);

	return i >= 0 && program->pointed[i].addr == addr ? &program->pointed[i] : NULL;
}

uint64_t program_next_table(const struct program *program, uint64_t addr)
{
	size_t i = (size_t)(LAST_AT(program->tables, program->table_count, addr) + 1);

	return i < program->table_count ? program->tables[i] : UINT64_MAX;
}

bool program_is_import(const struct program *program, uint64_t at)
{
	ptrdiff_t i = LAST_AT(program->imports, program->import_count, at);

	return i >= 0 && program->imports[i] == at;
}

bool program_slot_ends(const struct program *program, uint64_t at)
{
	ptrdiff_t i = LAST_AT(program->no_return, program->no_return_count, at);

	return i >= 0 && program->no_return[i] == at;
}

bool program_call_ends(const struct program *program, uint64_t addr)
{
	const struct program_start *start = program_start(program, addr);
	const uint8_t *code;
	uint64_t size, slot;

	if (start && start->addr == addr && start->flags & (START_NO_RETURN | START_ENDS))
		return true;
	code = program_bytes(program, addr, &size);
	return code && program->machine->stub_slot(code, size, addr, &slot) &&
	       program_slot_ends(program, slot);
}

bool program_pad_of(const struct program *program, uint64_t after, uint64_t *ret)
{
	ptrdiff_t i = LAST_AT(program->pads, program->pad_count, after - 1);

	if (i < 0 || after > program->pads[i].end)
		return false;
	*ret = program->pads[i].pad;
	return true;
}
