/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.h - one frame of a call chain, and who said where its caller is.
 */
#ifndef BOBBIN_FRAME_H
#define BOBBIN_FRAME_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define BOBBIN_SOURCES(X) \
	X(NONE,          "none") \
	X(SFRAME,        ".sframe") \
	X(EH_FRAME,      ".eh_frame") \
	X(DEBUG_FRAME,   ".debug_frame") \
	X(TRAMPOLINE,    "signal trampoline") \
	X(FRAME_POINTER, "frame pointer") \
	X(ENTRY,         "entry point") \
	X(VSYSCALL,      "vsyscall page") \
	X(JIT,           "JIT table") \
	X(SIDEFILE,      "side-file") \
	X(GO,            ".gopclntab") \
	X(KERNEL,        "kernel's call chain") \
	X(ROOT_SEARCH,   "search for the root") \
	X(CODE,          "code") \
	X(GUESS,         "a guess") \
	X(PATH,          "code at the PC") \
	X(LEFT_OUT,      "frames left out") \
	X(HOTSPOT,       "Java VM") \
	X(COMPILED,      "compiled table")
/* clang-format on */

#define BOBBIN_SOURCE_NUMBER(name, text) BOBBIN_SOURCE_##name,
/**
 * enum bobbin_source - where the rule of a frame came from
 *
 * The numbers are stored in recordings: the list is append-only.
 */
enum bobbin_source {
	BOBBIN_SOURCES(BOBBIN_SOURCE_NUMBER) BOBBIN_SOURCE_COUNT
};
#undef BOBBIN_SOURCE_NUMBER

/**
 * struct bobbin_frame - one frame of a trace
 * @pc: program counter (@exact) or return address
 * @source: enum bobbin_source: how its caller was found; in the last frame: where the rule
 *	that ended the trace came from.  BOBBIN_SOURCE_LEFT_OUT in a sample: @pc frames were
 *	left out here
 * @exact: @pc is the next instruction to run, and tells the function; else the instruction
 *	before it does: a call, or a system call after which no table covers the code
 * @kernel: of a sample's kernel part
 */
struct bobbin_frame {
	uint64_t pc;
	uint8_t source;
	bool exact, kernel;
};

/**
 * bobbin_frame_lookup_pc() - the address that tells a frame's function, line and table
 * @frame: the frame
 *
 * Return: the address.  Safe in every context.
 */
static inline uint64_t bobbin_frame_lookup_pc(const struct bobbin_frame *frame)
{
	return frame->exact ? frame->pc : frame->pc - 1;
}

#ifdef __cplusplus
}
#endif

#endif
