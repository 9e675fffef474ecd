// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * step_function - confirm what 'bobbin sframe lint' says, by running the code.
 *
 *	step_function LIBRARY FUNCTION [ADDRESS...]
 *
 * A child process loads the library and calls what is at the address FUNCTION of it, with pointers to
 * memory as arguments, and 8 as the third one.  The memory is zero but for a 10 at offset 240, where
 * OpenSSL's AES keys have the number of their rounds.  It is run instruction by instruction.  Where
 * the return address is, is known from the call; so the true CFA is.  At each instruction of the
 * function that is passed, what the library's call-frame information says is worked out from the
 * registers and the memory, and compared.
 *
 * One line for each address that is asked for, or without one for each at which the table is
 * wrong: "ADDRESS right", "ADDRESS wrong: RULE: table's CFA is true CFA + N", "ADDRESS not reached".
 * Of the frame pointer: "wrong FP".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bobbin/arch.h>

#include "cfi_image.h"
#include "infer/stated_rows.h"

/* Steps, and bytes of each argument's memory. */
#define MOST_STEPS 300000
#define BUFFER (1u << 20)
#define CALLERS_FP 0x5eed5eed5eed5ee8ull

enum answer {
	NOT_REACHED,
	RIGHT,
	WRONG_CFA,
	WRONG_FP
};

struct stepping {
	struct cfi_image image;
	struct stated_rows rows;
	uint64_t base, function, cfa; /* of the call */
	pid_t child;
	uint64_t *asked;
	enum answer *answers;
	size_t count;
};

/* What a child tells its parent before it stops. */
static uint64_t *shared;

typedef void called(void *, void *, uint64_t, void *, void *, void *);

static void be_child(const char *library, uint64_t function)
{
	struct link_map *map;
	uint8_t *buffers[5];
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		_exit(3);
	for (unsigned int i = 0; i < 5; i++) {
		buffers[i] = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		if (buffers[i] == MAP_FAILED)
			_exit(3);
		buffers[i] += BUFFER / 2;
		buffers[i][240] = 10;
	}
	shared[0] = map->l_addr;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	((called *)(map->l_addr + function))(buffers[0], buffers[1], 8, buffers[2], buffers[3],
					     buffers[4]);
	_exit(0);
}

static bool peek(const struct stepping *s, uint64_t at, uint64_t *ret)
{
	errno = 0;
	*ret = (uint64_t)ptrace(PTRACE_PEEKDATA, s->child, (void *)at, NULL);
	return !errno;
}

static uint64_t reg_of(const struct user_regs_struct *r, unsigned int dwarf)
{
	const uint64_t values[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
				   r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};

	return dwarf < 16 ? values[dwarf] : 0;
}

static bool cfa_by(const struct stepping *s, const struct bobbin_rule *rule,
		   const struct user_regs_struct *regs, uint64_t *ret)
{
	uint64_t cfa = reg_of(regs, rule->cfa.reg) + (uint64_t)(int64_t)rule->cfa.off;

	if (rule->index != BOBBIN_NO_INDEX)
		cfa += 8 * reg_of(regs, rule->index);
	if (rule->cfa.how == BOBBIN_HOW_IN_REG_MEM) {
		if (!peek(s, cfa, &cfa))
			return false;
		cfa += (uint64_t)(int64_t)rule->plus;
	}
	*ret = cfa;
	return true;
}

static uint64_t fp_by(const struct stepping *s, const struct bobbin_rule *rule, uint64_t cfa,
		      const struct user_regs_struct *regs)
{
	uint64_t fp = 0;

	if (rule->fp.how == BOBBIN_HOW_SAME)
		return regs->rbp;
	if (rule->fp.how == BOBBIN_HOW_IN_CFA_MEM)
		peek(s, cfa + (uint64_t)(int64_t)rule->fp.off, &fp);
	else if (rule->fp.how == BOBBIN_HOW_IN_REG_MEM)
		peek(s, reg_of(regs, rule->fp.reg) + (uint64_t)(int64_t)rule->fp.off, &fp);
	else
		return CALLERS_FP; /* not looked at */
	return fp;
}

static void answer(struct stepping *s, uint64_t pc, enum answer a, const struct bobbin_rule *rule,
		   int64_t distance)
{
	static const char *const words[] = {"not reached", "right", "wrong", "wrong FP"};
	char text[BOBBIN_RULE_STR_MAX];
	size_t i = 0;

	while (i < s->count && s->asked[i] != pc)
		i++;
	if (i < s->count && s->answers[i] >= a)
		return;
	if (i < s->count)
		s->answers[i] = a;
	else if (s->count || a == RIGHT)
		return;
	if (a == RIGHT)
		return;
	bobbin_rule_str(s->image.image.arch, rule, text);
	printf("%#lx %s: table: %s", pc, words[a], text);
	if (a == WRONG_CFA)
		printf("; its CFA is the true one %+ld", distance);
	putchar('\n');
}

