#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What code is called that has no symbol of its own.
. "$(dirname "$0")/lib.sh"

# library_of_assembly: ./liba.so with a symbol that has no size, then hidden code, without
# any table; then a function without a symbol that has one
library_of_assembly() {
	cat >asm.s <<-END
		.text
		.globl bare, hidden, tabled
		.hidden hidden, tabled
		.p2align 4
		bare:	mov \$0x1, %eax
			ret
		.p2align 4
		.fill 0x20000, 1, 0x40
		hidden:	nop
		1:	jmp 1b
		.p2align 4
		tabled:	.cfi_startproc
		1:	jmp 1b
			.cfi_endproc
		.section .note.GNU-stack,"",@progbits
	END
	cat >c.c <<-END
		extern void hidden(void), tabled(void);
		void go(int how)
		{
			(how ? tabled : hidden)();
			__asm__ volatile("");
		}
	END
	gcc -shared -fPIC -O2 -o liba.so c.c asm.s
	strip liba.so
	cat >main.c <<-END
		#include <stdio.h>
		void go(int how);
		int main(int argc, char **argv)
		{
			fclose(fopen("ready", "w"));
			go(argc > 1);
			return 0;
		}
	END
	gcc -O2 -o main main.c ./liba.so -Wl,-rpath,"$PWD"
}

# leaf ARGUMENT…: how ./main's innermost frame is called
leaf() {
	rm -f ready
	spawn ./main "$@"
	eventually [ -e ready ]
	quietly "$bobbin" stack "$pid"
	sed -n 's/^#0 *0x[0-9a-f]* //p' out
	kill "$pid"
	# it may be stripped next
	eventually gone "$pid"
}

it_names_hidden_code_by_its_file() {
	[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"
	library_of_assembly
	leaf >name
	none bare <name
	grep '^liba.so+0x[0-9a-f]*+0x[0-9a-f]* (.*/liba.so)$' name
	# from where the last function ends that its code tells: "bare", of six bytes
	bare_end=$(printf %x $((0x$(nm -D liba.so | sed -n 's/ T bare$//p') + 6)))
	grep "^liba.so+0x$bare_end+0x" name
	leaf tabled >name
	grep '^liba.so+0x[0-9a-f]*+0x0 (.*/liba.so)$' name
}

it_labels_memory_without_a_file() {
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	cat >anon.c <<-END
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		int main(void)
		{
			char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memcpy(code + 16, "\xeb\xfe", 2);
			fclose(fopen("ready", "w"));
			((void (*)(void))(code + 16))();
			return 0;
		}
	END
	gcc -O2 -o main anon.c
	leaf >name
	grep -x '\[anon\]+0x10 (\[anon\])' name
}

it_labels_the_return_from_signals() {
	[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"
	cat >handler.c <<-END
		#define _GNU_SOURCE
		#include <signal.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		struct action { void (*handler)(int); unsigned long flags; void (*back)(void); long mask; };
		void back(void) __attribute__((visibility("hidden")));
		__asm__(".text\\n.type before, @function\\nbefore: ret\\n.size before, . - before\\n"
			".fill 64, 1, 0x90\\n.type back, @function\\nback: mov \$15, %rax\\nsyscall\\n"
			".size back, . - back\\n");
		static void on_signal(int signal)
		{
			fclose(fopen("ready", "w"));
			pause();
		}
		int main(void)
		{
			struct action a = {on_signal, 0x04000000, back, 0};
			syscall(SYS_rt_sigaction, SIGUSR1, &a, 0, 8);
			raise(SIGUSR1);
			return 0;
		}
	END
	gcc -O2 -o main handler.c
	leaf
	grep -q '^#[0-9]* *0x[0-9a-f]* back+0x0 (.*/main)' out
	strip main
	leaf
	grep -q '^#[0-9]* *0x[0-9a-f]* \[signal return\]+0x0 (.*/main)$' out
	grep -q 'raise+0x' out
}

# bare_program: ./bare, static and stripped, of functions that no table and no symbol knows
bare_program() {
	cat >bare.c <<-END
		static volatile unsigned long sink;
		__attribute__((noinline)) static void leaf(unsigned long n)
		{
			for (unsigned long i = 0; i < n; i++)
				sink += i * i;
		}
		__attribute__((noinline)) static void middle(unsigned long n)
		{
			leaf(n);
			sink++;
		}
		__attribute__((noinline)) static void outer(unsigned long n)
		{
			middle(n);
			leaf(n / 2);
			sink++;
		}
		int main(void)
		{
			for (int i = 0; i < 600; i++)
				outer(300000);
			return 0;
		}
		__attribute__((naked)) void _start(void)
		{
			__asm__("xor %ebp, %ebp; call main; mov %eax, %edi; mov \$60, %eax; syscall");
		}
	END
	gcc -O1 -static -nostdlib -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
		-Wl,--build-id=none -o bare bare.c
	# where its functions begin, in order
	nm -n bare | sed -n 's/^0*\([0-9a-f]*\) [Tt] \(leaf\|middle\|outer\|main\|_start\)$/bare+0x\1/p' >starts
	[ "$(wc -l <starts)" -eq 5 ] || fail "not five functions: $(cat starts)"
	strip bare
}

# they_are_apart OPTION…: the functions of ./bare have the names of their starts, each
they_are_apart() {
	"$bobbin" script -F ip,sym "$@" | sed -n 's/.* \(bare+0x[0-9a-f]*\)+0x.*/\1/p' | sort -u >named
	sort starts | diff - named
}

it_tells_functions_without_tables_apart() {
	[ "$(uname -m)" = x86_64 ] || skip "inferred from code of x86-64"
	bare_program
	"$bobbin" record -q ./bare
	they_are_apart
	stacks | mostly 90 'main _start\|bare+0x[0-9a-f]* bare+0x[0-9a-f]* bare+0x[0-9a-f]* bare+0x'
	"$bobbin" record -q --no-names -o nameless ./bare
	they_are_apart -i nameless
	needs perf
	perf_record -q -e cpu-clock:u -o perfs ./bare
	# without callers: all others are hardly ever sampled
	"$bobbin" script -F ip,sym -i perfs | sed -n 's/.* \(bare+0x[0-9a-f]*\)+0x.*/\1/p' | sort -u >named
	none -v -x -F -f starts <named
	head -n 1 starts | grep -x -F -f named
}

it_names_what_fibers_return_to() {
	record "$(program fiber)" 300
	# the program begins in its loader
	"$bobbin" script -F ip,sym,dso,source | grep -v ' (.*/ld[^/]*) \[' | grep ' \[entry point\]$' >roots
	mostly 100 ' (.*libc.* \[entry point\]$' <roots
	mostly 100 '+0x0 (' <roots
}

run_cases
