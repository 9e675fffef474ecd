/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* This process has loaded a made libjvm.so, by which it describes code to itself. */
#include "base/native_arch.h"
#include "target/hotspot.h"
#include "unwind/space.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made_machine.h"
#include <cmocka.h>

/* Nothing is mapped there. */
#define NOWHERE 0x10ull

static struct made_machine *machine;
static __typeof__(&made_machine_begin) begin;
static uint8_t *memory;
static struct bobbin_unwinder *unwinder;
static struct bobbin_space *space;

/* The library is mapped, and so are the heaps, behind which nothing is. */
static int load(const char *path)
{
	const size_t size = MADE_HEAPS * MADE_HEAP_SIZE;
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		return -1;
	machine = dlsym(library, "made_machine");
	*(void **)&begin = dlsym(library, "made_machine_begin");
	memory = mmap(NULL, size + 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	return memory == MAP_FAILED || mprotect(memory + size, 0x1000, PROT_NONE) ||
	       bobbin_unwinder_open(NULL, &unwinder) ||
	       bobbin_space_open(unwinder, native_arch(), &space) ||
	       bobbin_space_load(space, getpid());
}

static void unload(void)
{
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
}

static int open_machine(struct hotspot *vm)
{
	return hotspot_open(&(struct remote_process){NULL, getpid()}, &space->maps, vm);
}

/* A machine of one of both kinds, which is opened. */
static void opened(bool is_newer, struct hotspot *vm)
{
	begin(memory, is_newer);
	assert_int_equal(open_machine(vm), 0);
	assert_int_equal(vm->heap_count, 1);
}

static void without_a_library_there_is_no_machine(void **state)
{
	const struct mapping_list none = {0};
	struct hotspot vm;

	(void)state;
	assert_int_equal(hotspot_open(&(struct remote_process){NULL, getpid()}, &none, &vm),
			 -ENOENT);
}

static void is_found(const struct hotspot *vm, const struct made_blob *b, uint64_t addr,
		     enum hotspot_kind kind)
{
	const bool is_method = kind == HOTSPOT_COMPILED || kind == HOTSPOT_NATIVE;
	struct hotspot_blob found;

	assert_int_equal(hotspot_find(vm, addr, &found), 0);
	assert_int_equal(found.kind, kind);
	assert_int_equal(found.at, made_description(machine, b));
	assert_int_equal(found.code, made_code(machine, b));
	assert_int_equal(found.end, made_end(machine, b));
	assert_int_equal(found.frame, b->frame * 8);
	assert_int_equal(found.complete, 4);
	assert_int_equal(found.entry, is_method ? 1 : -1);
	assert_int_equal(found.second, is_method ? 2 : -1);
	assert_int_equal(found.stubs, is_method ? 3 : -1);
	assert_int_equal(found.handlers, is_method ? 5 : -1);
	assert_int_equal(found.method, is_method ? (uintptr_t)&machine->method : 0);
}

/* At both ends of a heap, and of so many segments that one's byte does not lead back at once. */
static const struct made_blob first = {0, 0, 4, "nmethod", 4, 1};
static const struct made_blob middle = {0, 10, 18, "native nmethod", 6, 2};
static const struct made_blob last = {0, MADE_SEGMENTS - 2, 2, "nmethod", 0, 3};

static void blobs_are_found_by_any_address(void **state)
{
	struct hotspot vm;

	(void)state;
	for (int is_newer = 0; is_newer < 2; is_newer++) {
		opened(is_newer, &vm);
		made_put(machine, &first);
		made_put(machine, &middle);
		made_put(machine, &last);
		is_found(&vm, &first, made_code(machine, &first), HOTSPOT_COMPILED);
		is_found(&vm, &first, made_end(machine, &first) - 1, HOTSPOT_COMPILED);
		for (uint64_t at = made_code(machine, &middle); at < made_end(machine, &middle);
		     at++)
			is_found(&vm, &middle, at, HOTSPOT_NATIVE);
		is_found(&vm, &last, made_end(machine, &last) - 1, HOTSPOT_COMPILED);
	}
}

/* The description is shorter than what is read of one, and nothing is mapped behind it. */
static void a_blob_is_found_at_the_end_of_memory(void **state)
{
	const struct made_blob blob = {MADE_HEAPS - 1, MADE_SEGMENTS - 2, 2, "nmethod", 4, 1};
	struct hotspot vm;

	(void)state;
	begin(memory, true);
	machine->heaps.length = MADE_HEAPS;
	assert_int_equal(open_machine(&vm), 0);
	assert_int_equal(vm.heap_count, MADE_HEAPS);
	made_put(machine, &blob);
	is_found(&vm, &blob, made_code(machine, &blob), HOTSPOT_COMPILED);
}

static void is_nowhere(const struct hotspot *vm, uint64_t addr)
{
	struct hotspot_blob found;

	assert_int_equal(hotspot_find(vm, addr, &found), -ENOENT);
}

static void between_blobs_there_is_none(void **state)
{
	struct hotspot vm;

	(void)state;
	opened(true, &vm);
	made_put(machine, &first);
	made_put(machine, &middle);
	is_nowhere(&vm, made_segment(machine, 0, first.count));
	is_nowhere(&vm, made_segment(machine, 0, middle.first) - 1);
	is_nowhere(&vm, made_description(machine, &middle));
	is_nowhere(&vm, made_code(machine, &middle) - 1);
	is_nowhere(&vm, (uintptr_t)memory - 1);
	is_nowhere(&vm, (uintptr_t)memory + MADE_HEAP_SIZE);
	assert_null(hotspot_heap(&vm, (uintptr_t)memory - 1));
	assert_null(hotspot_heap(&vm, (uintptr_t)memory + MADE_HEAP_SIZE));
	assert_ptr_equal(hotspot_heap(&vm, (uintptr_t)memory + MADE_HEAP_SIZE - 1), &vm.heaps[0]);
}

static void blobs_are_told_apart_by_their_names(void **state)
{
	static const struct {
		const char *name;
		int32_t frame;
		enum hotspot_kind kind;
	} cases[] = {
		{"Interpreter", 0, HOTSPOT_TEMPLATES},
		{"I2C/C2I adapters", 0, HOTSPOT_ADAPTERS},
		{"StubRoutines (1)", 0, HOTSPOT_ROUTINES},
		{"Shared Runtime", 8, HOTSPOT_ROUTINE},
		{"nmethods", 8, HOTSPOT_ROUTINE},
	};
	struct hotspot vm;

	(void)state;
	opened(false, &vm);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct made_blob blob = {0, 3, 5, cases[i].name, cases[i].frame, 1};

		made_put(machine, &blob);
		is_found(&vm, &blob, made_code(machine, &blob), cases[i].kind);
	}
}

