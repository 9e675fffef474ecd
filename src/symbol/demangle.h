/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demangle.h - how a C++, Rust, OCaml, Haskell or D symbol reads in its source.
 */
#ifndef BOBBIN_SYMBOL_DEMANGLE_H
#define BOBBIN_SYMBOL_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the readable form of @mangled, without parameter lists; a
 * trailing "@plt" stays.  False if it is no mangled name or if the result does
 * not fit: a mangled name of a hundred bytes can stand for terabytes.
 */
bool demangle(const char *mangled, char *dst, size_t size);

/* Whether libiberty would read a name, which is hostile; the others are read here. */
bool demangle_needs_library(const char *mangled);

#endif
