/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/hotspot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_name.h"
#include "target/backing_file.h"
#include "target/elf_symbols.h"
#include "target/hotspot_fields.h"

/* Of tables that a machine describes itself by; real ones have 800 entries of 48 bytes. */
#define ENTRIES_MAX 8192u
#define STRIDE_MIN 8u
#define STRIDE_MAX 256u
/* Entries whose names are read at once. */
#define ENTRIES_AT_ONCE 64u
#define SEGMENT_SHIFT_MAX 20u
#define HEAP_MAX ((uint64_t)4 << 30)

/* Variables of libjvm.so: tables, and where the parts of their entries are. */
enum variable {
	STRUCTS,
	STRUCT_TYPE,
	STRUCT_FIELD,
	STRUCT_TEXT,
	STRUCT_IS_STATIC,
	STRUCT_OFFSET,
	STRUCT_ADDRESS,
	STRUCT_STRIDE,
	TYPES,
	TYPE_NAME,
	TYPE_SIZE,
	TYPE_STRIDE,
	VARIABLES
};

static const char *const variable_names[VARIABLES] = {
	[STRUCTS] = "gHotSpotVMStructs",
	[STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[STRUCT_TEXT] = "gHotSpotVMStructEntryTypeStringOffset",
	[STRUCT_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[TYPES] = "gHotSpotVMTypes",
	[TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
};

/* A field, and the structures that have had it in one version or another. */
static const struct {
	const char *field, *types[2];
} field_names[HOTSPOT_FIELDS] = {
	[HOTSPOT_HEAPS_ARRAY] = {"_heaps", {"CodeCache"}},
	[HOTSPOT_INTERPRETER] = {"_code", {"AbstractInterpreter"}},
	[HOTSPOT_ARRAY_LENGTH] = {"_len", {"GrowableArrayBase", "GenericGrowableArray"}},
	[HOTSPOT_ARRAY_DATA] = {"_data", {"GrowableArray<int>"}},
	[HOTSPOT_HEAP_MEMORY] = {"_memory", {"CodeHeap"}},
	[HOTSPOT_HEAP_MAP] = {"_segmap", {"CodeHeap"}},
	[HOTSPOT_HEAP_SHIFT] = {"_log2_segment_size", {"CodeHeap"}},
	[HOTSPOT_SPACE_LOW] = {"_low", {"VirtualSpace"}},
	[HOTSPOT_SPACE_HIGH] = {"_high", {"VirtualSpace"}},
	[HOTSPOT_SPACE_END] = {"_high_boundary", {"VirtualSpace"}},
	[HOTSPOT_BLOCK_LENGTH] = {"_length", {"HeapBlock::Header"}},
	[HOTSPOT_BLOCK_USED] = {"_used", {"HeapBlock::Header"}},
	[HOTSPOT_BLOB_NAME] = {"_name", {"CodeBlob"}},
	[HOTSPOT_BLOB_SIZE] = {"_size", {"CodeBlob"}},
	[HOTSPOT_BLOB_COMPLETE] = {"_frame_complete_offset", {"CodeBlob"}},
	[HOTSPOT_BLOB_FRAME] = {"_frame_size", {"CodeBlob"}},
	[HOTSPOT_CODE_BEGIN] = {"_code_begin", {"CodeBlob"}},
	[HOTSPOT_CODE_END] = {"_code_end", {"CodeBlob"}},
	[HOTSPOT_CODE_OFFSET] = {"_code_offset", {"CodeBlob"}},
	[HOTSPOT_DATA_OFFSET] = {"_data_offset", {"CodeBlob"}},
	[HOTSPOT_METHOD] = {"_method", {"CompiledMethod", "nmethod"}},
	[HOTSPOT_METHOD_ID] = {"_compile_id", {"nmethod"}},
	[HOTSPOT_METHOD_ENTRY] = {"_verified_entry_point", {"nmethod"}},
	[HOTSPOT_METHOD_SECOND] = {"_osr_entry_point", {"nmethod"}},
	[HOTSPOT_METHOD_ENTRY_OFFSET] = {"_verified_entry_offset", {"nmethod"}},
	[HOTSPOT_METHOD_STUBS] = {"_stub_offset", {"nmethod"}},
	[HOTSPOT_METHOD_HANDLERS] = {"_exception_offset", {"nmethod"}},
	[HOTSPOT_METHOD_CONST] = {"_constMethod", {"Method"}},
	[HOTSPOT_CONST_POOL] = {"_constants", {"ConstMethod"}},
	[HOTSPOT_CONST_NAME] = {"_name_index", {"ConstMethod"}},
	[HOTSPOT_POOL_HOLDER] = {"_pool_holder", {"ConstantPool"}},
	[HOTSPOT_CLASS_NAME] = {"_name", {"Klass"}},
	[HOTSPOT_SYMBOL_LENGTH] = {"_length", {"Symbol"}},
	[HOTSPOT_SYMBOL_BODY] = {"_body", {"Symbol"}},
	[HOTSPOT_QUEUE_BUFFER] = {"_stub_buffer", {"StubQueue"}},
	[HOTSPOT_QUEUE_END] = {"_queue_end", {"StubQueue"}},
	[HOTSPOT_CODELET_SIZE] = {"_size", {"InterpreterCodelet"}},
	[HOTSPOT_CODELET_TEXT] = {"_description", {"InterpreterCodelet"}},
};

/* Without these no code is found. */
static const enum hotspot_field_number needed[] = {
	HOTSPOT_HEAPS_ARRAY, HOTSPOT_ARRAY_LENGTH, HOTSPOT_ARRAY_DATA, HOTSPOT_HEAP_MEMORY,
	HOTSPOT_HEAP_MAP,    HOTSPOT_HEAP_SHIFT,   HOTSPOT_SPACE_LOW,  HOTSPOT_SPACE_HIGH,
	HOTSPOT_BLOB_NAME,   HOTSPOT_BLOB_SIZE,    HOTSPOT_BLOB_FRAME, HOTSPOT_BLOB_COMPLETE,
};

/* what the machine says of its structures */

struct description {
	struct remote_process process;
	uint64_t variables[VARIABLES];
};

static int find_variables(Elf *elf, const struct mapping *m, struct description *ret)
{
	struct elf_symbol symbols[VARIABLES];
	uint64_t bias;

	for (unsigned int i = 0; i < VARIABLES; i++)
		symbols[i] = (struct elf_symbol){.name = variable_names[i]};
	if (elf_symbols_find(elf, symbols, VARIABLES) < VARIABLES ||
	    !elf_mapping_bias(elf, m, &bias))
		return -ENOTSUP;
	for (unsigned int i = 0; i < VARIABLES; i++) {
		int r = process_read(&ret->process, symbols[i].value + bias, &ret->variables[i],
				     sizeof(ret->variables[i]));

		if (r)
			return r;
	}
	return 0;
}

static int look_into(const struct mapping *m, struct description *ret)
{
	int fd = backing_file_open(ret->process.reader, m->file, NULL), r = -ENOTSUP;
	Elf *elf;

	if (fd < 0)
		return fd;
	elf_version(EV_CURRENT);
	elf = elf_counts_are_sane(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64)
		r = find_variables(elf, m, ret);
	elf_end(elf);
	close(fd);
	return r;
}

static int find_library(const struct mapping_list *maps, struct description *ret)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *m = &maps->list[i];

		if (m->file->kind == FILE_REGULAR && !strcmp(base_name(m->path), "libjvm.so"))
			return look_into(m, ret);
	}
	return -ENOENT;
}

/* A table of entries with texts in them, one batch of which is read at once. */
struct entries {
	const struct remote_process *process;
	uint64_t table, stride, number;
	const uint64_t *texts; /* offsets of their addresses in an entry */
	unsigned int text_count;
	uint8_t bytes[ENTRIES_AT_ONCE * STRIDE_MAX];
	char text[ENTRIES_AT_ONCE][3][HOTSPOT_TEXT];
};

static uint64_t pointer_in(const uint8_t *entry, uint64_t at)
{
	return (uint64_t)hotspot_number(entry + at, HOTSPOT_WORD, false);
}

/* Texts near the end of what is mapped are shorter than what is read: they remain empty. */
static void read_texts(struct entries *e, size_t count)
{
	struct process_read reads[ENTRIES_AT_ONCE * 3];
	size_t n = 0;

	memset(e->text, 0, sizeof(e->text));
	for (size_t i = 0; i < count; i++)
		for (unsigned int k = 0; k < e->text_count; k++)
			reads[n++] = (struct process_read){
				pointer_in(e->bytes + i * e->stride, e->texts[k]), e->text[i][k],
				HOTSPOT_TEXT - 1, 0};
	process_read_all(e->process, reads, n);
}

/* How many entries are there before one without a name, or the batch ends. */
static size_t count_named(const struct entries *e)
{
	size_t i = 0;

	while (i < ENTRIES_AT_ONCE && pointer_in(e->bytes + i * e->stride, e->texts[0]))
		i++;
	return i;
}

/* The last batch of a table may lie before what is not mapped. */
static void read_batch(struct entries *e)
{
	memset(e->bytes, 0, sizeof(e->bytes));
	if (!process_read(e->process, e->table + e->number * e->stride, e->bytes,
			  ENTRIES_AT_ONCE * e->stride))
		return;
	for (size_t i = 0; i < ENTRIES_AT_ONCE; i++)
		if (process_read(e->process, e->table + (e->number + i) * e->stride,
				 e->bytes + i * e->stride, e->stride))
			return;
}

/* Whether each offset leaves room for a word in an entry. */
static bool fits(const struct description *d, enum variable first, enum variable last,
		 uint64_t stride)
{
	for (enum variable v = first; v <= last; v++)
		if (stride < HOTSPOT_WORD || d->variables[v] > stride - HOTSPOT_WORD)
			return false;
	return stride >= STRIDE_MIN && stride <= STRIDE_MAX;
}

static uint8_t size_of(const char *text)
{
	if (strchr(text, '*') || strstr(text, "64") || strstr(text, "size_t") ||
	    strstr(text, "address") || strstr(text, "intptr"))
		return 8;
	if (strstr(text, "16") || !strcmp(text, "u2") || !strcmp(text, "jushort"))
		return 2;
	if (strstr(text, "int8") || !strcmp(text, "u1") || !strcmp(text, "bool") ||
	    strstr(text, "char"))
		return 1;
	return 4;
}

static bool is_field(unsigned int i, const char *type, const char *field)
{
	return !strcmp(field_names[i].field, field) &&
	       (!strcmp(field_names[i].types[0], type) ||
		(field_names[i].types[1] && !strcmp(field_names[i].types[1], type)));
}

/* Takes an entry of a table's batch. */
typedef void entry_sink(const struct description *d, const struct entries *e, size_t i,
			struct hotspot *ret);

static void note_field(const struct description *d, const struct entries *e, size_t i,
		       struct hotspot *ret)
{
	const uint8_t *entry = e->bytes + i * e->stride;
	const char(*text)[HOTSPOT_TEXT] = e->text[i];
	const bool is_static = hotspot_number(entry + d->variables[STRUCT_IS_STATIC], 4, false);
	const enum variable at = is_static ? STRUCT_ADDRESS : STRUCT_OFFSET;

	for (unsigned int n = 0; n < HOTSPOT_FIELDS; n++)
		if (is_field(n, text[0], text[1]) && !ret->fields[n].size)
			ret->fields[n] = (struct hotspot_field){
				.at = pointer_in(entry, d->variables[at]),
				.size = size_of(text[2]),
				.is_signed = text[2][0] != 'u',
			};
}

static void note_size(const struct description *d, const struct entries *e, size_t i,
		      struct hotspot *ret)
{
	const uint64_t size = pointer_in(e->bytes + i * e->stride, d->variables[TYPE_SIZE]);
	const char *type = e->text[i][0];

	if (!strcmp(type, "HeapBlock"))
		ret->block_size = size;
	else if (!strcmp(type, "ConstantPool"))
		ret->pool_size = size;
	else if (!strcmp(type, "InterpreterCodelet"))
		ret->codelet_size = size;
}

static void read_table(const struct description *d, struct entries *e, entry_sink *take,
		       struct hotspot *ret)
{
	size_t count = ENTRIES_AT_ONCE;

	for (; count == ENTRIES_AT_ONCE && e->number < ENTRIES_MAX; e->number += count) {
		read_batch(e);
		count = count_named(e);
		read_texts(e, count);
		for (size_t i = 0; i < count; i++)
			take(d, e, i, ret);
	}
}

/* @e is large: it is of the heap. */
static void read_structs(const struct description *d, struct entries *e, struct hotspot *ret)
{
	const uint64_t texts[] = {d->variables[STRUCT_TYPE], d->variables[STRUCT_FIELD],
				  d->variables[STRUCT_TEXT]};

	*e = (struct entries){.process = &d->process,
			      .table = d->variables[STRUCTS],
			      .stride = d->variables[STRUCT_STRIDE],
			      .texts = texts,
			      .text_count = 3};
	if (fits(d, STRUCT_TYPE, STRUCT_ADDRESS, e->stride))
		read_table(d, e, note_field, ret);
}

static void read_types(const struct description *d, struct entries *e, struct hotspot *ret)
{
	const uint64_t texts[] = {d->variables[TYPE_NAME]};

	*e = (struct entries){.process = &d->process,
			      .table = d->variables[TYPES],
			      .stride = d->variables[TYPE_STRIDE],
			      .texts = texts,
			      .text_count = 1};
	if (fits(d, TYPE_NAME, TYPE_SIZE, e->stride))
		read_table(d, e, note_size, ret);
}

static bool is_described(const struct hotspot *vm)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!vm->fields[needed[i]].size)
			return false;
	return (vm->fields[HOTSPOT_CODE_BEGIN].size || vm->fields[HOTSPOT_CODE_OFFSET].size) &&
	       vm->block_size && vm->block_size < 256;
}

