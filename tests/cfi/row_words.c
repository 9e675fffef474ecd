/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "row_words.h"

#include <inttypes.h>
#include <stdio.h>

static const char *register_name(const struct bobbin_arch *arch, uint8_t reg)
{
	static const char *const amd64[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					    "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					    "r12", "r13", "r14", "r15", "rip"};
	static char name[8];

	if (arch == bobbin_arch_amd64() && reg < sizeof(amd64) / sizeof(amd64[0]))
		return amd64[reg];
	if (reg == 31)
		return "sp";
	snprintf(name, sizeof(name), arch == bobbin_arch_s390x() ? "r%u" : "x%u", reg);
	return name;
}

static void print_place(const struct bobbin_arch *arch, struct bobbin_place place)
{
	switch (place.how) {
	case BOBBIN_HOW_SAME:
		printf("\tu");
		break;
	case BOBBIN_HOW_UNDEFINED:
		printf("\tundefined");
		break;
	case BOBBIN_HOW_IN_CFA_MEM:
		printf("\tc%+" PRId32, place.off);
		break;
	case BOBBIN_HOW_AT_CFA:
		printf("\tv%+" PRId32, place.off);
		break;
	case BOBBIN_HOW_AT_REG:
		printf("\t%s", register_name(arch, place.reg));
		break;
	default:
		printf("\texp");
	}
}

void row_print(const struct bobbin_arch *arch, uint64_t addr, const struct bobbin_rule *rule,
	       uint8_t plt)
{
	printf("%016" PRIx64, addr);
	if (rule->cfa.how == BOBBIN_HOW_NO_RULE) {
		printf("\t-\t-\t-\t%s\n", bobbin_reason_name((enum bobbin_reason)rule->reason));
		return;
	}
	if (rule->cfa.how == BOBBIN_HOW_AT_REG && !plt)
		printf("\t%s%+" PRId32, register_name(arch, rule->cfa.reg), rule->cfa.off);
	else
		printf("\texp");
	print_place(arch, rule->fp);
	print_place(arch, rule->ra);
	printf("%s%s\n", rule->flags & BOBBIN_RULE_SIGNAL ? "\tsignal" : "",
	       rule->flags & BOBBIN_RULE_MANGLED ? "\tmangled" : "");
}