static void find(const struct hotspot *vm, const struct made_blob *b, struct hotspot_blob *ret)
{
	assert_int_equal(hotspot_find(vm, made_code(machine, b), ret), 0);
}

static void methods_have_names(void **state)
{
	const struct made_blob other = {0, 4, 2, "StubRoutines (1)", 0, 1};
	char name[HOTSPOT_NAME_MAX];
	struct hotspot_blob blob;
	struct hotspot vm;

	(void)state;
	for (int is_newer = 0; is_newer < 2; is_newer++) {
		opened(is_newer, &vm);
		made_put(machine, &first);
		made_put(machine, &other);
		find(&vm, &first, &blob);
		assert_int_equal(hotspot_blob_name(&vm, &blob, name), 0);
		assert_string_equal(name, "java.lang.Thing.run");
		find(&vm, &other, &blob);
		assert_int_equal(hotspot_blob_name(&vm, &blob, name), 0);
		assert_string_equal(name, "StubRoutines (1)");
	}
}

static bool is_same(const struct hotspot *vm, const struct hotspot_blob *blob)
{
	return hotspot_is_same(vm, blob, (const uint8_t *)(uintptr_t)blob->at);
}

static void what_took_a_blob_s_place_is_another_one(void **state)
{
	struct made_blob b = first;
	struct hotspot_blob blob;
	struct hotspot vm;

	(void)state;
	for (int is_newer = 0; is_newer < 2; is_newer++) {
		b = first;
		opened(is_newer, &vm);
		made_put(machine, &b);
		find(&vm, &b, &blob);
		assert_true(is_same(&vm, &blob));
		b.id++;
		made_put(machine, &b);
		assert_false(is_same(&vm, &blob));
		b.id--;
		b.frame++;
		made_put(machine, &b);
		assert_false(is_same(&vm, &blob));
		b.frame--;
		b.count++;
		made_put(machine, &b);
		assert_false(is_same(&vm, &blob));
		made_put(machine, &first);
		assert_true(is_same(&vm, &blob));
	}
}