/* heaps */

static int read_space(const struct hotspot *vm, uint64_t space, uint64_t *low, uint64_t *high)
{
	const enum hotspot_field_number end = vm->fields[HOTSPOT_SPACE_END].size
						      ? HOTSPOT_SPACE_END
						      : HOTSPOT_SPACE_HIGH;
	int r;

	*low = *high = space;
	r = hotspot_follow(vm, HOTSPOT_SPACE_LOW, low);
	return r ? r : hotspot_follow(vm, end, high);
}

static int read_heap(const struct hotspot *vm, uint64_t addr, struct hotspot_heap *ret)
{
	int64_t shift;
	int r = hotspot_read(vm, addr, HOTSPOT_HEAP_SHIFT, &shift);

	if (!r)
		r = read_space(vm, addr + vm->fields[HOTSPOT_HEAP_MEMORY].at, &ret->start,
			       &ret->end);
	if (!r)
		r = read_space(vm, addr + vm->fields[HOTSPOT_HEAP_MAP].at, &ret->map,
			       &ret->map_size);
	if (r)
		return r;
	if (shift < 3 || shift > SEGMENT_SHIFT_MAX || ret->end <= ret->start ||
	    ret->end - ret->start > HEAP_MAX || ret->map_size <= ret->map)
		return -EBADMSG;
	ret->map_size -= ret->map;
	ret->shift = (unsigned int)shift;
	return 0;
}

