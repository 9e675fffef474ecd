/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lookup and the step in a BPF program give the answers of user space: for recorded
 * frames, for sections that lie, and where memory cannot be read.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "../promise.h"
#include "../sframe/sframe_forms.h"
#include "core/deps.h"
#include "frame_run.h"
#include "frame_set.h"
#include "sframe/layout.h"

#define FEWEST_FRAMES 10000
#define PAGE 4096
#define STACK_ROOM (16 * PAGE)

/* Rules and ends of the recorded frames. */
struct kinds {
	size_t sp, fp, other_register, in_memory, signal, outermost, without_rule;
};

static struct bpf_program *prog;
static struct frame_run *kernel;
static struct frame_set set;
static const char *object_path;

/* What the program in the kernel finds. */
static void run_in_kernel(struct frame_run *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	*kernel = *frame;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(prog), &options), 0);
	*frame = *kernel;
}

static void run_here(struct frame_run *frame)
{
	struct bobbin_stack_copy stack = {.addr = frame->stack_addr,
					  .data = (const uint8_t *)frame->stack,
					  .size = frame->stack_size};
	const struct bobbin_mem mem = {bobbin_stack_copy_read, &stack};
	struct bobbin_sframe_view view;

	frame->status = bobbin_sframe_view((const void *)frame->section, frame->section_size,
					   frame->section_addr, &frame->error, &view);
	if (!frame->status)
		frame->status = bobbin_sframe_lookup(&view, bobbin_regs_lookup_pc(&frame->regs),
						     &frame->error, &frame->row);
	if (frame->status)
		return;
	bobbin_rule_pack(&frame->row.rule, &frame->word);
	frame->reason = bobbin_step(view.arch, &frame->row.rule, &mem, &frame->regs);
}

static void assert_same_regs(const struct bobbin_regs *a, const struct bobbin_regs *b)
{
	assert_int_equal(a->pc, b->pc);
	assert_int_equal(a->sp, b->sp);
	assert_int_equal(a->fp, b->fp);
	assert_int_equal(a->ra, b->ra);
	assert_ptr_equal(a->gpr, b->gpr);
	assert_int_equal(a->gpr_known, b->gpr_known);
	assert_int_equal(a->exact, b->exact);
	assert_int_equal(a->ra_known, b->ra_known);
}

static void assert_same_answer(const struct frame_run *a, const struct frame_run *b)
{
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->error.reason, b->error.reason);
	assert_int_equal(a->error.offset, b->error.offset);
	assert_int_equal(a->row.start, b->row.start);
	assert_int_equal(a->row.end, b->row.end);
	assert_int_equal(a->row.function, b->row.function);
	assert_true(bobbin_rule_equal(&a->row.rule, &b->row.rule));
	assert_int_equal(a->word, b->word);
	assert_int_equal(a->reason, b->reason);
	assert_same_regs(&a->regs, &b->regs);
}

/* Both must find the same; what they found. */
static struct frame_run run_both(const struct frame_run *frame)
{
	struct frame_run here = *frame, there = *frame;

	run_here(&here);
	run_in_kernel(&there);
	assert_same_answer(&here, &there);
	return here;
}

static struct frame_run recorded(const struct recorded_frame *frame, unsigned int version)
{
	struct frame_run run = {
		.section = (uint64_t)frame->file->data[version],
		.section_size = frame->file->size[version],
		.section_addr = frame->bias,
		.stack = (uint64_t)frame->stack->data,
		.stack_size = frame->stack->size,
		.stack_addr = frame->stack->addr,
		.regs = frame->regs,
	};

	if (frame->regs.gpr)
		memcpy(run.gpr, frame->regs.gpr, sizeof(run.gpr));
	return run;
}

static void count_kind(const struct frame_run *answer, struct kinds *kinds)
{
	const struct bobbin_rule *rule = &answer->row.rule;

	if (answer->status)
		kinds->without_rule++;
	else if (answer->reason == BOBBIN_REASON_OUTERMOST)
		kinds->outermost++;
	else if (rule->flags & BOBBIN_RULE_SIGNAL)
		kinds->signal++;
	else if (rule->cfa.how == BOBBIN_HOW_IN_REG_MEM)
		kinds->in_memory++;
	else if (rule->cfa.reg == bobbin_arch_amd64()->sp)
		kinds->sp++;
	else if (rule->cfa.reg == bobbin_arch_amd64()->fp)
		kinds->fp++;
	else
		kinds->other_register++;
}