static void one_more_heap_is_found(void **state)
{
	const struct made_blob blob = {1, 2, 2, "nmethod", 4, 1};
	struct hotspot vm;

	(void)state;
	opened(false, &vm);
	assert_int_equal(hotspot_update(&vm), 0);
	made_put(machine, &blob);
	is_nowhere(&vm, made_code(machine, &blob));
	machine->heaps.length = 2;
	assert_int_equal(hotspot_update(&vm), 1);
	assert_int_equal(vm.heap_count, 2);
	is_found(&vm, &blob, made_code(machine, &blob), HOTSPOT_COMPILED);
	assert_int_equal(hotspot_update(&vm), 0);
}

static void templates_are_found(void **state)
{
	const uint64_t at = (uintptr_t)machine->codelets;
	struct hotspot_codelet found;
	struct hotspot vm;

	(void)state;
	opened(true, &vm);
	assert_int_equal(hotspot_codelet_at(&vm, at + 63, &found), 0);
	assert_int_equal(found.start, at);
	assert_int_equal(found.code, at + 32);
	assert_int_equal(found.end, at + 64);
	assert_false(found.is_entry);
	assert_int_equal(hotspot_codelet_at(&vm, at + 64, &found), 0);
	assert_int_equal(found.start, at + 64);
	assert_int_equal(found.code, at + 96);
	assert_true(found.is_entry);
	assert_int_equal(hotspot_codelet_at(&vm, found.end, &found), -ENOENT);
	assert_int_equal(hotspot_codelet_at(&vm, at - 1, &found), -ENOENT);
}

/* hostile */

static void tables_without_sense_are_refused(void **state)
{
	static const uint64_t strides[] = {0, 7, sizeof(struct made_entry) - 1, 257, UINT64_MAX};
	struct hotspot vm;

	(void)state;
	for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
		begin(memory, true);
		*machine->structs_stride = strides[i];
		assert_int_equal(open_machine(&vm), -ENOTSUP);
		begin(memory, true);
		*machine->types_stride = strides[i] == sizeof(struct made_entry) - 1 ? 23
										     : strides[i];
		assert_int_equal(open_machine(&vm), -ENOTSUP);
	}
	begin(memory, true);
	*machine->structs = NOWHERE;
	assert_int_equal(open_machine(&vm), -ENOTSUP);
	begin(memory, true);
	*machine->types = UINT64_MAX - 5;
	assert_int_equal(open_machine(&vm), -ENOTSUP);
}

/* Entries that never end: each has a name, which is that of nothing. */
static void a_table_without_an_end_is_read_to_a_limit(void **state)
{
	const size_t size = (size_t)8 << 20;
	uint64_t *entries = malloc(size);
	struct hotspot vm;

	(void)state;
	assert_non_null(entries);
	for (size_t i = 0; i < size / sizeof(*entries); i++)
		entries[i] = (uintptr_t)memory;
	begin(memory, true);
	*machine->structs = (uintptr_t)entries;
	*machine->types = (uintptr_t)entries;
	assert_int_equal(open_machine(&vm), -ENOTSUP);
	free(entries);
}

static void counts_of_heaps_are_bounded(void **state)
{
	static const int32_t counts[] = {-1, INT32_MIN, 0};
	struct made_heap *many[HOTSPOT_HEAPS];
	struct hotspot vm;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		begin(memory, true);
		machine->heaps.length = counts[i];
		assert_int_equal(open_machine(&vm), 0);
		assert_int_equal(vm.heap_count, 0);
		assert_int_equal(hotspot_update(&vm), 0);
		assert_null(hotspot_heap(&vm, (uintptr_t)memory));
	}
	begin(memory, true);
	for (size_t i = 0; i < HOTSPOT_HEAPS; i++)
		many[i] = &machine->heap[0];
	machine->heaps = (struct made_array){INT32_MAX, INT32_MAX, many};
	assert_int_equal(open_machine(&vm), 0);
	assert_int_equal(vm.heap_count, HOTSPOT_HEAPS);
	assert_int_equal(hotspot_update(&vm), 0);
	machine->heaps.data = (struct made_heap **)(uintptr_t)NOWHERE;
	assert_int_equal(open_machine(&vm), -EFAULT);
	machine->heaps_array = (struct made_array *)(uintptr_t)NOWHERE;
	assert_int_equal(open_machine(&vm), -EFAULT);
	assert_int_equal(hotspot_update(&vm), -EFAULT);
}

