/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules of the code of a made Java virtual machine, which this process has loaded. */
#include "base/native_arch.h"
#include "unwind/hotspot_code.h"
#include "unwind/space.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../target/made_machine.h"
#include <cmocka.h>

/* A large heap, of many small blobs. */
#define MANY_SEGMENTS 40000u
#define MANY_SIZE ((size_t)MANY_SEGMENTS << MADE_SHIFT)

static struct made_machine *machine;
static __typeof__(&made_machine_begin) begin;
static uint8_t *memory;
static struct bobbin_unwinder *unwinder;
static struct bobbin_space *space;

/* Who infers: it is told of code, and has two rules for it. */
static struct described_code last;
static unsigned int asked;

static int describe(const struct described_code *code, struct described_rows *ret)
{
	struct bobbin_rule rule = {
		.index = BOBBIN_NO_INDEX,
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7, .off = 8},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
	};
	uint64_t words[2];

	last = *code;
	asked++;
	assert_int_equal(bobbin_rule_pack(&rule, &words[0]), 0);
	rule.cfa.off = (int32_t)code->frame + 8;
	assert_int_equal(bobbin_rule_pack(&rule, &words[1]), 0);
	ret->rows = calloc(2, sizeof(*ret->rows));
	assert_non_null(ret->rows);
	ret->rows[0] = (struct described_row){words[0], 0, false};
	ret->rows[1] = (struct described_row){words[1], 4, true};
	ret->count = ret->room = 2;
	return 0;
}

static const struct infer_ops infer = {.described = describe};

static int load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		return -1;
	machine = dlsym(library, "made_machine");
	*(void **)&begin = dlsym(library, "made_machine_begin");
	memory = mmap(NULL, MANY_SIZE + 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	return memory == MAP_FAILED || mprotect(memory + MANY_SIZE, 0x1000, PROT_NONE) ||
	       bobbin_unwinder_open(NULL, &unwinder) ||
	       bobbin_space_open(unwinder, native_arch(), &space) ||
	       bobbin_space_load(space, getpid());
}

static void unload(void)
{
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
}

static struct hotspot_code *opened(void)
{
	struct hotspot_code *code;

	assert_int_equal(hotspot_code_open(&(struct remote_process){NULL, getpid()}, &space->maps,
					   &infer, &code),
			 0);
	asked = 0;
	return code;
}

static int look_up(struct hotspot_code *code, uint64_t pc, struct table_answer *ret)
{
	struct bobbin_error error;

	*ret = (struct table_answer){0};
	return hotspot_code_ops.lookup(code, bobbin_arch_amd64(), pc, &error, ret);
}

/* How far the CFA is from the stack pointer. */
static int64_t depth_at(struct hotspot_code *code, uint64_t pc)
{
	struct table_answer answer;

	return look_up(code, pc, &answer) ? -1 : answer.row.rule.cfa.off;
}

static const struct made_blob blob = {0, 4, 6, "nmethod", 4, 7};

static void a_blob_is_read_once_and_has_rows(void **state)
{
	struct table_answer answer;
	struct hotspot_code *code;
	uint64_t start, function;

	(void)state;
	begin(memory, true);
	made_put(machine, &blob);
	start = made_code(machine, &blob);
	code = opened();
	assert_false(hotspot_code_ops.function(code, start, &function));
	assert_int_equal(look_up(code, start + 3, &answer), 0);
	assert_int_equal(answer.row.start, start);
	assert_int_equal(answer.row.end, start + 4);
	assert_int_equal(answer.row.function, start);
	assert_false(answer.row.rule.flags & BOBBIN_RULE_LEAF);
	assert_int_equal(look_up(code, made_end(machine, &blob) - 1, &answer), 0);
	assert_int_equal(answer.row.start, start + 4);
	assert_int_equal(answer.row.end, made_end(machine, &blob));
	assert_true(answer.row.rule.flags & BOBBIN_RULE_LEAF);
	assert_int_equal(asked, 1);
	assert_true(hotspot_code_ops.function(code, start + 5, &function));
	assert_int_equal(function, start);
	/* what it was told */
	assert_int_equal(last.addr, start);
	assert_int_equal(last.size, made_end(machine, &blob) - start);
	assert_int_equal(last.frame, 32);
	assert_int_equal(last.kind, DESCRIBED_METHOD);
	assert_true(last.entry == 1 && last.second == 2 && last.stubs == 3 && last.complete == 4 &&
		    last.handlers == 5);
	hotspot_code_release(code);
}

