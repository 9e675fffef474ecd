/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * _Unwind_Backtrace() of libgcc's interface, and what its callbacks may ask of a frame.
 *
 * Exceptions are libgcc's: what it calls with a context of its own is passed on to it.  A context
 * of ours is known by its first words, which in libgcc's are a pointer to a saved register or
 * NULL.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <unwind.h>

#include "backtrace/stack_addresses.h"
#include "core/deps.h"
#include "unwind/assembly.h"

/* No address on any of the machines. */
#define MAGIC 0xb0bb1be7face5eedull

/* Where the registers of a walk's frames are found, if a callback asks for them. */
struct frame_registers {
	struct walk_place at; /* of the frame @index */
	const struct bobbin_regs *caller;
	uint32_t index;
};

struct own_context {
	uint64_t magic;
	const struct own_context *self;
	struct bobbin_frame frame;
	bool outermost; /* there is no frame any more */
	uint32_t index; /* of the walk */
	struct frame_registers *registers;
};

static const struct own_context *own_context(const struct _Unwind_Context *context)
{
	const struct own_context *own = (const void *)context;

	return own->magic == MAGIC && own->self == own ? own : NULL;
}

/* Of libgcc, or of what a program has in its place.  Found at the start, or when a context of it is met. */
static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	_Unwind_Word (*gr)(struct _Unwind_Context *, int);
	void (*set_gr)(struct _Unwind_Context *, int, _Unwind_Word);
	_Unwind_Ptr (*ip)(struct _Unwind_Context *);
	_Unwind_Ptr (*ip_info)(struct _Unwind_Context *, int *);
	void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr);
	_Unwind_Word (*cfa)(struct _Unwind_Context *);
	void *(*data)(struct _Unwind_Context *);
	_Unwind_Ptr (*start)(struct _Unwind_Context *);
	_Unwind_Ptr (*data_base)(struct _Unwind_Context *);
	_Unwind_Ptr (*text_base)(struct _Unwind_Context *);
	void *(*enclosing)(void *);
	_Atomic bool shared; /* some of the functions below are others' for the program */
} libgcc;

static const struct {
	const char *name;
	void *pointer, *own;
} functions[] = {
	{"_Unwind_Backtrace", &libgcc.backtrace, (void *)_Unwind_Backtrace},
	{"_Unwind_GetGR", &libgcc.gr, (void *)_Unwind_GetGR},
	{"_Unwind_SetGR", &libgcc.set_gr, (void *)_Unwind_SetGR},
	{"_Unwind_GetIP", &libgcc.ip, (void *)_Unwind_GetIP},
	{"_Unwind_GetIPInfo", &libgcc.ip_info, (void *)_Unwind_GetIPInfo},
	{"_Unwind_SetIP", &libgcc.set_ip, (void *)_Unwind_SetIP},
	{"_Unwind_GetCFA", &libgcc.cfa, (void *)_Unwind_GetCFA},
	{"_Unwind_GetLanguageSpecificData", &libgcc.data, (void *)_Unwind_GetLanguageSpecificData},
	{"_Unwind_GetRegionStart", &libgcc.start, (void *)_Unwind_GetRegionStart},
	{"_Unwind_GetDataRelBase", &libgcc.data_base, (void *)_Unwind_GetDataRelBase},
	{"_Unwind_GetTextRelBase", &libgcc.text_base, (void *)_Unwind_GetTextRelBase},
	{"_Unwind_FindEnclosingFunction", &libgcc.enclosing, (void *)_Unwind_FindEnclosingFunction},
};

#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

/*
 * What the object of a caller would have called without this library, if that was loaded with a scope of
 * its own.  It stays, since it will be called again.
 */
static void *scope_function(const char *name, const void *caller)
{
	void *library = NULL, *function = NULL;
	Dl_info info;

	if (dladdr(caller, &info))
		library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		function = dlsym(library, name);
		dlclose(library);
	}
	if (function && dladdr(function, &info))
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return function;
}

/* Loaded by the C library itself, to end a thread. */
static void *late_function(const char *name)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);

	return library ? dlsym(library, name) : NULL;
}

/* Find libgcc's functions, and whether those below are the program's. */
__attribute__((constructor)) static void start(void)
{
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		__atomic_store_n((void **)functions[i].pointer, dlsym(RTLD_NEXT, functions[i].name),
				 __ATOMIC_RELEASE);
		if (dlsym(RTLD_DEFAULT, functions[i].name) != functions[i].own)
			atomic_store(&libgcc.shared, true);
	}
}

static void *find_foreign(const char *name, const void *own, const void *caller)
{
	/* libraries that start earlier may have threads that throw, before this one has started */
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		function = scope_function(name, caller);
	return function && function != own ? function : late_function(name);
}

/* The function that @pointer is for, of another library; NULL: there is none. */
static void *foreign(void *pointer, const void *caller)
{
	void *function = __atomic_load_n((void **)pointer, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; i < FUNCTIONS && !function; i++)
		if (functions[i].pointer == pointer) {
			function = find_foreign(functions[i].name, functions[i].own, caller);
			__atomic_store_n((void **)pointer, function, __ATOMIC_RELEASE);
		}
	return function;
}

/*
 * Pass a call on; a context that is neither ours nor libgcc's, which is not there, is nobody's.  The
 * type of the member is that of the function.
 */
#define FOREIGN(member) \
	((__typeof__(libgcc.member))foreign(&libgcc.member, __builtin_return_address(0)))

