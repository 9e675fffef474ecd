/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * module.h - the unwind tables of one file.
 *
 * They are asked through its set, see table_set.h.  Each is read when the file is opened,
 * except the side-file.
 */
#ifndef BOBBIN_UNWIND_MODULE_H
#define BOBBIN_UNWIND_MODULE_H

#include <bobbin/unwind.h>

#include <sys/stat.h>

#include "base/process_reader.h"
#include "elf/elf_image.h"
#include "golang/pclntab.h"
#include "target/mapping_list.h"
#include "unwind/cached_cfi.h"
#include "unwind/call_frames.h"
#include "unwind/indexed_sections.h"
#include "unwind/inferred_rules.h"
#include "unwind/late_sidefile.h"
#include "unwind/table_set.h"

struct module {
	struct elf_image image;
	struct table_set tables; /* of those below */
	struct pclntab go;
	struct indexed_sections sframe;
	struct call_frames frames;
	struct late_sidefile sidefile;
	struct inferred_rules inferred;
	struct table_cache *cache; /* borrowed, or NULL */
	struct cached_cfi kept;    /* of it, in place of @frames */
	bool asked;                /* for a rule, or for the compiled table */
	uint64_t cfi_bytes;        /* that it has, held or not */
	bool compiling;            /* by another thread, see cached_cfi_table() */
	int fd;                    /* to read code bytes, or -1 */
	int elf_fd;                /* the same, unless the ELF file begins in the middle of it */
	uint64_t base;             /* where it begins; the image has offsets in what is mapped */
	uint64_t copied;           /* its bytes then */
	struct stat opened;        /* of it, when it was opened */
};

/* What files are opened with, all borrowed; all but @options may be NULL. */
struct module_context {
	const struct bobbin_unwinder_options *options;
	struct process_reader *reader;
	struct table_cache *cache;
	const struct infer_ops *infer;
	struct inference_queue *queue;
	uint64_t *made; /* counts tables of inferred rules that are there */
};

/*
 * Read a file's tables.  -ENOENT and friends: it cannot be opened; -EBADMSG: it is not usable;
 * -ENOBUFS: its sections have more than @room bytes; -ENOMEM.
 */
int module_open(const struct module_context *context, const struct mapped_file *file, uint64_t room,
		struct module **ret);
/* Tables that the cache did not have, and that were of use, are kept for the next time. */
void module_close(struct module *module);

/*
 * The same for the ELF file within @container whose code is at @offset of it, see inner_file.h.
 * @container: taken over in any case.
 */
int module_open_inner(const struct module_context *context, int container, uint64_t offset,
		      uint64_t room, struct module **ret);

/*
 * The file's sections, read for the caller alone where they can be: those of @module may be
 * forgotten meanwhile.  @own: to be given to elf_image_fini().  NULL: they cannot be read.
 */
const struct elf_image *module_sections(const struct module *module, struct elf_image *own);

/* Close its file: its code cannot be read any more, its tables can. */
void module_leave_file(struct module *module);

/*
 * It is not asked for a while.  Its compiled table is kept from now on, and takes little memory;
 * its call-frame information takes none, and is read again where it is needed.
 */
void module_rest(struct module *module);

/* Bytes of tables, and of a file that was copied. */
uint64_t module_held(const struct module *module);

/* Bytes that module_rest() would free; 0: there are none, or they are in use. */
uint64_t module_rests_from(const struct module *module);

/*
 * The rule for code at a file offset; false: no segment has it, and @ret is unchanged.
 */
bool module_rule(struct module *module, uint64_t offset, struct table_answer *ret);

/*
 * The code around an address that no table knows: from where the last function
 * before it ends, or its segment or the program starts, to the next function; or the function
 * there that was inferred.  Looks at each
 * function of all tables.
 */
void module_gap(struct module *module, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* As bobbin_unwinder_open(), with rules that are inferred by @infer; NULL: there are none. */
int unwinder_open(const struct bobbin_unwinder_options *options, const struct infer_ops *infer,
		  struct bobbin_unwinder **ret);

/*
 * The tables of what is mapped at an address, of a file or of one inside of it; NULL: there are
 * none.
 */
struct module *unwinder_module(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			       uint64_t addr);

/* As file_table_since(), for the files of the unwinder. */
void unwinder_files_since(struct bobbin_unwinder *unwinder, uint64_t since, bool here);

/*
 * A descriptor, of the caller's, for a file that the unwinder knows, even if it has no tables; or
 * an error of backing_file_open().
 */
int unwinder_file_open(struct bobbin_unwinder *unwinder, const struct mapped_file *file);

/* Who reads other processes; NULL: without a deadline. */
struct process_reader *unwinder_reader(struct bobbin_unwinder *unwinder);

/*
 * The tables of a file that the unwinder knows, read once; NULL: it has none, cannot be read, or
 * there is no room.
 */
struct module *unwinder_file_module(struct bobbin_unwinder *unwinder,
				    const struct mapped_file *file);

/*
 * The tables of a file, or of one inside of it, that know the code at @offset, and where they do;
 * @mapped: the offset at which the mapping begins that holds it.
 */
struct module *unwinder_module_at(struct bobbin_unwinder *unwinder, const struct mapped_file *file,
				  uint64_t mapped, uint64_t offset, uint64_t *vaddr);

/* The same for an address of a mapping, which may be NULL: there are none. */
struct module *unwinder_module_in(struct bobbin_unwinder *unwinder, const struct mapping *mapping,
				  uint64_t addr, uint64_t *vaddr);

/* How much of a processor inferring rules may take, as inference_queue_share(). */
void unwinder_share_code(struct bobbin_unwinder *unwinder, double share);

/*
 * Wait for rules that are inferred later, if some were asked for, as inference_queue_finish().
 * Whether there were some.
 */
bool unwinder_finish_code(struct bobbin_unwinder *unwinder,
			  const volatile sig_atomic_t *interrupted);

/*
 * Keep the code, in no file, that some of the words of a sample lead to, so that the sample can be
 * walked when its process has ended.  @words: of native byte order, at any alignment.
 */
void unwinder_keep_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			const void *words, size_t count);

/* Walks that lacked rules which are being inferred, and files of which they were inferred. */
uint64_t unwinder_missed_code(const struct bobbin_unwinder *unwinder);
uint64_t unwinder_analysed_code(const struct bobbin_unwinder *unwinder);

/* Wait for one more such file, as inference_queue_next(). */
bool unwinder_await_code(struct bobbin_unwinder *unwinder, uint64_t until);

/* How many of the code bytes at a file offset are to be had, from the first on. */
size_t module_code_part(const struct module *module, uint64_t offset, void *dst, size_t size);

/* @size bytes of the code of a Go function, by pclntab_named(): where it starts, or 0: there are none. */
uint64_t module_go_code(const struct module *module, const char *name, void *dst, size_t size);

/* Code bytes at a file offset; false: not to be had. */
bool module_code(const struct module *module, uint64_t offset, void *dst, size_t size);

/* Whether it was written over since its tables were read. */
bool module_is_overwritten(const struct module *module);

/* Whether the instruction before a file offset is a system call. */
bool module_after_syscall(struct module *module, uint64_t offset);

#endif
