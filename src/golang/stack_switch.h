/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_switch.h - how Go's runtime.systemstack() and asmcgocall() leave the stack of a goroutine.
 *
 * It saves the stack pointer in the goroutine, g, which its thread's m refers to as curg, and calls a
 * function on the stack of the thread's g0.  Where these are differs between versions of Go, and
 * between programs; the machine code says it.
 */
#ifndef BOBBIN_GOLANG_STACK_SWITCH_H
#define BOBBIN_GOLANG_STACK_SWITCH_H

#include "core/deps.h"

/* Bytes of the function that are looked at. */
#define STACK_SWITCH_CODE 256

/**
 * struct stack_switch - what the code says
 * @start, @end: bytes of the function in which it is on the stack of g0
 * @tls: of the thread's g, from its FS base on
 * @m: of a g's m in it
 * @g0, @curg: of these in an m
 * @sp: of the saved stack pointer in a g, which points to the return address, or
 * @pushed: to the frame pointer below it
 */
struct stack_switch {
	uint32_t start, end;
	int32_t tls, m, g0, curg, sp;
	bool pushed;
};

/* false: the function does not look like that. */
bool stack_switch_find(const uint8_t code[STACK_SWITCH_CODE], struct stack_switch *ret);

/* Where the first call on the other stack returns to, from the start of the code on; or 0. */
uint32_t stack_switch_call(const uint8_t code[STACK_SWITCH_CODE]);

#endif