static void heaps_without_sense_are_refused(void **state)
{
	const uint64_t low = (uintptr_t)memory;
	const struct made_space map = {low, low, low + 1};
	const struct made_heap heaps[] = {
		{{low, low, low - 1}, map, MADE_SHIFT},
		{{low, low, low}, map, MADE_SHIFT},
		{{0, 0, UINT64_MAX}, map, MADE_SHIFT},
		{{low, low, low + 1}, {low, low, low}, MADE_SHIFT},
		{{low, low, low + 1}, {low, low, low - 1}, MADE_SHIFT},
		{{low, low, low + 1}, map, -1},
		{{low, low, low + 1}, map, 0},
		{{low, low, low + 1}, map, 64},
	};
	struct hotspot vm;

	(void)state;
	for (size_t i = 0; i < sizeof(heaps) / sizeof(*heaps); i++) {
		begin(memory, true);
		machine->heap[0] = heaps[i];
		assert_int_equal(open_machine(&vm), -EBADMSG);
		assert_int_equal(vm.heap_count, 0);
	}
}

static struct made_newer *description(const struct made_blob *b)
{
	return (struct made_newer *)(uintptr_t)made_description(machine, b);
}

/* Back by one segment each time, in a heap of many; and to before its start. */
static void maps_of_segments_do_not_lead_back_for_ever(void **state)
{
	const size_t size = 1 << 20;
	uint8_t *map = malloc(size);
	struct hotspot_blob blob;
	struct hotspot vm;

	(void)state;
	assert_non_null(map);
	memset(map, 1, size);
	begin(memory, true);
	made_put(machine, &first);
	machine->heap[0].map = (struct made_space){(uintptr_t)map, 0, (uintptr_t)map + size};
	machine->heap[0].memory.boundary = machine->heap[0].memory.low + (size << MADE_SHIFT);
	assert_int_equal(open_machine(&vm), 0);
	is_nowhere(&vm, vm.heaps[0].end - 1);
	is_nowhere(&vm, vm.heaps[0].start);
	map[0] = 200;
	is_nowhere(&vm, vm.heaps[0].start + MADE_SEGMENT);
	/* a blob of the whole heap, by a few steps, by too many, and by a segment without a use */
	map[0] = 0;
	map[300] = MADE_UNUSED;
	description(&first)->size = description(&first)->data = 8 << 20;
	assert_int_equal(hotspot_find(&vm, vm.heaps[0].start + 200 * MADE_SEGMENT, &blob), 0);
	is_nowhere(&vm, vm.heaps[0].start + 300 * MADE_SEGMENT);
	is_nowhere(&vm, vm.heaps[0].start + 5000 * MADE_SEGMENT);
	map[300] = 1;
	assert_int_equal(hotspot_find(&vm, vm.heaps[0].start + 300 * MADE_SEGMENT, &blob), 0);
	is_nowhere(&vm, vm.heaps[0].start + 5000 * MADE_SEGMENT);
	/* the map is shorter than the heap */
	machine->heap[0].map.boundary = machine->heap[0].map.low + 1;
	map[0] = 0;
	assert_int_equal(open_machine(&vm), 0);
	is_nowhere(&vm, vm.heaps[0].start + MADE_SEGMENT);
	machine->heap[0].map = (struct made_space){NOWHERE, 0, UINT64_MAX};
	assert_int_equal(open_machine(&vm), 0);
	assert_int_equal(hotspot_find(&vm, vm.heaps[0].start, &blob), -EFAULT);
	free(map);
}

static void blobs_without_sense_are_none(void **state)
{
	static const int32_t sizes[] = {0, -1, INT32_MIN, INT32_MAX, 100};
	const struct made_blob *b = &middle;
	struct hotspot_blob blob;
	struct hotspot vm;
	uint64_t code;

	(void)state;
	opened(true, &vm);
	code = made_code(machine, b);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		made_put(machine, b);
		description(b)->size = sizes[i];
		is_nowhere(&vm, code);
		made_put(machine, b);
		description(b)->frame = sizes[i] == 100 ? (1 << 16) + 1 : sizes[i];
		assert_int_equal(hotspot_find(&vm, code, &blob), sizes[i] ? -ENOENT : 0);
		made_put(machine, b);
		description(b)->code = sizes[i] == 100 ? 0x10000 : sizes[i] | 1 << 30;
		is_nowhere(&vm, code);
		made_put(machine, b);
		description(b)->data = sizes[i];
		is_nowhere(&vm, code + 64);
	}
	made_put(machine, b);
	description(b)->name = (const char *)(uintptr_t)NOWHERE;
	assert_int_equal(hotspot_find(&vm, code, &blob), -EFAULT);
	/* offsets that are outside of the code are not told */
	made_put(machine, b);
	description(b)->stubs = INT32_MAX;
	description(b)->handlers = INT32_MIN;
	description(b)->second = UINT64_MAX;
	description(b)->entry = UINT16_MAX;
	assert_int_equal(hotspot_find(&vm, code, &blob), 0);
	assert_true(blob.stubs == -1 && blob.handlers == -1 && blob.second == -1 &&
		    blob.entry == -1);
}