static void beside_blobs_there_is_nothing(void **state)
{
	struct made_blob adapter = blob;
	struct table_answer answer;
	struct hotspot_code *code;

	(void)state;
	adapter.name = "I2C/C2I adapters";
	begin(memory, false);
	made_put(machine, &adapter);
	code = opened();
	assert_int_equal(look_up(code, made_code(machine, &blob) - 1, &answer), -ENOENT);
	assert_int_equal(look_up(code, made_end(machine, &blob), &answer), -ENOENT);
	/* that is known to have no rules */
	assert_int_equal(look_up(code, made_code(machine, &blob), &answer), -ENOENT);
	assert_int_equal(code->count, 1);
	assert_int_equal(asked, 0);
	hotspot_code_release(code);
}

/* A template's head may be a return address, too. */
static void templates_are_read_one_by_one(void **state)
{
	const struct made_blob whole = {0, 0, 8, "Interpreter", 0, 0};
	const uint64_t start = (uintptr_t)memory + MADE_SEGMENT;
	struct table_answer answer;
	struct hotspot_code *code;

	(void)state;
	begin(memory, true);
	made_put(machine, &whole);
	memcpy((void *)(uintptr_t)start, machine->codelets, sizeof(machine->codelets));
	machine->queue.buffer = (const void *)(uintptr_t)start;
	code = opened();
	assert_int_equal(look_up(code, start, &answer), 0);
	assert_int_equal(last.kind, DESCRIBED_INTERPRETER);
	assert_int_equal(last.addr, start + 32);
	assert_int_equal(last.size, 32);
	assert_int_equal(answer.row.start, start);
	assert_int_equal(answer.row.end, start + 36);
	assert_int_equal(look_up(code, start + 64 + 40, &answer), 0);
	assert_int_equal(last.kind, DESCRIBED_ENTRY);
	assert_int_equal(answer.row.start, start + 64 + 36);
	assert_int_equal(answer.row.end, start + sizeof(machine->codelets));
	assert_int_equal(look_up(code, start + 64, &answer), -ENOENT);
	assert_int_equal(code->count, 2);
	hotspot_code_release(code);
}

static void a_name_is_told_once(void **state)
{
	struct hotspot_name name;
	struct hotspot_code *code;
	uint64_t start;

	(void)state;
	begin(memory, true);
	made_put(machine, &blob);
	start = made_code(machine, &blob);
	code = opened();
	/* no walk has asked for it */
	assert_int_equal(hotspot_code_name(code, start, true, &name), 0);
	assert_int_equal(depth_at(code, start), 8);
	assert_int_equal(hotspot_code_name(code, start, true, &name), 1);
	assert_string_equal(name.text, "java.lang.Thing.run");
	assert_int_equal(name.start, start);
	assert_int_equal(name.size, made_end(machine, &blob) - start);
	assert_int_equal(hotspot_code_name(code, start, true, &name), 0);
	assert_int_equal(hotspot_code_name(code, start, false, &name), 1);
	hotspot_code_release(code);
}

/* Blobs are compared once in a while only; @done() says when that was. */
static void update_until(struct hotspot_code *code, bool (*done)(const struct hotspot_code *code))
{
	for (unsigned int i = 0; i < 1000 && !done(code); i++) {
		hotspot_code_update(code);
		usleep(10000);
	}
	assert_true(done(code));
}

static uint64_t due_before;

static bool is_compared(const struct hotspot_code *code)
{
	return code->due != due_before;
}

