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

/*
 * Symbols of languages that libiberty does not read, or not safely.
 *
 * All of them are C identifiers, too, so each function takes only what a C
 * program would hardly call something.  They write the readable form, ended by
 * NUL, to @size bytes; false: it is not such a name or does not fit, and @dst is
 * undefined.
 */

/*
 * "camlRe__Core__pp$27_1444", or since OCaml 5.1 "camlRe__Core.pp$27_1444": "Re.Core.pp'_1444".
 * The number stays: it tells functions of one name apart.  What is in lower case
 * after "caml" is the runtime's C.
 */
bool ocaml_name(const char *symbol, char *dst, size_t size);

/*
 * "base_GHCziBase_zpzp_info", GHC's z-encoding: "base:GHC.Base.++", without the
 * version and hash of a package.  Taken if it has the ending of GHC's code and its
 * module has a dot or its package a version, or it is a worker or dictionary of Main.
 */
bool haskell_name(const char *symbol, char *dst, size_t size);

/* "_D3std5stdio4File5flushMFZv": "std.stdio.File.flush", without the last parameter list. */
bool dlang_name(const char *symbol, char *dst, size_t size);

#endif
