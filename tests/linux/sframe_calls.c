/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_calls.c - the system calls and prctl() of a kernel with bobbin's unwinder: what they
 * take and what they refuse, an ordinary user's.
 *
 * Says "calls: right", or all that is wrong.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "codemap/argument_errors.h"
#include "guest_calls.h"

#define PAGE 4096

static uint8_t section[256] __attribute__((aligned(8)));
static uint64_t section_size;
static uint8_t *text;
static bool wrong;

static void expect(const char *what, int got, int wanted)
{
	if (got == wanted)
		return;
	printf("calls: %s: errno %d instead of %d\n", what, got, wanted);
	wrong = true;
}

static void build_section(void)
{
	const struct bobbin_sframe_function function = {.start = (uintptr_t)text, .size = 1};
	struct bobbin_sframe_built fde;
	struct bobbin_sframe_builder builder;
	uint8_t rows[64];

	expect("builder",
	       bobbin_sframe_builder_init(native_arch(), (uintptr_t)section, 3, &builder), 0);
	builder.fdes = &fde;
	builder.fde_max = 1;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	expect("function", bobbin_sframe_builder_add(&builder, &function), 0);
	expect("section", bobbin_sframe_builder_finish(&builder, section, sizeof(section)), 0);
	section_size = bobbin_sframe_builder_size(&builder);
}

static struct sframe_setup setup_for(uint64_t at)
{
	return (struct sframe_setup){.sframe_start = (uintptr_t)section,
				     .sframe_size = section_size,
				     .text_start = at,
				     .text_size = PAGE};
}

static void check_register(void)
{
	struct sframe_setup setup = setup_for((uintptr_t)text),
			    key = {.sframe_start = setup.sframe_start};
	uint8_t nothing[sizeof(section)];
	struct {
		struct sframe_setup setup;
		uint64_t more;
	} longer = {.setup = setup};

	expect("NULL", guest_register(NULL, sizeof(setup)), EFAULT);
	expect("size 0", guest_register(&setup, 0), EINVAL);
	expect("a page and more", guest_register(&setup, PAGE + 1), E2BIG);
	setup.flags = 1;
	expect("flags", guest_register(&setup, sizeof(setup)), EINVAL);
	setup = setup_for((uintptr_t)text);
	expect("mprotect", mprotect(text, PAGE, PROT_READ) ? errno : 0, 0);
	expect("text that is not executable", guest_register(&setup, sizeof(setup)), EINVAL);
	expect("mprotect", mprotect(text, PAGE, PROT_READ | PROT_EXEC) ? errno : 0, 0);
	setup.text_size = 0;
	expect("no text", guest_register(&setup, sizeof(setup)), EINVAL);
	setup = setup_for((uintptr_t)text);
	setup.sframe_start = 8;
	expect("no section", guest_register(&setup, sizeof(setup)), EFAULT);
	memset(nothing, 0xff, sizeof(nothing));
	setup.sframe_start = (uintptr_t)nothing;
	expect("what is no section", guest_register(&setup, sizeof(setup)), EBADMSG);
	longer.more = 1;
	expect("a newer structure", guest_register(&longer, sizeof(longer)), E2BIG);
	longer.more = 0;
	expect("a newer structure of zeros", guest_register(&longer, sizeof(longer)), 0);
	setup = setup_for((uintptr_t)text);
	expect("twice", guest_register(&setup, sizeof(setup)), EEXIST);
	expect("remove with a size", guest_unregister(&setup, sizeof(setup)), EINVAL);
	expect("remove", guest_unregister(&key, SFRAME_SETUP_SIZE_VER0), 0);
	expect("remove twice", guest_unregister(&key, sizeof(key)), ENOENT);
	key.sframe_start = 0;
	expect("remove nothing", guest_unregister(&key, sizeof(key)), EINVAL);
	expect("an older structure", guest_register(&setup, SFRAME_SETUP_SIZE_VER0), 0);
}

static void check_prctl(void)
{
	uint64_t start = (uintptr_t)section, end = start + section_size, at = (uintptr_t)text;

	expect("prctl twice", prctl(PR_ADD_SFRAME, start, end, at, at + PAGE) ? errno : 0, EEXIST);
	expect("prctl remove with more", prctl(PR_REMOVE_SFRAME, start, 1, 0, 0) ? errno : 0,
	       EINVAL);
	expect("prctl remove", prctl(PR_REMOVE_SFRAME, start, 0, 0, 0) ? errno : 0, 0);
	expect("prctl remove twice", prctl(PR_REMOVE_SFRAME, start, 0, 0, 0) ? errno : 0, ENOENT);
	expect("prctl", prctl(PR_ADD_SFRAME, start, end, at, at + PAGE) ? errno : 0, 0);
}

