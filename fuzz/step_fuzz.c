/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step with any rule, registers and memory.
 *
 *	rule (24 bytes) | registers (33 bytes) | stack, from address BASE
 *
 * Contract: at most three reads; a refusal leaves the registers alone and has a
 * reason; a caller's stack pointer is aligned and further from the leaf unless
 * a signal frame switched stacks, or the rule of an exact PC says so itself; a packed rule
 * steps to the same caller.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bobbin/step.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x7fff00000000ull
#define GPRS 8

struct input {
	const uint8_t *data;
	size_t size;
};

struct stack {
	struct input bytes;
	unsigned int reads;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* The next @n bytes, as far as they go. */
static uint64_t take(struct input *in, unsigned int n)
{
	uint64_t v = 0;

	for (; n && in->size; n--, in->size--)
		v = v << 8 | *in->data++;
	return v;
}

static enum bobbin_reason stack_read(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct stack *s = ctx;

	s->reads++;
	if (addr < BASE || addr - BASE > s->bytes.size || s->bytes.size - (addr - BASE) < len)
		return addr & 1 ? BOBBIN_REASON_STACK_END : BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, s->bytes.data + (addr - BASE), len);
	return BOBBIN_REASON_NONE;
}

static struct bobbin_place take_place(struct input *in)
{
	struct bobbin_place place;

	place.how = (uint8_t)take(in, 1) % (BOBBIN_HOW_AT_PC + 2);
	place.reg = (uint8_t)take(in, 1) % (BOBBIN_REG_COUNT + 1);
	place.off = (int32_t)take(in, 4);
	return place;
}

static struct bobbin_rule take_rule(struct input *in)
{
	struct bobbin_rule rule;

	rule.cfa = take_place(in);
	rule.ra = take_place(in);
	rule.fp = take_place(in);
	rule.plus = (int16_t)take(in, 2);
	rule.index = (uint8_t)take(in, 1);
	rule.flags = (uint8_t)take(in, 1) & 7;
	rule.reason = (uint8_t)(take(in, 1) % BOBBIN_REASON_COUNT);
	return rule;
}

/* A stack address of two bytes, or any eight. */
static uint64_t take_address(struct input *in)
{
	uint64_t v = take(in, 8);

	return v >> 63 ? v : BASE + (v & 0xffff);
}

static void check_same_packed(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			      struct stack *s, const struct bobbin_regs *leaf,
			      enum bobbin_reason reason, const struct bobbin_regs *caller)
{
	const struct bobbin_mem mem = {stack_read, s};
	struct bobbin_regs regs = *leaf;
	struct bobbin_rule back;
	uint64_t word;

	if (bobbin_rule_pack(rule, &word))
		return;
	bobbin_rule_unpack(word, &back);
	must(bobbin_step(arch, &back, &mem, &regs) == reason);
	must(regs.pc == caller->pc && regs.sp == caller->sp && regs.fp == caller->fp);
}

/* The caller's stack pointer is the leaf's less something, outright. */
static bool goes_down(const struct bobbin_arch *arch, const struct bobbin_rule *rule)
{
	return rule->cfa.how == BOBBIN_HOW_AT_REG && rule->cfa.reg == arch->sp &&
	       rule->cfa.off < arch->cfa_bias;
}

static void check_step(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		       struct stack *s, const struct bobbin_regs *leaf)
{
	const struct bobbin_mem mem = {stack_read, s};
	struct bobbin_regs regs;
	enum bobbin_reason reason;
	bool signal = rule->flags & BOBBIN_RULE_SIGNAL;

	memcpy(&regs, leaf, sizeof(regs));
	s->reads = 0;
	reason = bobbin_step(arch, rule, &mem, &regs);
	must(s->reads <= 3);
	if (reason) {
		must(!memcmp(&regs, leaf, sizeof(regs)));
	} else {
		must(regs.sp % arch->sp_align == 0 && regs.exact == signal && !regs.ra_known);
		must(signal || regs.sp > leaf->sp ||
		     (leaf->exact && (regs.sp == leaf->sp || goes_down(arch, rule))));
	}
	check_same_packed(arch, rule, s, leaf, reason, &regs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_aarch64_be(), bobbin_arch_s390x()};
	struct input in = {data, size};
	struct bobbin_rule rule = take_rule(&in);
	uint64_t gpr[BOBBIN_REG_COUNT] = {0};
	struct bobbin_regs regs = {0};
	uint8_t flags = (uint8_t)take(&in, 1);
	struct stack s;

	regs.pc = take(&in, 4);
	regs.sp = take_address(&in);
	regs.fp = take_address(&in);
	regs.ra = take(&in, 8);
	regs.exact = flags & 1;
	regs.ra_known = flags & 2;
	regs.gpr = flags & 4 ? gpr : NULL;
	regs.gpr_known = (uint32_t)take(&in, 4);
	for (unsigned int i = 0; i < BOBBIN_REG_COUNT; i++)
		gpr[i] = i < GPRS ? regs.sp + 8 * i : i;
	s = (struct stack){.bytes = in};
	for (unsigned int i = 0; i < 4; i++)
		check_step(archs[i], &rule, &s, &regs);
	return 0;
}
