/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The variables of libjvm.so by which HotSpot describes itself; the names are HotSpot's. */
#include "made_machine.h"

#include <stddef.h>

extern struct made_machine made_machine;
struct made_machine made_machine;

#define FIELD(type, field, text, structure, member) \
	{ \
		type, field, text, 0, offsetof(struct structure, member), NULL \
	}
#define STATIC(type, field, text, member) \
	{ \
		type, field, text, 1, 0, &made_machine.member \
	}

#define OF_BOTH \
	STATIC("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", heaps_array), \
		STATIC("AbstractInterpreter", "_code", "StubQueue*", interpreter), \
		FIELD("GrowableArray<int>", "_data", "int*", made_array, data), \
		FIELD("CodeHeap", "_memory", "VirtualSpace", made_heap, memory), \
		FIELD("CodeHeap", "_segmap", "VirtualSpace", made_heap, map), \
		FIELD("CodeHeap", "_log2_segment_size", "int", made_heap, shift), \
		FIELD("VirtualSpace", "_low", "char*", made_space, low), \
		FIELD("VirtualSpace", "_high", "char*", made_space, high), \
		FIELD("VirtualSpace", "_high_boundary", "char*", made_space, boundary), \
		FIELD("HeapBlock::Header", "_length", "size_t", made_block, length), \
		FIELD("HeapBlock::Header", "_used", "bool", made_block, used), \
		FIELD("Method", "_constMethod", "ConstMethod*", made_method, names), \
		FIELD("ConstMethod", "_constants", "ConstantPool*", made_names, pool), \
		FIELD("ConstMethod", "_name_index", "u2", made_names, name), \
		FIELD("ConstantPool", "_pool_holder", "InstanceKlass*", made_pool, holder), \
		FIELD("Klass", "_name", "Symbol*", made_class, name), \
		FIELD("Symbol", "_length", "u2", made_symbol, length), \
		FIELD("Symbol", "_body", NULL, made_symbol, body), \
		FIELD("StubQueue", "_stub_buffer", "address", made_queue, buffer), \
		FIELD("StubQueue", "_queue_end", "int", made_queue, end), \
		FIELD("InterpreterCodelet", "_size", "int", made_codelet, size), \
		FIELD("InterpreterCodelet", "_description", "const char*", made_codelet, text)

static struct made_entry older[] = {
	FIELD("CodeBlob", "_name", "const char*", made_older, name),
	FIELD("CodeBlob", "_size", "int", made_older, size),
	FIELD("CodeBlob", "_frame_complete_offset", "int", made_older, complete),
	FIELD("CodeBlob", "_frame_size", "int", made_older, frame),
	FIELD("CodeBlob", "_code_begin", "address", made_older, code),
	FIELD("CodeBlob", "_code_end", "address", made_older, end),
	FIELD("CompiledMethod", "_method", "Method*", made_older, method),
	FIELD("nmethod", "_compile_id", "int", made_older, id),
	FIELD("nmethod", "_verified_entry_point", "address", made_older, entry),
	FIELD("nmethod", "_osr_entry_point", "address", made_older, second),
	FIELD("nmethod", "_stub_offset", "int", made_older, stubs),
	FIELD("nmethod", "_exception_offset", "int", made_older, handlers),
	FIELD("GenericGrowableArray", "_len", "int", made_array, length),
	OF_BOTH,
	{0},
};

/* More than is read at once. */
#define OTHER FIELD("Other", "_other", "int", made_heap, shift)
#define OTHERS OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER

static struct made_entry newer[] = {
	OTHERS,
	OTHERS,
	OTHERS,
	OTHERS,
	OTHERS,
	OTHERS,
	OF_BOTH,
	FIELD("CodeBlob", "_name", "const char*", made_newer, name),
	FIELD("CodeBlob", "_size", "int", made_newer, size),
	FIELD("CodeBlob", "_frame_complete_offset", "int16_t", made_newer, complete),
	FIELD("CodeBlob", "_frame_size", "int", made_newer, frame),
	FIELD("CodeBlob", "_code_offset", "int", made_newer, code),
	FIELD("CodeBlob", "_data_offset", "int", made_newer, data),
	FIELD("nmethod", "_method", "Method*", made_newer, method),
	FIELD("nmethod", "_compile_id", "int", made_newer, id),
	FIELD("nmethod", "_verified_entry_offset", "u2", made_newer, entry),
	FIELD("nmethod", "_osr_entry_point", "address", made_newer, second),
	FIELD("nmethod", "_stub_offset", "int", made_newer, stubs),
	FIELD("nmethod", "_exception_offset", "int", made_newer, handlers),
	FIELD("GrowableArrayBase", "_len", "int", made_array, length),
	{0},
};

