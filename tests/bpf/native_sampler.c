/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's part: see native_sampler.h. */
#include "native_sampler.h"

/* the function that is linked when the program is loaded */
#undef KERNEL_SCHEDULE_RESUME
#define KERNEL_SCHEDULE_RESUME schedule_native

struct task_struct;
struct bpf_task_work;
struct bpf_map;
static int schedule_native(struct task_struct *task, struct bpf_task_work *work, void *map,
			   int (*callback)(struct bpf_map *, void *, void *), void *aux);

#include "../../bpf/sampler.bpf.c"

#define PAGE 4096
#define PID 4321
#define PROT_READ_WRITE 3

int mprotect(void *start, size_t size, int protection);

#define FIRST_LATE_STATE 1
#define STATES (FIRST_LATE_STATE + KERNEL_LATE_STATES)

static struct {
	const struct native_process *process;
	struct kernel_process listed;
	struct task_struct task;
	struct pt_regs regs;
	uint64_t now, reads;
	struct late_walk *late; /* that is to be called */
	int (*on_return)(struct bpf_map *, void *, void *);
	bool waits; /* is in that call */
	struct native_walk *walk;
	uint64_t frames[KERNEL_FRAMES]; /* of the last walk */
	struct kernel_counts counts;
	struct late_walk late_walks[KERNEL_LATE_WALKS];
	struct walk_state states[STATES];
	struct kernel_mapping mappings[KERNEL_MAPPINGS];
	struct kernel_file files[KERNEL_FILES];
	uint64_t known[1 << KERNEL_KNOWN_BITS];
	uint8_t pages[KERNEL_PAGES][KERNEL_PAGE] __attribute__((aligned(8)));
} machine;

#define ENTRY(array, number) \
	((number) < sizeof(array) / sizeof(*(array)) ? (void *)&(array)[number] : NULL)

void *bpf_map_lookup_elem(void *map, const void *key)
{
	const uint32_t number = *(const uint32_t *)key;

	if (map == &processes)
		return number == PID ? &machine.listed : NULL;
	/* the program makes no lists here */
	if (map == &fresh || map == &inodes || map == &places)
		return NULL;
	if (map == &known)
		return ENTRY(machine.known, number);
	if (map == &mappings)
		return ENTRY(machine.mappings, number);
	if (map == &files)
		return ENTRY(machine.files, number);
	if (map == &pages)
		return ENTRY(machine.pages, number);
	if (map == &states)
		return ENTRY(machine.states, number);
	if (map == &late_walks)
		return ENTRY(machine.late_walks, number);
	if (map == &counts)
		return number ? NULL : &machine.counts;
	__builtin_trap();
}

static long read_memory(void *room, uint32_t size, const void *from, bool wait)
{
	const struct native_process *p = machine.process;

	machine.reads++;
	if (p->read(p->ctx, (uint64_t)from, room, size, wait))
		return 0;
	__builtin_memset(room, 0, size);
	return -BOBBIN_EFAULT;
}

long bpf_probe_read_user(void *room, uint32_t size, const void *from)
{
	return read_memory(room, size, from, false);
}

long bpf_copy_from_user(void *room, uint32_t size, const void *from)
{
	if (!machine.waits)
		__builtin_trap();
	return read_memory(room, size, from, true);
}

/*
 * The frames that a walk came to; what is given out is what is new of them.  Of a deep stack the
 * inner ones are kept: the outer ones are not in their order yet.
 */
static void keep_frames(const struct walk_loop *loop)
{
	const uint64_t count = loop->state->count > KERNEL_FRAMES ? KERNEL_INNER_FRAMES
								  : loop->state->count;

	if (loop->state->count > KERNEL_DEEP_FRAMES)
		__builtin_trap();
	__builtin_memcpy(machine.frames, loop->state->sample.words, 8 * count);
	machine.walk->count = count;
}

long bpf_loop(uint32_t count, void *turn, void *ctx, uint64_t flags)
{
	long (*const call)(uint32_t, void *) = (long (*)(uint32_t, void *))turn;
	uint32_t i = 0;

	while (i < count)
		if (call(i++, ctx))
			break;
	if (call == next_frame)
		keep_frames(ctx);
	return i;
}

uint32_t bpf_get_smp_processor_id(void)
{
	return 0;
}

uint64_t bpf_get_current_pid_tgid(void)
{
	return (uint64_t)PID << 32 | PID;
}