/* It is called as its blob is, then; or both parts are cut off. */
static void names_are_bounded(void **state)
{
	char name[HOTSPOT_NAME_MAX];
	struct hotspot_blob blob;
	struct hotspot vm;

	(void)state;
	opened(true, &vm);
	made_put(machine, &first);
	find(&vm, &first, &blob);
	machine->class_name.length = machine->method_name.length = UINT16_MAX;
	assert_int_equal(hotspot_blob_name(&vm, &blob, name), 0);
	assert_true(strnlen(name, sizeof(name)) < sizeof(name));
	machine->pool.symbols[1] = (const struct made_symbol *)(uintptr_t)NOWHERE;
	assert_int_equal(hotspot_blob_name(&vm, &blob, name), 0);
	assert_string_equal(name, "nmethod");
	machine->names.name = UINT16_MAX;
	machine->names.pool = (const struct made_pool *)UINTPTR_MAX;
	assert_int_equal(hotspot_blob_name(&vm, &blob, name), 0);
	assert_string_equal(name, "nmethod");
	blob.name = NOWHERE;
	assert_int_equal(hotspot_blob_name(&vm, &blob, name), -EFAULT);
}

static void templates_without_sense_are_not_found(void **state)
{
	struct made_codelet *codelet = (struct made_codelet *)machine->codelets;
	static const int32_t sizes[] = {0, -1, 32, 257, INT32_MAX, INT32_MIN};
	const uint64_t at = (uintptr_t)machine->codelets;
	struct hotspot_codelet found;
	struct hotspot vm;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		opened(true, &vm);
		codelet->size = sizes[i];
		assert_int_equal(hotspot_codelet_at(&vm, at + 40, &found), -ENOENT);
	}
	opened(true, &vm);
	codelet->text = (const char *)(uintptr_t)NOWHERE;
	assert_int_equal(hotspot_codelet_at(&vm, at + 40, &found), 0);
	machine->queue.end = INT32_MAX;
	assert_int_equal(hotspot_codelet_at(&vm, at + 40, &found), -ENOENT);
	machine->queue.end = -1;
	assert_int_equal(hotspot_codelet_at(&vm, at + 40, &found), -ENOENT);
	machine->queue = (struct made_queue){NULL, (const void *)(uintptr_t)NOWHERE, 0, 64};
	assert_int_equal(hotspot_codelet_at(&vm, at + 40, &found), -EFAULT);
	machine->interpreter = (struct made_queue *)(uintptr_t)NOWHERE;
	assert_int_equal(hotspot_codelet_at(&vm, at + 40, &found), -EFAULT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_library_there_is_no_machine),
		cmocka_unit_test(blobs_are_found_by_any_address),
		cmocka_unit_test(a_blob_is_found_at_the_end_of_memory),
		cmocka_unit_test(between_blobs_there_is_none),
		cmocka_unit_test(blobs_are_told_apart_by_their_names),
		cmocka_unit_test(methods_have_names),
		cmocka_unit_test(what_took_a_blob_s_place_is_another_one),
		cmocka_unit_test(one_more_heap_is_found),
		cmocka_unit_test(templates_are_found),
		cmocka_unit_test(tables_without_sense_are_refused),
		cmocka_unit_test(a_table_without_an_end_is_read_to_a_limit),
		cmocka_unit_test(counts_of_heaps_are_bounded),
		cmocka_unit_test(heaps_without_sense_are_refused),
		cmocka_unit_test(maps_of_segments_do_not_lead_back_for_ever),
		cmocka_unit_test(blobs_without_sense_are_none),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(templates_without_sense_are_not_found),
	};
	int failed;

	if (argc < 2 || load(argv[1]))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unload();
	return failed;
}
