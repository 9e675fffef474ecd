/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* Longer ones take libiberty's stack buffers and too much time. */
#define MAX_MANGLED 8192
#define PLT_SUFFIX "@plt"

struct output {
	char *dst;
	size_t size, len;
	jmp_buf overflow;
};

/*
 * libiberty lets its callback see the text grow but not end it.  The callback
 * variants keep all their state on the stack (Rust punycode identifiers aside,
 * whose buffer is then lost), so it can be left by longjmp().
 */
static void append(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (len >= out->size - out->len)
		longjmp(out->overflow, 1);
	memcpy(out->dst + out->len, text, len);
	out->len += len;
}

static bool demangle_cplusplus(const char *mangled, struct output *out)
{
	if (setjmp(out->overflow))
		return false;
	if (rust_demangle_callback(mangled, DMGL_ANSI, append, out))
		return true;
	out->len = 0;
	return cplus_demangle_v3_callback(mangled, DMGL_ANSI, append, out);
}

static bool looks_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3) ||
	       !strncmp(name, "_GLOBAL_", 8);
}

static bool demangle_into(const char *mangled, struct output *out)
{
	if (looks_mangled(mangled))
		return demangle_cplusplus(mangled, out);
	if (!ocaml_name(mangled, out->dst, out->size) &&
	    !haskell_name(mangled, out->dst, out->size) &&
	    !dlang_name(mangled, out->dst, out->size))
		return false;
	out->len = strlen(out->dst);
	return true;
}

bool demangle_needs_library(const char *mangled)
{
	return looks_mangled(mangled) || !strncmp(mangled, "_D", 2);
}

bool demangle(const char *mangled, char *dst, size_t size)
{
	size_t len = strlen(mangled), suffix = 0;
	struct output out = {.dst = dst, .size = size};
	char plain[MAX_MANGLED];

	if (len >= sizeof(plain))
		return false;
	memcpy(plain, mangled, len + 1);
	if (len > strlen(PLT_SUFFIX) && !strcmp(plain + len - strlen(PLT_SUFFIX), PLT_SUFFIX))
		suffix = strlen(PLT_SUFFIX);
	plain[len - suffix] = '\0';
	if (!demangle_into(plain, &out) || suffix >= out.size - out.len)
		return false;
	memcpy(out.dst + out.len, mangled + len - suffix, suffix + 1);
	return true;
}