uint64_t bpf_ktime_get_ns(void)
{
	return machine.now += 1000;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return &machine.task;
}

/* What the walks are judged by does not see mappings either. */
long bpf_find_vma(struct task_struct *task, uint64_t addr, void *callback, void *ctx,
		  uint64_t flags)
{
	return -BOBBIN_ENOENT;
}

long bpf_task_pt_regs(struct task_struct *task)
{
	return (long)&machine.regs;
}

/* What may not be written is said by its size. */
long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags)
{
	if (size > sizeof(struct kernel_sample))
		__builtin_trap();
	machine.walk->late |= ring == &results;
	machine.walk->whole |= ring == &results;
	return 0;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	return 0;
}

/* of tracepoints and probes, which are not sampled here */
long bpf_map_delete_elem(void *map, const void *key)
{
	__builtin_trap();
}

uint64_t bpf_get_attach_cookie(void *ctx)
{
	__builtin_trap();
}

long bpf_perf_event_output(void *ctx, void *map, uint64_t index, void *data, uint64_t size)
{
	__builtin_trap();
}

uint64_t bpf_get_current_uid_gid(void)
{
	return 0;
}

long bpf_get_stack(void *ctx, void *room, uint32_t size, uint64_t flags)
{
	return -BOBBIN_EFAULT;
}

uint64_t bpf_ringbuf_query(void *ring, uint64_t what)
{
	return 0;
}

void *bpf_ringbuf_reserve(void *ring, uint64_t size, uint64_t flags)
{
	return NULL;
}

void bpf_ringbuf_submit(void *data, uint64_t flags)
{
}

void bpf_ringbuf_discard(void *data, uint64_t flags)
{
}

void *bpf_cast_to_kern_ctx(void *ctx)
{
	return NULL;
}

int bpf_iter_task_vma_new(struct bpf_iter_task_vma *it, struct task_struct *task, uint64_t addr)
{
	return -BOBBIN_ENOENT;
}

struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *it)
{
	return NULL;
}

void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *it)
{
}

static int schedule_native(struct task_struct *task, struct bpf_task_work *work, void *map,
			   int (*callback)(struct bpf_map *, void *, void *), void *aux)
{
	machine.late = (struct late_walk *)work;
	machine.on_return = callback;
	return 0;
}

/* Compilers put the program's constants where nobody writes. */
static void make_writable(const volatile void *constant)
{
	if (mprotect((void *)((uint64_t)constant & -(uint64_t)PAGE), PAGE, PROT_READ_WRITE))
		__builtin_trap();
}

static void set_word(const volatile uint64_t *constant, uint64_t value)
{
	make_writable(constant);
	*(volatile uint64_t *)constant = value;
}

void native_sampler_init(uint64_t from_sp, uint64_t from_fp, uint64_t record, uint64_t outermost,
			 struct native_maps *ret)
{
	set_word(&form_from_sp, from_sp);
	set_word(&form_from_fp, from_fp);
	set_word(&form_record, record);
	set_word(&outermost_word, outermost);
	set_word(&stack_key.seed, 0x9e3779b97f4a7c15);
	set_word(&stack_key.factor, 0xbf58476d1ce4e5b9);
	make_writable(&first_late_state);
	*(volatile uint32_t *)&first_late_state = FIRST_LATE_STATE;
	ret->mappings = machine.mappings;
	ret->files = machine.files;
	ret->pages = machine.pages[0];
}

void native_sampler_walk(const struct native_process *process, bool may_wait,
			 struct native_walk *ret)
{
	/* user mode was interrupted */
	struct bpf_perf_event_data event = {.regs.words[CS_WORD] = USER_CS};
	const uint64_t before = machine.counts.whole;

	*ret = (struct native_walk){.frames = machine.frames};
	machine.walk = ret;
	machine.process = process;
	machine.listed.list = process->list;
	machine.reads = 0;
	machine.late = NULL;
	machine.task = (struct task_struct){.tgid = PID, .real_parent = &machine.task};
	machine.regs = (struct pt_regs){
		.bp = process->fp, .cs = USER_CS, .ip = process->pc, .sp = process->sp};
	if (may_wait)
		walk_or_defer(&event);
	else
		walk_stack(&event);
	ret->whole = machine.counts.whole > before;
	if (machine.late) {
		machine.waits = true;
		machine.on_return(NULL, NULL, machine.late);
		machine.waits = false;
	}
	ret->reads = machine.reads;
}