/* The array of heaps, and how many it has. */
static int read_array(const struct hotspot *vm, uint64_t *array, int64_t *count)
{
	int r = hotspot_word(vm, vm->fields[HOTSPOT_HEAPS_ARRAY].at, array);

	r = r ? r : hotspot_read(vm, *array, HOTSPOT_ARRAY_LENGTH, count);
	if (!r && *count > HOTSPOT_HEAPS)
		*count = HOTSPOT_HEAPS;
	if (!r && *count < 0)
		*count = 0;
	return r;
}

static int read_heaps(struct hotspot *vm)
{
	uint64_t data, heap;
	int64_t count;
	int r = read_array(vm, &data, &count);

	if (!r)
		r = hotspot_follow(vm, HOTSPOT_ARRAY_DATA, &data);
	vm->heap_count = 0;
	for (int64_t i = 0; !r && i < count; i++) {
		r = hotspot_word(vm, data + (uint64_t)i * HOTSPOT_WORD, &heap);
		if (!r)
			r = read_heap(vm, heap, &vm->heaps[vm->heap_count]);
		vm->heap_count += !r;
	}
	return r;
}

int hotspot_open(const struct remote_process *process, const struct mapping_list *maps,
		 struct hotspot *ret)
{
	struct description d = {.process = *process};
	struct entries *entries;
	int r = find_library(maps, &d);

	if (r)
		return r;
	entries = malloc(sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	*ret = (struct hotspot){.process = *process};
	read_structs(&d, entries, ret);
	read_types(&d, entries, ret);
	free(entries);
	return is_described(ret) ? read_heaps(ret) : -ENOTSUP;
}

int hotspot_update(struct hotspot *vm)
{
	uint64_t array;
	int64_t count;
	int r = read_array(vm, &array, &count);

	if (r || count == (int64_t)vm->heap_count)
		return r;
	r = read_heaps(vm);
	return r ? r : 1;
}

const struct hotspot_heap *hotspot_heap(const struct hotspot *vm, uint64_t addr)
{
	for (size_t i = 0; i < vm->heap_count; i++)
		if (addr - vm->heaps[i].start < vm->heaps[i].end - vm->heaps[i].start)
			return &vm->heaps[i];
	return NULL;
}
