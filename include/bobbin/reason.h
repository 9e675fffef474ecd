/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reason.h - why a trace ended, and why bytes were refused.
 *
 * One list serves walks, refusals of sections and files, counters, tests, the
 * command line and the manual.  The numbers are stored in recordings: the list
 * is append-only.
 */
#ifndef BOBBIN_REASON_H
#define BOBBIN_REASON_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define BOBBIN_REASONS(X) \
	X(NONE,            "nothing failed") \
	/* ends of traces */ \
	X(OUTERMOST,       "outermost frame: the trace is complete") \
	X(NO_MAPPING,      "no mapping holds this PC") \
	X(NO_TABLE,        "the mapping has no unwind table") \
	X(NO_FUNCTION,     "no function of the unwind table covers this PC") \
	X(NO_ROW,          "the function has no row for this PC") \
	X(NO_REGISTER,     "the rule needs a register that is not known in this frame") \
	X(NO_MEMORY,       "the stack is not readable") \
	X(STACK_END,       "the copy of the stack ends here") \
	X(STUCK,           "the CFA did not move away from the leaf") \
	X(MISALIGNED,      "the CFA is not aligned") \
	X(BAD_RULE,        "the rule makes no sense on this architecture") \
	X(DEPTH,           "the depth limit was reached") \
	X(NO_USER,         "the sample has no user registers") \
	/* refusals of any bytes */ \
	X(TRUNCATED,       "the data ends before the record does") \
	X(NOT_ELF,         "not an ELF file") \
	X(ELF_CLASS,       "not a 64-bit ELF file") \
	X(ELF_MACHINE,     "no support for the machine of this ELF file") \
	X(ELF_BROKEN,      "the ELF headers contradict each other or the file") \
	/* refusals of .sframe */ \
	X(SFRAME_MAGIC,    "not an SFrame section: bad magic") \
	X(SFRAME_VERSION,  "unknown SFrame version") \
	X(SFRAME_FLAGS,    "reserved SFrame header flags are set") \
	X(SFRAME_ABI,      "unknown SFrame ABI") \
	X(SFRAME_ENDIAN,   "the byte order of the magic and of the ABI differ") \
	X(SFRAME_HEADER,   "the SFrame header's sub-sections overlap or leave the section") \
	X(SFRAME_FDE,      "malformed function descriptor entry") \
	X(SFRAME_FRE,      "malformed frame row entry") \
	X(SFRAME_ORDER,    "SFrame entries are not in ascending order") \
	X(SFRAME_RANGE,    "a row lies outside its function") \
	X(SFRAME_EMPTY,    "the region holds no SFrame data") \
	/* refusals of call-frame information */ \
	X(CFI_LENGTH,      "the length of a CIE or FDE leaves its section or is absurd") \
	X(CFI_CIE,         "an FDE points to no CIE") \
	X(CFI_VERSION,     "unknown CIE version") \
	X(CFI_AUGMENTATION, "unknown CIE augmentation") \
	X(CFI_ENCODING,    "unknown or indirect pointer encoding") \
	X(CFI_RA_COLUMN,   "the return-address column is not this architecture's") \
	X(CFI_OPCODE,      "unknown call-frame instruction") \
	X(CFI_STATE,       "unbalanced or too deep remember_state") \
	X(CFI_HEADER,      "insane .eh_frame_hdr") \
	X(CFI_EXPRESSION,  "a DWARF expression has no equivalent rule") \
	X(CFI_REGISTER,    "a rule names a register that cannot be a base") \
	X(CFI_SP_RULE,     "the stack pointer has a rule of its own") \
	X(CFI_RANGE,       "an offset does not fit a rule") \
	X(CFI_NO_CFA,      "a row defines no CFA") \
	/* refusals of perf.data */ \
	X(PERF_MAGIC,      "not a perf.data file") \
	X(PERF_ENDIAN,     "a perf.data file of foreign byte order") \
	X(PERF_HEADER,     "malformed perf.data header") \
	X(PERF_ATTR,       "malformed event attributes") \
	X(PERF_RECORD,     "malformed perf.data record") \
	X(PERF_COMPRESSED, "damaged compressed records") \
	X(PERF_FEATURE,    "malformed perf.data feature section") \
	/* defects that only a strict check of .sframe finds */ \
	X(SFRAME_AUXILIARY, "an auxiliary header, which no ABI defines") \
	X(SFRAME_GAP,      "bytes between the parts of the SFrame section") \
	X(SFRAME_TRAILING, "bytes other than zero after the SFrame section") \
	X(SFRAME_FIXED,    "the header fixes a register's slot that the ABI does not") \
	X(SFRAME_SECTION_RELATIVE, "starts of functions that are not relative to their own field") \
	X(SFRAME_KEEPS_FP, "a flag says that all functions keep a frame pointer") \
	X(SFRAME_UNSORTED, "the functions are not sorted") \
	X(SFRAME_COUNT,    "the header's number of rows is not the sum of the functions'") \
	X(SFRAME_UNUSED,   "bytes among the rows belong to no function") \
	X(SFRAME_SHARED,   "functions share rows") \
	X(SFRAME_ROWS_OVERLAP, "the rows of the function overlap those of another") \
	X(SFRAME_ROWS_OUTSIDE, "the rows of the function lie outside of the section") \
	X(SFRAME_FRE_TYPE, "unknown FRE type") \
	X(SFRAME_FDE_TYPE, "unknown FDE type") \
	X(SFRAME_REP_ZERO, "the code repeats in blocks of no bytes") \
	X(SFRAME_REP_UNUSED, "a size of blocks for code that does not repeat") \
	X(SFRAME_REP_REST, "the function is not a whole number of its blocks") \
	X(SFRAME_RESERVED, "reserved bits are set") \
	X(SFRAME_KEY,      "a pointer-authentication key on an ABI without any") \
	X(SFRAME_NO_CODE,  "the function has no code") \
	X(SFRAME_WRAP,     "the function reaches beyond the end of the address space") \
	X(SFRAME_OVERLAP,  "the function starts inside another") \
	X(SFRAME_TEXT,     "the function lies outside of the executable code") \
	X(SFRAME_NO_ROWS,  "the function has no rows, which means nothing before V3") \
	X(SFRAME_ROW_COUNT, "the function has more rows than bytes") \
	X(SFRAME_ROW_CUT,  "a row reaches beyond the end of the section") \
	X(SFRAME_WORD_SIZE, "unknown size of data words") \
	X(SFRAME_WORD_COUNT, "a number of data words that means nothing") \
	X(SFRAME_TWIN_ROWS, "two rows start at the same place, the first is void") \
	X(SFRAME_ROW_AT_END, "a row starts where its function ends, it is void") \
	X(SFRAME_LATE_ROW, "the first row does not start with the function") \
	X(SFRAME_MANGLED,  "a signed return address on an ABI without any") \
	X(SFRAME_CONTROL,  "a control word that means nothing in its place") \
	X(SFRAME_REGISTER, "a register that the ABI does not have") \
	X(SFRAME_BASE,     "the base of an address is a register that holds no addresses") \
	X(SFRAME_CFA_RANGE, "the offset of the CFA is too large") \
	X(SFRAME_CFA_BELOW, "the CFA lies below the stack pointer") \
	X(SFRAME_UNALIGNED, "an offset that is not a multiple of a word") \
	X(SFRAME_STACK_ALIGN, "the CFA is aligned less than the ABI's stacks") \
	X(SFRAME_SLOT,     "a register is saved outside of the frame") \
	/* what the format cannot say */ \
	X(SFRAME_RULE,     "a rule that this version of SFrame cannot express") \
	X(SFRAME_REACH,    "a function that the section cannot reach") \
	/* refusals of relocatable files */ \
	X(ELF_RELOCATION,  "a relocation of a foreign kind, or outside of its section") \
	/* refusals of ELF files to be changed */ \
	X(ELF_TYPE,        "neither an executable nor a shared object") \
	X(ELF_UNLOADED,    "the ELF file has no loaded segment") \
	X(ELF_FULL,        "the ELF file has no room for another segment or section") \
	/* functions that a merged section does not take over */ \
	X(SFRAME_DUPLICATE, "the same function is there already") \
	X(SFRAME_COVERED,  "another function says what holds here") \
	X(SFRAME_FOREIGN,  "the ABI of the section is not that of its file") \
	/* refusals of side-files */ \
	X(SIDEFILE_MAGIC,  "not a side-file: bad magic") \
	X(SIDEFILE_VERSION, "unknown version of side-files") \
	X(SIDEFILE_FRAME,  "a zstd frame is damaged or not where it should be") \
	X(SIDEFILE_LIMIT,  "a part of the side-file is larger than any that makes sense") \
	X(SIDEFILE_HEAD,   "malformed head of the side-file") \
	X(SIDEFILE_BLOCK,  "malformed block of the side-file") \
	X(SFRAME_CONCATENATED, "another SFrame section follows, which most readers overlook") \
	/* registered code */ \
	X(UNLOADED,       "the code was unloaded") \
	X(CODE_PAGE,      "the page of registered code makes no sense") \
	X(JIT_TABLE,      "malformed JIT unwind table") \
	X(JIT_ENTRY,      "malformed entry of a JIT unwind table") \
	X(JIT_ORDER,      "the entries of a JIT unwind table are not in ascending order") \
	X(JIT_CHAIN,      "a chain of JIT unwind tables is too long, or a loop") \
	X(JITDUMP_HEADER, "not a jitdump file") \
	X(JITDUMP_RECORD, "malformed record of a jitdump file") \
	/* another refusal of relocatable files */ \
	X(ELF_SYMBOL,     "no local symbol stands for a section of code") \
	/* more ends of traces */ \
	X(OTHER_STACK,    "the next frame is on another stack") \
	/* refusals of Go's tables */ \
	X(GO_TABLE,       "malformed table of Go functions") \
	/* another end of traces */ \
	X(ZERO_RA,        "the return address is 0, in a frame that is not known as a root") \
	/* ends of traces in samples without a copy of the stack */ \
	X(NEW_SPACE,      "the process was giving up its memory, in execve or at its end") \
	X(STACK_HOLE,     "the copy of the stack ends at a page that is not in memory") \
	/* an end of traces in live processes */ \
	X(NO_ANSWER,      "the process's memory did not answer in time") \
	/* a refusal of ELF files */ \
	X(ELF_PACKED,     "a compressed section cannot be unpacked") \
	/* more ends of traces */ \
	X(EH_RETURN,      "an exception's handler is taking the place of this frame") \
	X(BELOW_SP,       "the rule needs memory below the stack pointer, which the copy does not hold") \
	/* another end of traces */ \
	X(ABI_32,         "a 32-bit program: not unwound") \
	/* another end of traces */ \
	X(NO_ROOM,        "the tables of all files together are larger than what is kept") \
	/* refusals of compiled tables */ \
	X(TABLE_MAGIC,    "not a compiled table: bad magic") \
	X(TABLE_VERSION,  "unknown version of compiled tables") \
	X(TABLE_HEAD,     "malformed head of the compiled table") \
	/* refusals of kept tables */ \
	X(KEPT_OWNER,     "others may have written the kept table or its folder") \
	X(KEPT_TABLE,     "the kept table is damaged or another one's") \
	/* another defect of SFrame sections */ \
	X(SFRAME_STUB,    "a linker's stub begins with more than its return address on the stack") \
	/* another end of traces */ \
	X(STACK_UNKNOWN,  "the stack was given out before, and is not known any more") \
	X(CHAIN_MISSING,  "the recording lacks the user part of the call chain, which comes after the sample") \
	X(KERNEL_END,     "the kernel's own walk ended here, at a frame that has a caller") \
	/* another end of traces */ \
	X(NO_CALL,        "the return address that a rule inferred from code leads to is after no call") \
	/* another end of traces */ \
	X(LIKELY,         "outermost frame, likely: a frame before it was left by a guess") \
	/* another end of traces */ \
	X(PROBED,         "a uretprobe has replaced the return address, and what it was is not known") \
	/* more refusals of compiled tables */ \
	X(TABLE_ROW,      "malformed entry, block or rule of the compiled table") \
	X(TABLE_OTHER,    "the compiled table is of another file, or of other code of it") \
	/* refusals of core files */ \
	X(NOT_CORE,       "an ELF file, but not a core file") \
	X(CORE_THREADS,   "the core file has no registers of any thread")
