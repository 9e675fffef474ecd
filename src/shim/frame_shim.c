/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbobbin-frames.so: stands before libgcc's registration of frames.
 *
 *	JIT compiler ── __register_frame() ──► here ──┬──► libgcc: exceptions
 *						      └──► bobbin: profiles
 *
 * libgcc always gets the call, first, and unchanged; whatever fails here is
 * counted and nothing else.  The library needs nothing but the C library, has
 * no constructor and holds no lock while it calls others: it may be called before
 * main(), from constructors under dlopen() and in forked children.
 */
#include <bobbin/frames.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "core/deps.h"

/* What libgcc exports, but its headers do not declare. */
void __register_frame(void *begin);
void __register_frame_info(const void *begin, void *object);
void __register_frame_info_bases(const void *begin, void *object, void *text, void *data);
void __register_frame_table(void *begin);
void __register_frame_info_table(void *begin, void *object);
void __register_frame_info_table_bases(void *begin, void *object, void *text, void *data);
void __deregister_frame(void *begin);
void *__deregister_frame_info(const void *begin);
void *__deregister_frame_info_bases(const void *begin);

/* One of these calls calls another, in libgcc; or an allocator is JIT-compiled. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/*
 * Where bobbin is: in this library, or in a libbobbin.so that the program has, so
 * that a process has one map.  Decided by the first call, for good.
 */
enum {
	PLACE_UNKNOWN,
	PLACE_HERE,
	PLACE_PROGRAM
};
static atomic_int place;

static struct {
	_Atomic uint64_t registered, refused;
	_Atomic uint64_t functions, rows, lost_functions, lost_rows, cut;
} totals;

/* The function of the library that would have been called. */
static void *find_next(const char *name)
{
	/* who opened such a library for itself only has it in no global scope */
	static const char *const libraries[] = {"libgcc_s.so.1", "libunwind.so.1"};
	void *function = dlsym(RTLD_NEXT, name);

	for (unsigned int i = 0; i < 2 && !function; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library) {
			function = dlsym(library, name);
			dlclose(library);
		}
	}
	return function;
}

/* No lock: threads that come first at the same time find the same. */
static void *find_once(_Atomic(void *) *cached, void *find(const char *name), const char *name)
{
	void *function = atomic_load_explicit(cached, memory_order_acquire);

	if (!function) {
		function = find(name);
		atomic_store_explicit(cached, function, memory_order_release);
	}
	return function;
}

#define FOUND(find, call) \
	({ \
		static _Atomic(void *) cached; \
		(__typeof__(&call))find_once(&cached, find, #call); \
	})

/* The real one, or NULL. */
#define NEXT(call) FOUND(find_next, call)

static void *find_programs(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static bool is_programs(void)
{
	int now = atomic_load(&place);
	int seen = PLACE_PROGRAM;

	if (now == PLACE_UNKNOWN) {
		if (!find_programs("bobbin_frames_register") ||
		    !find_programs("bobbin_frames_register_table") ||
		    !find_programs("bobbin_frames_unregister"))
			seen = PLACE_HERE;
		if (atomic_compare_exchange_strong(&place, &now, seen))
			now = seen;
	}
	return now == PLACE_PROGRAM;
}

#define BOBBIN(call) (is_programs() ? FOUND(find_programs, call) : &call)

static void count(_Atomic uint64_t *total, uint64_t more)
{
	atomic_fetch_add_explicit(total, more, memory_order_relaxed);
}

static void count_result(int r, const struct bobbin_frames_result *result)
{
	count(r ? &totals.refused : &totals.registered, 1);
	count(&totals.functions, result->functions);
	count(&totals.rows, result->rows);
	count(&totals.lost_functions, result->lost_functions);
	count(&totals.lost_rows, result->lost_rows);
	count(&totals.cut, result->cut);
}

static uint64_t total(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

BOBBIN_API void bobbin_frames_totals(struct bobbin_frames_totals *ret)
{
	*ret = (struct bobbin_frames_totals){
		.registered = total(&totals.registered),
		.refused = total(&totals.refused),
		.all =
			{
				.functions = total(&totals.functions),
				.rows = total(&totals.rows),
				.lost_functions = total(&totals.lost_functions),
				.lost_rows = total(&totals.lost_rows),
				.cut = total(&totals.cut),
			},
	};
}

/**
 * struct call - one of the program's calls
 * @inner: made by another one
 * @error: errno as the program has it
 */
struct call {
	bool inner;
	int error;
};

static struct call enter(void)
{
	struct call call = {inside, errno};

	inside = true;
	return call;
}

static void leave(struct call call)
{
	inside = call.inner;
	errno = call.error;
}

static void add(struct call call, const void *begin)
{
	struct bobbin_frames_result result = {0};

	if (!call.inner)
		count_result(BOBBIN(bobbin_frames_register)(begin, &result), &result);
}

static void add_table(struct call call, const void *table)
{
	struct bobbin_frames_result result = {0};

	if (!call.inner)
		count_result(BOBBIN(bobbin_frames_register_table)(table, &result), &result);
}

static void take_back(struct call call, const void *begin)
{
	if (!call.inner)
		BOBBIN(bobbin_frames_unregister)(begin);
}

/* Hand a call on. */
#define PASS(call, ...) \
	do { \
		__typeof__(&call) function = NEXT(call); \
		if (function) \
			function(__VA_ARGS__); \
	} while (0)

/* A call that registers: libgcc first, then bobbin by @take. */
#define REGISTER(real, take, begin, ...) \
	do { \
		struct call now = enter(); \
		PASS(real, begin, ##__VA_ARGS__); \
		take(now, begin); \
		leave(now); \
	} while (0)

BOBBIN_API void __register_frame(void *begin)
{
	REGISTER(__register_frame, add, begin);
}

BOBBIN_API void __register_frame_info(const void *begin, void *object)
{
	REGISTER(__register_frame_info, add, begin, object);
}

BOBBIN_API void __register_frame_info_bases(const void *begin, void *object, void *text, void *data)
{
	REGISTER(__register_frame_info_bases, add, begin, object, text, data);
}

BOBBIN_API void __register_frame_table(void *begin)
{
	REGISTER(__register_frame_table, add_table, begin);
}

BOBBIN_API void __register_frame_info_table(void *begin, void *object)
{
	REGISTER(__register_frame_info_table, add_table, begin, object);
}

BOBBIN_API void __register_frame_info_table_bases(void *begin, void *object, void *text, void *data)
{
	REGISTER(__register_frame_info_table_bases, add_table, begin, object, text, data);
}

BOBBIN_API void __deregister_frame(void *begin)
{
	struct call call = enter();

	take_back(call, begin);
	PASS(__deregister_frame, begin);
	leave(call);
}

/* One that gives the object back.  The real one is looked for inside: that may allocate. */
#define DEREGISTER(real, begin) \
	({ \
		struct call now = enter(); \
		__typeof__(&real) function = NEXT(real); \
		void *object; \
		take_back(now, begin); \
		object = function ? function(begin) : NULL; \
		leave(now); \
		object; \
	})

BOBBIN_API void *__deregister_frame_info(const void *begin)
{
	return DEREGISTER(__deregister_frame_info, begin);
}

BOBBIN_API void *__deregister_frame_info_bases(const void *begin)
{
	return DEREGISTER(__deregister_frame_info_bases, begin);
}