static bool has_two_heaps(const struct hotspot_code *code)
{
	return code->vm.heap_count == 2;
}

static void what_was_replaced_is_forgotten(void **state)
{
	const struct made_blob stays = {0, 20, 4, "nmethod", 6, 8};
	/* the last page that can be read ends with it */
	const struct made_blob at_end = {0, MADE_SEGMENTS - 2, 2, "nmethod", 6, 9};
	struct made_blob other = blob;
	struct hotspot_code *code;
	uint64_t in_body;

	(void)state;
	begin(memory + MANY_SIZE - MADE_HEAP_SIZE, true);
	made_put(machine, &blob);
	made_put(machine, &stays);
	made_put(machine, &at_end);
	in_body = made_code(machine, &blob) + 10;
	code = opened();
	assert_int_equal(depth_at(code, in_body), 40);
	assert_int_equal(depth_at(code, made_code(machine, &stays)), 8);
	assert_int_equal(depth_at(code, made_code(machine, &at_end)), 8);
	hotspot_code_update(code);
	assert_int_equal(code->count, 3);
	other.frame = 10;
	other.id++;
	made_put(machine, &other);
	/* not so soon */
	assert_int_equal(asked, 3);
	due_before = code->due;
	update_until(code, is_compared);
	assert_int_equal(code->count, 2);
	assert_int_equal(depth_at(code, in_body), 88);
	assert_int_equal(asked, 4);
	assert_int_equal(depth_at(code, made_code(machine, &stays)), 8);
	assert_int_equal(depth_at(code, made_code(machine, &at_end)), 8);
	assert_int_equal(asked, 4);
	hotspot_code_release(code);
}

static void one_more_heap_is_told(void **state)
{
	struct made_blob second = blob;
	struct hotspot_code *code;

	(void)state;
	second.heap = 1;
	begin(memory, true);
	made_put(machine, &second);
	code = opened();
	assert_int_equal(depth_at(code, made_code(machine, &second)), -1);
	machine->heaps.length = 2;
	update_until(code, has_two_heaps);
	assert_int_equal(depth_at(code, made_code(machine, &second)), 8);
	hotspot_code_release(code);
}

/* All are right whether or not others were forgotten for them. */
static void there_is_room_for_so_many_pieces(void **state)
{
	struct made_blob b = {0, 0, 1, "nmethod", 4, 1};
	uint8_t *map = calloc(1, MANY_SEGMENTS);
	struct hotspot_code *code;
	size_t most = 0;

	(void)state;
	assert_non_null(map);
	begin(memory, true);
	machine->heap[0].memory.boundary = (uintptr_t)memory + MANY_SIZE;
	machine->heap[0].map = (struct made_space){(uintptr_t)map, 0,
						   (uintptr_t)map + MANY_SEGMENTS};
	made_put(machine, &b);
	/* the newer description has no addresses of its own place */
	for (size_t i = 1; i < MANY_SEGMENTS; i++)
		memcpy(memory + i * MADE_SEGMENT, memory, MADE_SEGMENT);
	code = opened();
	for (size_t i = 0; i < MANY_SEGMENTS; i++) {
		assert_int_equal(depth_at(code, made_code(machine, &b) + i * MADE_SEGMENT), 8);
		most = code->count > most ? code->count : most;
	}
	assert_true(most <= 16384);
	assert_true(most > 1000);
	assert_true(code->bytes <= (uint64_t)17 << 20);
	hotspot_code_release(code);
	free(map);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blob_is_read_once_and_has_rows),
		cmocka_unit_test(beside_blobs_there_is_nothing),
		cmocka_unit_test(templates_are_read_one_by_one),
		cmocka_unit_test(a_name_is_told_once),
		cmocka_unit_test(what_was_replaced_is_forgotten),
		cmocka_unit_test(one_more_heap_is_told),
		cmocka_unit_test(there_is_room_for_so_many_pieces),
	};
	int failed;

	if (argc < 2 || load(argv[1]))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unload();
	return failed;
}