static struct kinds run_recorded(unsigned int version)
{
	struct kinds kinds = {0};

	for (size_t i = 0; i < set.count; i++) {
		const struct frame_run frame = recorded(&set.frames[i], version),
				       answer = run_both(&frame);

		count_kind(&answer, &kinds);
	}
	printf("# V%u, %zu frames: CFA from SP %zu, FP %zu, another register %zu, memory %zu; "
	       "signal frames %zu, outermost %zu, no rule %zu\n",
	       version, set.count, kinds.sp, kinds.fp, kinds.other_register, kinds.in_memory,
	       kinds.signal, kinds.outermost, kinds.without_rule);
	return kinds;
}

static void recorded_frames_have_the_callers_of_user_space(void **state)
{
	struct kinds kinds;

	assert_true(set.count >= FEWEST_FRAMES);
	kinds = run_recorded(3);
	assert_true(kinds.sp && kinds.fp && kinds.in_memory && kinds.signal && kinds.outermost);
	for (unsigned int version = 1; version <= 2; version++) {
		kinds = run_recorded(version);
		assert_true(kinds.sp && kinds.fp && kinds.without_rule);
	}
}

static void ask_all(struct frame_run frame)
{
	static const uint64_t pcs[] = {0xfff, 0x1000, 0x1004, 0x101b, 0x2034, 0x500009, 0x520000};

	for (size_t i = 0; i < sizeof(pcs) / sizeof(*pcs); i++) {
		frame.regs.pc = pcs[i];
		run_both(&frame);
	}
}

/* User space also reads sections of other architectures. */
static void assert_foreign(struct frame_run frame)
{
	run_in_kernel(&frame);
	assert_int_equal(frame.status, -BOBBIN_EBADMSG);
	assert_int_equal(frame.error.reason, BOBBIN_REASON_SFRAME_ABI);
}

static void lying_sections_get_the_answers_of_user_space(void **state)
{
	uint64_t stack[64], gpr[BOBBIN_REG_COUNT];

	for (size_t i = 0; i < 64; i++)
		stack[i] = 0x1234500 + i;
	for (size_t i = 0; i < BOBBIN_REG_COUNT; i++)
		gpr[i] = 0x7000 + 8 * i;
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = amd64_forms(version, SORTED);
		struct built s = build(&spec);
		struct frame_run frame = {
			.section = (uint64_t)s.data,
			.section_size = s.size,
			.section_addr = FORMS_ADDR,
			.stack = (uint64_t)stack,
			.stack_size = sizeof(stack),
			.stack_addr = 0x7000,
			.regs = {.sp = 0x7000,
				 .fp = 0x7020,
				 .gpr = gpr,
				 .gpr_known = UINT32_MAX,
				 .exact = true},
		};

		memcpy(frame.gpr, gpr, sizeof(gpr));
		for (size_t bit = 0; bit < 8 * s.size; bit++) {
			s.data[bit / 8] ^= 1 << bit % 8;
			if (bit / 8 == SFRAME_AT_ABI)
				assert_foreign(frame);
			else
				ask_all(frame);
			s.data[bit / 8] ^= 1 << bit % 8;
		}
		free(s.data);
	}
}

/* Memory with a page after it that cannot be read. */
static uint8_t *map_before_hole(size_t size)
{
	uint8_t *p = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	promise(p != MAP_FAILED && !mprotect(p + size, PAGE, PROT_NONE));
	return p;
}

