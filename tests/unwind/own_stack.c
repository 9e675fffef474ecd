/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_stack [SEEN...] - a program that walks its own stack, in signal handlers.
 *
 *	main ─ outer ─ sorter ─ (qsort) ─ compare ─ big ─ leaf ─X
 *
 * leaf() faults; the handler walks from the registers that it was given, and
 * faults again: the second walk begins in the handler and goes through the
 * kernel's signal frame.  Then a timer interrupts a recursion anywhere,
 * prologues and epilogues included, and each walk must reach _start.
 *
 * Only the freestanding part of the library is used, on memory that is there:
 * this runs wherever its architecture is emulated.  Last comes what was seen on
 * the way: "sframe", "cfi", "trampoline", "signed", "parked".  All words that
 * are arguments must be among these.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <bobbin/step.h>

#include "core/restorer.h"
#include "core/rule_step.h"
#include "own_registers.h"
#include "own_tables.h"

#define NOIPA __attribute__((noipa))
#define MAX_FRAMES 256
#define INTERRUPTIONS 150

extern char _start[];
int main(int argc, char **argv);

enum {
	SFRAME,
	CFI,
	TRAMPOLINE,
	SIGNED,
	PARKED,
	KINDS
};
static const char *const kinds[] = {"sframe", "cfi", "trampoline", "signed", "parked"};

/* Functions of this program, the innermost first; and why there were no more. */
struct trace {
	uint64_t functions[MAX_FRAMES];
	unsigned int count;
	enum bobbin_reason reason;
};

static struct {
	unsigned int seen[KINDS];
	volatile sig_atomic_t faults, walking;
	unsigned int interruptions, failures;
	volatile int *nowhere; /* an address that faults */
	sigjmp_buf out;
} own;

/* @world: how many of the words had a signature */
static inline enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	unsigned int *signatures = world;

	memcpy(ret, (const void *)addr, sizeof(*ret));
	*signatures += (*ret & own_arch()->pac_mask) != 0;
	return BOBBIN_REASON_NONE;
}

/* The rule for a frame, and which table it is from. */
static int find_row(const struct own_object *o, const struct bobbin_regs *regs,
		    struct bobbin_row *ret)
{
	uint64_t pc = bobbin_regs_lookup_pc(regs);
	struct bobbin_cfi_rows rows;

	if (o && o->has_sframe && !bobbin_sframe_lookup(&o->sframe, pc, NULL, ret))
		return SFRAME;
	if (o && o->has_cfi && !bobbin_cfi_lookup(&o->cfi, pc, &rows, NULL, ret))
		return CFI;
	*ret = (struct bobbin_row){.rule = bobbin_rule_none(BOBBIN_REASON_NO_TABLE)};
	if (!restorer_find(own_arch(), (const uint8_t *)regs->pc - RESTORER_BEFORE))
		signal_frame_rule(own_arch(), &ret->rule);
	return TRAMPOLINE;
}

static void note_rule(const struct bobbin_rule *rule, int table, unsigned int signatures)
{
	own.seen[table]++;
	if (rule->flags & BOBBIN_RULE_MANGLED && signatures)
		own.seen[SIGNED]++;
	if (rule->ra.how == BOBBIN_HOW_AT_REG)
		own.seen[PARKED]++;
}

static enum bobbin_reason walk_on(const struct own_object *o, struct bobbin_regs *regs,
				  uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_row *row)
{
	unsigned int signatures = 0;
	int table = find_row(o, regs, row);
	uint64_t sp = regs->sp;
	enum bobbin_reason reason = step_by_rule(&signatures, own_arch(), &row->rule, regs);

	if (reason)
		return reason;
	note_rule(&row->rule, table, signatures);
	if (row->rule.flags & BOBBIN_RULE_SIGNAL) {
		regs->gpr_known = step_interrupted(&signatures, own_arch(), sp, gpr);
		regs->gpr = gpr;
	}
	return BOBBIN_REASON_NONE;
}

static void walk(const ucontext_t *context, struct trace *ret)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs = interrupted(context, gpr);

	ret->count = 0;
	ret->reason = BOBBIN_REASON_DEPTH;
	own.walking = 1;
	for (unsigned int depth = 0; depth < MAX_FRAMES; depth++) {
		const struct own_object *o = own_object_of(bobbin_regs_lookup_pc(&regs));
		enum bobbin_reason reason;
		struct bobbin_row row;

		reason = walk_on(o, &regs, gpr, &row);
		if (o && o->is_program)
			ret->functions[ret->count++] = row.function;
		if (reason) {
			ret->reason = reason;
			break;
		}
	}
	own.walking = 0;
}