/* clang-format on */

#define BOBBIN_REASON_NUMBER(name, text) BOBBIN_REASON_##name,
/**
 * enum bobbin_reason - every way to stop, see BOBBIN_REASONS for the sentences
 */
enum bobbin_reason {
	BOBBIN_REASONS(BOBBIN_REASON_NUMBER) BOBBIN_REASON_COUNT
};
#undef BOBBIN_REASON_NUMBER

/**
 * struct bobbin_error - what is wrong, and where
 * @offset: byte offset into the data that the call was given
 * @reason: what is wrong there
 *
 * Owned by the caller, who may pass NULL instead.  Written if and only if the
 * call that took it returns a negative errno.
 */
struct bobbin_error {
	uint64_t offset;
	enum bobbin_reason reason;
};

/**
 * bobbin_reason_name() - the identifier of a reason, "NO_ROW"
 * @reason: any value
 *
 * Return: a static string, "UNKNOWN" for a value outside the list.  Safe in
 * every context.
 */
const char *bobbin_reason_name(enum bobbin_reason reason);

/**
 * bobbin_reason_str() - the sentence of a reason
 * @reason: any value
 *
 * Return: a static string without a final stop, "unknown reason" for a value
 * outside the list.  Safe in every context.
 */
const char *bobbin_reason_str(enum bobbin_reason reason);

#ifdef __cplusplus
}
#endif

#endif
