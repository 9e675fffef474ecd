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
}

it_names_hidden_code_by_its_file() {
	[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"
	library_of_assembly
	leaf >name
	none bare <name
	grep '^liba.so+0x[0-9a-f]*+0x[0-9a-f]* (.*/liba.so)$' name
	# from where the last function ends that a table knows
	go_end=$(readelf --debug-dump=frames liba.so |
		sed -n 's/.*pc=[0-9a-f]*\.\.0*\([0-9a-f]*\)$/\1/p' | sort | sed -n '$!p' | tail -n 1)
	grep "^liba.so+0x$go_end+0x" name
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
		__asm__(".text\\n.fill 64, 1, 0x90\\nback: mov \$15, %rax\\nsyscall\\n");
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
	strip main
	leaf
	grep -q '^#[0-9]* *0x[0-9a-f]* \[signal return\]+0x0 (.*/main)$' out
	grep -q 'raise+0x' out
}


run_cases