/* Walk again from the start of the part of the chain, up to the frame. */
static const struct bobbin_regs *registers_of(const struct own_context *context)
{
	struct frame_registers *r = context->registers;
	struct bobbin_frame frames[WALK_FRAMES];
	struct bobbin_trace trace = {.frames = frames, .max = context->index - r->index};

	if (r->caller || trace.max) {
		bobbin_object_walk(&r->at, r->caller, &trace);
		r->caller = NULL;
		r->index = context->index;
	}
	return &r->at.regs;
}

static _Unwind_Reason_Code call(_Unwind_Trace_Fn trace, void *arg, struct own_context *context)
{
	context->magic = MAGIC;
	context->self = context;
	return trace((struct _Unwind_Context *)context, arg);
}

/* libgcc's call for what called the outermost frame, with an IP of 0. */
static void call_for_nobody(_Unwind_Trace_Fn trace, void *arg)
{
	struct own_context nobody = {.outermost = true};

	call(trace, arg, &nobody);
}

static bool is_whole(enum bobbin_reason reason)
{
	return reason == BOBBIN_REASON_OUTERMOST || reason == BOBBIN_REASON_LIKELY ||
	       reason == BOBBIN_REASON_ZERO_RA;
}

static _Unwind_Reason_Code call_for_frames(struct walk_place *place,
					   const struct bobbin_regs *caller, _Unwind_Trace_Fn fn,
					   void *arg)
{
	struct bobbin_frame frames[WALK_FRAMES];
	struct bobbin_trace trace = {.frames = frames, .max = WALK_FRAMES};

	do {
		struct frame_registers registers = {.at = *place, .caller = caller};

		bobbin_object_walk(place, caller, &trace);
		for (uint32_t i = 0; i < trace.count; i++) {
			struct own_context context = {
				.frame = frames[i], .index = i, .registers = &registers};

			if (call(fn, arg, &context) != _URC_NO_REASON)
				return _URC_FATAL_PHASE1_ERROR;
		}
		caller = NULL;
	} while (trace.reason == BOBBIN_REASON_DEPTH);
	if (is_whole(trace.reason))
		call_for_nobody(fn, arg);
	return _URC_END_OF_STACK;
}

BOBBIN_API _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn trace, void *arg)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct walk_place place = {0};
	struct bobbin_regs caller = here_caller();

	if (atomic_load_explicit(&libgcc.shared, memory_order_relaxed) && libgcc.backtrace)
		return libgcc.backtrace(trace, arg);
	here_regs(gpr, &place.regs);
	return call_for_frames(&place, &caller, trace, arg);
}

BOBBIN_API _Unwind_Ptr _Unwind_GetIP(struct _Unwind_Context *context)
{
	const struct own_context *own = own_context(context);

	return own ? own->frame.pc : FOREIGN(ip)(context);
}

BOBBIN_API _Unwind_Ptr _Unwind_GetIPInfo(struct _Unwind_Context *context, int *before)
{
	const struct own_context *own = own_context(context);

	if (!own)
		return FOREIGN(ip_info)(context, before);
	*before = own->frame.exact;
	return own->frame.pc;
}

BOBBIN_API _Unwind_Word _Unwind_GetCFA(struct _Unwind_Context *context)
{
	const struct own_context *own = own_context(context);

	if (!own)
		return FOREIGN(cfa)(context);
	return own->outermost ? 0 : registers_of(own)->sp;
}

/* Of the registers that walks follow; the others are not known, and 0. */
BOBBIN_API _Unwind_Word _Unwind_GetGR(struct _Unwind_Context *context, int number)
{
	const struct own_context *own = own_context(context);

	if (!own)
		return FOREIGN(gr)(context, number);
	return own->outermost ? 0 : bobbin_frame_register(registers_of(own), number);
}

BOBBIN_API _Unwind_Ptr _Unwind_GetRegionStart(struct _Unwind_Context *context)
{
	const struct own_context *own = own_context(context);

	if (!own)
		return FOREIGN(start)(context);
	return own->outermost ? 0 : bobbin_process_function(bobbin_frame_lookup_pc(&own->frame));
}

BOBBIN_API void *_Unwind_FindEnclosingFunction(void *pc)
{
	uint64_t start = bobbin_process_function((uint64_t)(uintptr_t)pc - 1);
	void *(*next)(void *) = start ? NULL : FOREIGN(enclosing);

	return next ? next(pc) : (void *)(uintptr_t)start;
}

/* A walk has nothing that could be changed, and no handler's data. */
BOBBIN_API void _Unwind_SetGR(struct _Unwind_Context *context, int number, _Unwind_Word word)
{
	if (!own_context(context))
		FOREIGN(set_gr)(context, number, word);
}

BOBBIN_API void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr ip)
{
	if (!own_context(context))
		FOREIGN(set_ip)(context, ip);
}

BOBBIN_API void *_Unwind_GetLanguageSpecificData(struct _Unwind_Context *context)
{
	return own_context(context) ? NULL : FOREIGN(data)(context);
}

BOBBIN_API _Unwind_Ptr _Unwind_GetDataRelBase(struct _Unwind_Context *context)
{
	return own_context(context) ? 0 : FOREIGN(data_base)(context);
}

BOBBIN_API _Unwind_Ptr _Unwind_GetTextRelBase(struct _Unwind_Context *context)
{
	return own_context(context) ? 0 : FOREIGN(text_base)(context);
}