static struct made_type types[] = {
	{"HeapBlock", NULL, sizeof(struct made_block)},
	{"ConstantPool", NULL, sizeof(struct made_pool)},
	{"InterpreterCodelet", NULL, sizeof(struct made_codelet)},
	{0},
};

#define VARIABLE(name, value) \
	extern uint64_t name; \
	uint64_t name = value

extern struct made_entry *gHotSpotVMStructs;
struct made_entry *gHotSpotVMStructs = older;
extern struct made_type *gHotSpotVMTypes;
struct made_type *gHotSpotVMTypes = types;
VARIABLE(gHotSpotVMStructEntryTypeNameOffset, offsetof(struct made_entry, type));
VARIABLE(gHotSpotVMStructEntryFieldNameOffset, offsetof(struct made_entry, field));
VARIABLE(gHotSpotVMStructEntryTypeStringOffset, offsetof(struct made_entry, text));
VARIABLE(gHotSpotVMStructEntryIsStaticOffset, offsetof(struct made_entry, is_static));
VARIABLE(gHotSpotVMStructEntryOffsetOffset, offsetof(struct made_entry, offset));
VARIABLE(gHotSpotVMStructEntryAddressOffset, offsetof(struct made_entry, address));
VARIABLE(gHotSpotVMStructEntryArrayStride, sizeof(struct made_entry));
VARIABLE(gHotSpotVMTypeEntryTypeNameOffset, offsetof(struct made_type, name));
VARIABLE(gHotSpotVMTypeEntrySizeOffset, offsetof(struct made_type, size));
VARIABLE(gHotSpotVMTypeEntryArrayStride, sizeof(struct made_type));

static struct made_symbol symbol(const char *text)
{
	struct made_symbol s = {.length = (uint16_t)strlen(text)};

	memcpy(s.body, text, s.length);
	return s;
}

static void describe_code(struct made_machine *m)
{
	m->queue = (struct made_queue){NULL, m->codelets, 0, sizeof(m->codelets)};
	m->interpreter = &m->queue;
	m->method.names = &m->names;
	m->names = (struct made_names){&m->pool.head, 1};
	m->pool.head.holder = &m->class;
	m->pool.symbols[1] = &m->method_name;
	m->class.name = &m->class_name;
	m->class_name = symbol("java/lang/Thing");
	m->method_name = symbol("run");
	/* a template, and a method's entry */
	memcpy(m->codelets, &(struct made_codelet){"return entry points", 64},
	       sizeof(struct made_codelet));
	memcpy(m->codelets + 64,
	       &(struct made_codelet){"method entry point (kind = zerolocals)", 192},
	       sizeof(struct made_codelet));
}

void made_machine_begin(uint8_t *memory, bool is_newer)
{
	struct made_machine *m = &made_machine;

	*m = (struct made_machine){.is_newer = is_newer};
	m->structs = (uint64_t *)&gHotSpotVMStructs;
	m->structs_stride = &gHotSpotVMStructEntryArrayStride;
	m->types = (uint64_t *)&gHotSpotVMTypes;
	m->types_stride = &gHotSpotVMTypeEntryArrayStride;
	gHotSpotVMStructs = is_newer ? newer : older;
	gHotSpotVMStructEntryArrayStride = sizeof(struct made_entry);
	gHotSpotVMTypes = types;
	gHotSpotVMTypeEntryArrayStride = sizeof(struct made_type);
	m->heaps = (struct made_array){1, MADE_HEAPS, m->list};
	m->heaps_array = &m->heaps;
	memset(m->map, MADE_UNUSED, sizeof(m->map));
	for (unsigned int i = 0; i < MADE_HEAPS; i++) {
		const uint64_t low = (uintptr_t)memory + i * MADE_HEAP_SIZE;
		const uint64_t map = (uintptr_t)m->map[i];

		m->heap[i] = (struct made_heap){{low, low, low + MADE_HEAP_SIZE},
						{map, map, map + MADE_SEGMENTS},
						MADE_SHIFT};
		m->list[i] = &m->heap[i];
	}
	describe_code(m);
}