static void fail(const struct trace *trace, const char *what)
{
	own.failures++;
	printf("# %s: %s:", what, bobbin_reason_str(trace->reason));
	for (unsigned int i = 0; i < trace->count; i++)
		printf(" main%+lld", (long long)(trace->functions[i] - (uint64_t)main));
	printf("\n");
}

static NOIPA int leaf(volatile int *where)
{
	int result = *where;

	/* the first must not be read */
	__asm__ volatile("" ::: "memory", CALLEE_SAVED);
	return result;
}

/* Offsets that do not fit into two bytes. */
static NOIPA int big(int n)
{
	volatile char room[70000];

	room[n] = 1;
	return leaf(own.nowhere) + room[n];
}

/* x86-64: aligned anew, by another register */
static NOIPA int compare(const void *a, const void *b)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[*(const int *)a & 1] = 1;
	return big(*(const int *)b) + room[0];
}

static NOIPA int sorter(int n)
{
	int numbers[] = {2, 1, n};

	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return numbers[0] + 1;
}

/* Of varying size: the frame pointer is needed. */
static NOIPA int outer(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 16 + 16);

	room[n] = 1;
	return sorter(n) + room[n];
}

static NOIPA void on_fault(int signal, siginfo_t *info, void *context)
{
	const uint64_t chain[] = {
		(uint64_t)on_fault, (uint64_t)leaf,  (uint64_t)big,  (uint64_t)compare,
		(uint64_t)sorter,   (uint64_t)outer, (uint64_t)main, (uint64_t)_start,
	};
	unsigned int first = own.faults ? 0 : 1;
	struct trace trace;

	if (own.walking) {
		static const char text[] = "# the walk itself faulted\n";

		_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ? 3 : 2);
	}
	walk(context, &trace);
	if (trace.reason != BOBBIN_REASON_OUTERMOST || trace.count != 8 - first ||
	    memcmp(trace.functions, chain + first, (8 - first) * sizeof(chain[0])))
		fail(&trace, own.faults ? "from the handler" : "from the leaf");
	if (own.faults++)
		siglongjmp(own.out, 1);
	*own.nowhere = 1;
}

static NOIPA unsigned int wander(unsigned int depth, unsigned int turn)
{
	volatile unsigned int room[24];

	room[depth % 24] = turn;
	if (depth == 0)
		return room[0];
	for (unsigned int i = 0; i < 3; i++)
		room[i] = wander(depth - 1, turn + i) + room[depth % 24];
	return room[turn % 3] + turn;
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs = interrupted(context, gpr);
	const struct own_object *o = own_object_of(regs.pc);
	struct trace trace;

	/* stubs that the linker made for calls have no tables on all architectures */
	if (!o || !o->is_program || own.interruptions >= INTERRUPTIONS)
		return;
	walk(context, &trace);
	own.interruptions++;
	if (trace.reason != BOBBIN_REASON_OUTERMOST || trace.count < 2 ||
	    trace.functions[trace.count - 2] != (uint64_t)main ||
	    trace.functions[trace.count - 1] != (uint64_t)_start)
		fail(&trace, "from anywhere");
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	if (sigaction(signal, &action, NULL))
		abort();
}

static NOIPA void be_interrupted(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

	handle(SIGALRM, on_timer, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned int turn = 0; own.interruptions < INTERRUPTIONS && turn < 100000; turn++)
		wander(6, turn);
	setitimer(ITIMER_REAL, &never, NULL);
	if (own.interruptions < INTERRUPTIONS) {
		printf("# interrupted %u times only\n", own.interruptions);
		own.failures++;
	}
}

static bool was_seen(const char *what)
{
	for (unsigned int i = 0; i < KINDS; i++)
		if (!strcmp(what, kinds[i]))
			return own.seen[i];
	return false;
}

int main(int argc, char **argv)
{
	static char alternate[256 * 1024];
	const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

	own_tables_init(own_arch());
	sigaltstack(&stack, NULL);
	handle(SIGSEGV, on_fault, SA_ONSTACK | SA_NODEFER);
	if (!sigsetjmp(own.out, 1))
		outer(argc);
	be_interrupted();

	printf("#");
	for (unsigned int i = 0; i < KINDS; i++)
		printf(" %s %u", kinds[i], own.seen[i]);
	printf("\n");
	for (int i = 1; i < argc; i++)
		if (!was_seen(argv[i])) {
			printf("# not seen: %s\n", argv[i]);
			own.failures++;
		}
	return own.failures != 0;
}
