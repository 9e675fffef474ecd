/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code in the heaps of a Java virtual machine: its blobs, their names, the interpreter. */
#include <stdlib.h>

#include "target/hotspot_fields.h"

/* Of a segment's map, from a piece of code to where its block begins. */
#define HOPS_MAX 4096u
#define BLOB_MAX ((uint64_t)16 << 20)
#define INTERPRETER_MAX ((uint64_t)4 << 20)
/* HotSpot's CodeEntryAlignment. */
#define CODELET_ALIGN 32u
#define ENTRY_TEXT "method entry point"
/* Memory that is mapped ends at a multiple of it. */
#define PAGE 4096u

/* A segment's byte says how many segments are to be gone back, at most; 0: the block begins here. */
static int find_block(const struct hotspot *vm, const struct hotspot_heap *heap, uint64_t addr,
		      uint64_t *ret)
{
	uint64_t segment = (addr - heap->start) >> heap->shift;
	uint8_t back = 0;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		int r = segment < heap->map_size
				? process_read(&vm->process, heap->map + segment, &back, 1)
				: -ENOENT;

		if (r)
			return r;
		if (!back) {
			*ret = heap->start + (segment << heap->shift);
			return 0;
		}
		if (back == UINT8_MAX || back > segment)
			return -ENOENT;
		segment -= back;
	}
	return -ENOENT;
}

/* An address, or an offset from @base, as an offset in the code. */
static int64_t in_code(const struct hotspot_blob *b, uint64_t addr)
{
	return addr >= b->code && addr < b->end ? (int64_t)(addr - b->code) : -1;
}

static int64_t offset_in_code(const struct hotspot_blob *b, uint64_t base, int64_t offset)
{
	return offset < 0 ? -1 : in_code(b, base + (uint64_t)offset);
}

static void parse_method(const struct hotspot *vm, const uint8_t *bytes, struct hotspot_blob *b)
{
	b->method = (uint64_t)hotspot_told(vm, bytes, HOTSPOT_METHOD, 0);
	b->id = hotspot_told(vm, bytes, HOTSPOT_METHOD_ID, -1);
	b->entry = in_code(b, (uint64_t)hotspot_told(vm, bytes, HOTSPOT_METHOD_ENTRY, 0));
	if (b->entry < 0)
		b->entry = offset_in_code(b, b->code,
					  hotspot_told(vm, bytes, HOTSPOT_METHOD_ENTRY_OFFSET, -1));
	b->second = in_code(b, (uint64_t)hotspot_told(vm, bytes, HOTSPOT_METHOD_SECOND, 0));
	b->stubs = offset_in_code(b, b->at, hotspot_told(vm, bytes, HOTSPOT_METHOD_STUBS, -1));
	b->handlers = offset_in_code(b, b->at,
				     hotspot_told(vm, bytes, HOTSPOT_METHOD_HANDLERS, -1));
}

/* What tells one blob from another is read; its kind is not. */
static bool parse(const struct hotspot *vm, uint64_t at, const uint8_t *bytes,
		  struct hotspot_blob *ret)
{
	const int64_t size = hotspot_told(vm, bytes, HOTSPOT_BLOB_SIZE, 0);
	const int64_t frame = hotspot_told(vm, bytes, HOTSPOT_BLOB_FRAME, 0);