static void a_stack_word_that_cannot_be_read_ends_the_step(void **state)
{
	uint8_t *memory = map_before_hole(STACK_ROOM);
	size_t ended = 0;

	for (size_t i = 0; i < set.count; i++) {
		const struct frame_run frame = recorded(&set.frames[i], 3);
		struct frame_run here = frame, there = frame;
		uint64_t before;

		run_here(&here);
		before = here.regs.sp - 8 - frame.stack_addr;
		if (here.status || here.reason || here.row.rule.ra.how != BOBBIN_HOW_IN_CFA_MEM ||
		    before > STACK_ROOM)
			continue;
		/* the return address is the first thing that is not there */
		there.stack = (uint64_t)memory + STACK_ROOM - before;
		memcpy((void *)there.stack, (const void *)frame.stack, before);
		run_in_kernel(&there);
		assert_int_equal(there.status, 0);
		assert_int_equal(there.reason, BOBBIN_REASON_NO_MEMORY);
		assert_same_regs(&there.regs, &frame.regs);
		ended++;
	}
	printf("# %zu frames whose return address is not there\n", ended);
	assert_true(ended >= FEWEST_FRAMES / 2);
	munmap(memory, STACK_ROOM + PAGE);
}

/* The file of a frame whose section has at least four pages. */
static const struct frame_file *large_file(void)
{
	for (size_t i = 0; i < set.count; i++)
		if (set.frames[i].file->size[3] >= 4 * PAGE)
			return set.frames[i].file;
	return NULL;
}

static void section_bytes_that_cannot_be_read_are_an_error(void **state)
{
	const struct frame_file *file = large_file();
	size_t pages = file->size[3] / PAGE + 1, same = 0, failed = 0;
	uint8_t *copy = map_before_hole(pages * PAGE);

	memcpy(copy, file->data[3], file->size[3]);
	for (size_t i = 0; i < set.count; i++) {
		struct frame_run frame = recorded(&set.frames[i], 3), here = frame, there = frame;
		uint8_t *page = copy + i % pages * PAGE;

		if (set.frames[i].file != file)
			continue;
		run_here(&here);
		there.section = (uint64_t)copy;
		promise(!mprotect(page, PAGE, PROT_NONE));
		run_in_kernel(&there);
		promise(!mprotect(page, PAGE, PROT_READ));
		there.section = frame.section;
		if (there.status != -BOBBIN_EFAULT) {
			assert_same_answer(&there, &here);
			same++;
			continue;
		}
		frame.status = -BOBBIN_EFAULT;
		frame.error = there.error;
		assert_int_equal(there.error.reason, BOBBIN_REASON_NO_MEMORY);
		assert_same_answer(&there, &frame);
		failed++;
	}
	printf("# a page of %zu cannot be read: %zu lookups failed, %zu did not need it\n", pages,
	       failed, same);
	assert_true(same && failed);
	munmap(copy, (pages + 1) * PAGE);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The program's variable, as a part of this process. */
static struct frame_run *map_run(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".data.run");
	void *run;

	if (!map || bpf_map__value_size(map) != sizeof(struct frame_run))
		return NULL;
	run = mmap(NULL, sizeof(struct frame_run), PROT_READ | PROT_WRITE, MAP_SHARED,
		   bpf_map__fd(map), 0);
	return run == MAP_FAILED ? NULL : run;
}

static int load(void **state)
{
	struct bpf_object *object = bpf_object__open(object_path);
	struct bpf_prog_info info = {0};
	uint32_t info_size = sizeof(info);
	double begin = seconds();

	if (!object || bpf_object__load(object))
		return -1;
	printf("# loaded in %.0f ms\n", 1e3 * (seconds() - begin));
	prog = bpf_object__find_program_by_name(object, "find_caller");
	kernel = map_run(object);
	if (!prog || !kernel || bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &info_size))
		return -1;
	printf("# %" PRIu32 " instructions verified\n", info.verified_insns);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_frames_have_the_callers_of_user_space),
		cmocka_unit_test(lying_sections_get_the_answers_of_user_space),
		cmocka_unit_test(a_stack_word_that_cannot_be_read_ends_the_step),
		cmocka_unit_test(section_bytes_that_cannot_be_read_are_an_error),
	};

	if (argc < 3)
		return 2;
	object_path = argv[1];
	frame_set_load(argv + 2, argc - 2, &set);
	return cmocka_run_group_tests(tests, load, NULL);
}