static void compare(struct stepping *s, const struct user_regs_struct *regs)
{
	const uint64_t pc = regs->rip - s->base;
	const struct bobbin_rule *rule = stated_rows_at(&s->rows, pc);
	uint64_t cfa = 0;

	if (!rule || rule->cfa.how == BOBBIN_HOW_NO_RULE)
		return;
	if (!cfa_by(s, rule, regs, &cfa) || cfa != s->cfa)
		answer(s, pc, WRONG_CFA, rule, (int64_t)(cfa - s->cfa));
	else if (fp_by(s, rule, cfa, regs) != CALLERS_FP)
		answer(s, pc, WRONG_FP, rule, 0);
	else
		answer(s, pc, RIGHT, rule, 0);
}

static bool is_call(const struct stepping *s, uint64_t pc)
{
	uint64_t code = 0;

	peek(s, pc, &code);
	if ((code & 0xf0) == 0x40)
		code >>= 8;
	return (code & 0xff) == 0xe8 || ((code & 0xff) == 0xff && (code >> 11 & 7) == 2);
}

/* One instruction; false: the child has ended, or could not. */
static bool step(const struct stepping *s, struct user_regs_struct *regs)
{
	int status;

	ptrace(PTRACE_SINGLESTEP, s->child, NULL, NULL);
	if (waitpid(s->child, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	if (WSTOPSIG(status) != SIGTRAP) {
		printf("ended by signal %d at %#llx\n", WSTOPSIG(status), regs->rip - s->base);
		return false;
	}
	return !ptrace(PTRACE_GETREGS, s->child, NULL, regs);
}

static bool enter(struct stepping *s, struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_GETREGS, s->child, NULL, regs))
		return false;
	for (unsigned int i = 0; i < MOST_STEPS; i++) {
		if (regs->rip == s->base + s->function) {
			s->cfa = regs->rsp + 8;
			regs->rbp = CALLERS_FP;
			return !ptrace(PTRACE_SETREGS, s->child, NULL, regs);
		}
		if (!step(s, regs))
			return false;
	}
	return false;
}

static void run(struct stepping *s)
{
	struct user_regs_struct regs;
	uint64_t at_call = 0; /* the stack pointer when another function was called */

	if (!enter(s, &regs))
		return;
	for (unsigned int i = 0; i < MOST_STEPS && regs.rsp != s->cfa; i++) {
		const uint64_t pc = regs.rip, sp = regs.rsp;
		const bool own = sp >= at_call;

		if (own)
			compare(s, &regs);
		if (own)
			at_call = is_call(s, pc) ? sp : 0;
		if (!step(s, &regs))
			return;
		/* code that is not linked calls the next instruction to find itself */
		if (at_call == sp && regs.rip - pc < 8)
			at_call = 0;
	}
}

int main(int argc, char **argv)
{
	struct stepping s = {0};
	int fd, status, r;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : cfi_image_init(fd, &s.image);
	if (!r)
		r = stated_rows_init(s.image.views, s.image.count, &s.rows);
	if (r) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
		return 3;
	}
	s.function = strtoull(argv[2], NULL, 0);
	s.count = (size_t)argc - 3;
	s.asked = calloc(s.count + 1, sizeof(*s.asked));
	s.answers = calloc(s.count + 1, sizeof(*s.answers));
	for (size_t i = 0; i < s.count; i++)
		s.asked[i] = strtoull(argv[3 + i], NULL, 0);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	s.child = fork();
	if (!s.child)
		be_child(argv[1], s.function);
	if (waitpid(s.child, &status, 0) < 0 || !WIFSTOPPED(status))
		return 3;
	s.base = shared[0];
	run(&s);
	kill(s.child, SIGKILL);
	waitpid(s.child, &status, 0);
	for (size_t i = 0; i < s.count; i++)
		if (s.answers[i] <= RIGHT)
			printf("%#lx %s\n", s.asked[i],
			       s.answers[i] == RIGHT ? "right" : "not reached");
	free(s.asked);
	free(s.answers);
	stated_rows_fini(&s.rows);
	cfi_image_fini(&s.image);
	return 0;
}
