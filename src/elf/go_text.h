/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * go_text.h - where the functions of a Go program start.
 *
 * Offsets in .gopclntab are from there.  Up to Go 1.25 its header says where that is; a
 * position-independent program has a relocation for it.  From Go 1.26 on only the data of the
 * run time's module, .go.module, does.  Layout: moduledata of Go's src/runtime/symtab.go.
 */
#ifndef BOBBIN_ELF_GO_TEXT_H
#define BOBBIN_ELF_GO_TEXT_H

#include <libelf.h>
#include <stdint.h>

/* @table: the address of the header.  In the file's own space; 0: it is not known. */
uint64_t go_text_start(Elf *elf, uint64_t table);

#endif