/* In a child: what the parent had is there, and the parent keeps it. */
static void check_fork(void)
{
	struct sframe_setup key = {.sframe_start = (uintptr_t)section};
	int status;

	if (!fork())
		_exit(guest_unregister(&key, sizeof(key)));
	wait(&status);
	expect("remove in a child", WEXITSTATUS(status), 0);
	if (!fork()) {
		munmap(text, PAGE);
		_exit(guest_unregister(&key, sizeof(key)));
	}
	wait(&status);
	expect("remove after munmap", WEXITSTATUS(status), ENOENT);
	expect("remove in the parent", guest_unregister(&key, sizeof(key)), 0);
}

static void check_codectl(void)
{
	const uint64_t at = (uintptr_t)text;
	struct code_elf_info elf = {.text_start = at,
				    .text_end = at + PAGE,
				    .sframe_start = (uintptr_t)section,
				    .sframe_end = (uintptr_t)section + section_size};
	struct code_jit_unwind_table *table = calloc(1, sizeof(*table));
	struct code_jit_info jit = {
		.text_start = at, .text_end = at + PAGE, .unwind_head = (uintptr_t)table};

	expect("option", guest_codectl(7, &elf, sizeof(elf), 0), EINVAL);
	expect("codectl flags", guest_codectl(CODE_REGISTER_ELF, &elf, sizeof(elf), 1), EINVAL);
	expect("elf", guest_codectl(CODE_REGISTER_ELF, &elf, CODE_ELF_INFO_SIZE_VER0, 0), 0);
	expect("jit over it", guest_codectl(CODE_REGISTER_JIT, &jit, sizeof(jit), 0), EEXIST);
	expect("unregister elf", guest_codectl(CODE_UNREGISTER, &elf, sizeof(elf), 0), 0);
	expect("unregister elf twice", guest_codectl(CODE_UNREGISTER, &elf, sizeof(elf), 0),
	       ENOENT);
	expect("jit", guest_codectl(CODE_REGISTER_JIT, &jit, sizeof(jit), 0), 0);
	expect("unregister jit", guest_codectl(CODE_UNREGISTER, &jit, sizeof(jit), 0), 0);
	jit.unwind_head++;
	expect("misaligned head", guest_codectl(CODE_REGISTER_JIT, &jit, sizeof(jit), 0), EINVAL);
	elf.reserved = 1;
	expect("reserved", guest_codectl(CODE_REGISTER_ELF, &elf, sizeof(elf), 0), EINVAL);
	free(table);
}

/* A kernel looks at functions when they are used, and at mappings now. */
static int expected(const struct argument_error *error)
{
	if (error->change == function_outside || error->change == function_before)
		return 0;
	return error->reason == BOBBIN_REASON_SFRAME_TEXT ? EINVAL : -error->error;
}

static void forget(const struct arguments *a)
{
	guest_codectl(CODE_UNREGISTER, &a->elf, sizeof(a->elf), 0);
}

/* The library's table: each error of the manual. */
static void check_arguments(void)
{
	for (size_t i = 0; i < sizeof(argument_errors) / sizeof(*argument_errors); i++) {
		const struct argument_error *error = &argument_errors[i];
		struct arguments a = arguments_open();
		int got;

		error->change(&a);
		if (error->call == REGISTER_SETUP)
			got = guest_register(&a.setup, sizeof(a.setup));
		else if (error->call == REGISTER_JIT)
			got = guest_codectl(CODE_REGISTER_JIT, &a.jit, sizeof(a.jit), 0);
		else
			got = guest_codectl(CODE_REGISTER_ELF, &a.elf, sizeof(a.elf), 0);
		/* a kernel may have no tables in files; the library has a map of its own for them */
		if (!(a.elf.table_flags & CODE_TABLE_FILE && got == EOPNOTSUPP))
			expect(error->what, got, expected(error));
		if (!got)
			forget(&a);
		arguments_close(&a);
	}
}

int main(void)
{
	if (getuid() == 0 && setuid(65534))
		return 1;
	text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return 1;
	build_section();
	if (guest_register(NULL, 0) == ENOSYS) {
		puts("calls: none");
		return 0;
	}
	check_arguments();
	check_register();
	check_prctl();
	check_fork();
	check_codectl();
	if (!wrong)
		puts("calls: right");
	return wrong;
}