	*ret = (struct hotspot_blob){
		.at = at, .entry = -1, .second = -1, .stubs = -1, .handlers = -1};
	ret->name = (uint64_t)hotspot_told(vm, bytes, HOTSPOT_BLOB_NAME, 0);
	ret->code = (uint64_t)hotspot_told(vm, bytes, HOTSPOT_CODE_BEGIN, 0);
	ret->end = (uint64_t)hotspot_told(vm, bytes, HOTSPOT_CODE_END, 0);
	if (!vm->fields[HOTSPOT_CODE_BEGIN].size) {
		ret->code = at + (uint64_t)hotspot_told(vm, bytes, HOTSPOT_CODE_OFFSET, 0);
		ret->end = at + (uint64_t)hotspot_told(vm, bytes, HOTSPOT_DATA_OFFSET, 0);
	}
	if (size <= 0 || (uint64_t)size > BLOB_MAX || frame < 0 || frame > (1 << 16) ||
	    ret->code < at || ret->end <= ret->code || ret->end > at + (uint64_t)size)
		return false;
	ret->frame = frame * HOTSPOT_WORD;
	ret->complete = hotspot_told(vm, bytes, HOTSPOT_BLOB_COMPLETE, -1);
	parse_method(vm, bytes, ret);
	return true;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum hotspot_kind kind_of(const char *name, const struct hotspot_blob *blob)
{
	if (!strcmp(name, "nmethod"))
		return HOTSPOT_COMPILED;
	if (!strcmp(name, "native nmethod"))
		return HOTSPOT_NATIVE;
	if (!strcmp(name, "Interpreter"))
		return HOTSPOT_TEMPLATES;
	if (begins(name, "vtable chunks"))
		return HOTSPOT_THUNKS;
	if (begins(name, "I2C/C2I"))
		return HOTSPOT_ADAPTERS;
	return blob->frame ? HOTSPOT_ROUTINE : HOTSPOT_ROUTINES;
}

static bool is_method(const struct hotspot_blob *blob)
{
	return blob->kind == HOTSPOT_COMPILED || blob->kind == HOTSPOT_NATIVE;
}

int hotspot_read_description(const struct hotspot *vm, uint64_t at,
			     uint8_t ret[HOTSPOT_DESCRIPTION])
{
	const uint64_t left = PAGE - at % PAGE;
	const int r = process_read(&vm->process, at, ret, HOTSPOT_DESCRIPTION);

	if (r != -EFAULT || left >= HOTSPOT_DESCRIPTION)
		return r;
	memset(ret, 0, HOTSPOT_DESCRIPTION);
	return process_read(&vm->process, at, ret, left);
}

int hotspot_find(const struct hotspot *vm, uint64_t addr, struct hotspot_blob *ret)
{
	const struct hotspot_heap *heap = hotspot_heap(vm, addr);
	uint8_t bytes[HOTSPOT_DESCRIPTION];
	char name[16] = "";
	uint64_t block;
	int r = heap ? find_block(vm, heap, addr, &block) : -ENOENT;

	if (!r)
		r = hotspot_read_description(vm, block + vm->block_size, bytes);
	if (r)
		return r;
	if (!parse(vm, block + vm->block_size, bytes, ret) || addr < ret->code ||
	    addr >= ret->end || ret->end > heap->end)
		return -ENOENT;
	r = process_read(&vm->process, ret->name, name, sizeof(name) - 1);
	if (r)
		return r;
	ret->kind = (uint8_t)kind_of(name, ret);
	/* fields of methods are something else in what is none */
	if (!is_method(ret)) {
		ret->method = 0;
		ret->entry = ret->second = ret->stubs = ret->handlers = -1;
	}
	return 0;
}

bool hotspot_is_same(const struct hotspot *vm, const struct hotspot_blob *blob,
		     const uint8_t description[HOTSPOT_DESCRIPTION])
{
	struct hotspot_blob now;

	return parse(vm, blob->at, description, &now) && now.name == blob->name &&
	       now.code == blob->code && now.end == blob->end && now.frame == blob->frame &&
	       (!is_method(blob) || (now.method == blob->method && now.id == blob->id));
}

/* names */

/* A symbol's text, as far as it goes into @room bytes; how many that were. */
static int read_symbol(const struct hotspot *vm, uint64_t symbol, char *dst, size_t room)
{
	int64_t length;
	int r = hotspot_read(vm, symbol, HOTSPOT_SYMBOL_LENGTH, &length);

	if (r)
		return r;
	if (length < 0)
		return -ENOENT;
	if ((uint64_t)length > room)
		length = (int64_t)room;
	r = process_read(&vm->process, symbol + vm->fields[HOTSPOT_SYMBOL_BODY].at, dst,
			 (size_t)length);
	return r ? r : (int)length;
}

static int find_symbols(const struct hotspot *vm, uint64_t method, uint64_t *class, uint64_t *name)
{
	uint64_t constants = method, pool;
	int64_t index;
	int r = hotspot_follow(vm, HOTSPOT_METHOD_CONST, &constants);

	pool = constants;
	if (!r)
		r = hotspot_follow(vm, HOTSPOT_CONST_POOL, &pool);
	if (!r)
		r = hotspot_read(vm, constants, HOTSPOT_CONST_NAME, &index);
	if (!r)
		r = hotspot_word(
			vm, pool + vm->pool_size + HOTSPOT_WORD * (uint64_t)(index & UINT16_MAX),
			name);
	*class = pool;
	if (!r)
		r = hotspot_follow(vm, HOTSPOT_POOL_HOLDER, class);
	return r ? r : hotspot_follow(vm, HOTSPOT_CLASS_NAME, class);
}

static int method_name(const struct hotspot *vm, const struct hotspot_blob *blob,
		       char ret[HOTSPOT_NAME_MAX])
{
	uint64_t class, name;
	int length, more, r;

	if (!vm->fields[HOTSPOT_SYMBOL_BODY].at)
		return -ENOENT;
	r = find_symbols(vm, blob->method, &class, &name);
	if (r)
		return r;
	length = read_symbol(vm, class, ret, HOTSPOT_NAME_MAX / 2);
	if (length < 0)
		return length;
	for (int i = 0; i < length; i++)
		if (ret[i] == '/')
			ret[i] = '.';
	ret[length++] = '.';
	more = read_symbol(vm, name, ret + length, HOTSPOT_NAME_MAX / 2 - 2);
	if (more < 0)
		return more;
	ret[length + more] = '\0';
	return 0;
}

int hotspot_blob_name(const struct hotspot *vm, const struct hotspot_blob *blob,
		      char ret[HOTSPOT_NAME_MAX])
{
	if (blob->method && !method_name(vm, blob, ret))
		return 0;
	memset(ret, 0, HOTSPOT_NAME_MAX);
	return process_read(&vm->process, blob->name, ret, HOTSPOT_TEXT - 1);
}

/* the interpreter */

/* The queue of templates: its address and size. */
static int find_queue(const struct hotspot *vm, uint64_t *start, int64_t *size)
{
	uint64_t queue = vm->fields[HOTSPOT_INTERPRETER].at;
	int r = vm->fields[HOTSPOT_INTERPRETER].size ? hotspot_word(vm, queue, &queue) : -ENOENT;

	*start = queue;
	if (!r)
		r = hotspot_follow(vm, HOTSPOT_QUEUE_BUFFER, start);
	if (!r)
		r = hotspot_read(vm, queue, HOTSPOT_QUEUE_END, size);
	if (r)
		return r;
	return *size > 0 && (uint64_t)*size <= INTERPRETER_MAX && vm->codelet_size &&
			       vm->codelet_size <= HOTSPOT_DESCRIPTION / 2
		       ? 0
		       : -ENOENT;
}

/* @queue: its bytes, at @start; behind them is room for one more description. */
static int find_codelet(const struct hotspot *vm, const uint8_t *queue, uint64_t start,
			uint64_t size, uint64_t addr, struct hotspot_codelet *ret)
{
	char text[sizeof(ENTRY_TEXT)] = "";

	for (uint64_t at = 0; at < size;) {
		const int64_t step = hotspot_told(vm, queue + at, HOTSPOT_CODELET_SIZE, 0);

		if (step < (int64_t)vm->codelet_size || (uint64_t)step > size - at)
			break;
		if (addr - (start + at) >= (uint64_t)step) {
			at += (uint64_t)step;
			continue;
		}
		process_read(&vm->process,
			     (uint64_t)hotspot_told(vm, queue + at, HOTSPOT_CODELET_TEXT, 0), text,
			     sizeof(text) - 1);
		ret->start = start + at;
		ret->end = ret->start + (uint64_t)step;
		ret->code = (ret->start + vm->codelet_size + CODELET_ALIGN - 1) &
			    ~(uint64_t)(CODELET_ALIGN - 1);
		ret->is_entry = !strcmp(text, ENTRY_TEXT);
		return ret->code < ret->end ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int hotspot_codelet_at(const struct hotspot *vm, uint64_t addr, struct hotspot_codelet *ret)
{
	uint64_t start;
	uint8_t *bytes;
	int64_t size;
	int r = find_queue(vm, &start, &size);

	if (r)
		return r;
	bytes = calloc(1, (size_t)size + HOTSPOT_DESCRIPTION);
	if (!bytes)
		return -ENOMEM;
	r = process_read(&vm->process, start, bytes, (size_t)size);
	if (!r)
		r = find_codelet(vm, bytes, start, (uint64_t)size, addr, ret);
	free(bytes);
	return r;
}
