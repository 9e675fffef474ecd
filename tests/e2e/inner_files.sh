#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ELF files that begin at an offset of a file, and are mapped from there.
. "$(dirname "$0")/lib.sh"

# library NAME: ./NAME.so of NAME_leaf, NAME_middle and NAME_run, whose address is in $address
library() {
	cat >"$1.c" <<-END
		static volatile unsigned long sink = 1;
		__attribute__((noinline)) static void $1_leaf(unsigned long n)
		{
			for (unsigned long i = 0; i < n; i++)
				sink += i * i;
		}
		__attribute__((noinline)) static void $1_middle(unsigned long n)
		{
			$1_leaf(n);
			sink++;
		}
		void $1_run(unsigned long n)
		{
			$1_middle(n);
			sink++;
		}
	END
	gcc -O2 -fomit-frame-pointer -shared -fPIC -nostdlib -o "$1.so" "$1.c"
	address=$(nm -D "$1.so" | sed -n 's/ T .*_run$//p')
}

# append FILE: to ./archive, at the next page, which is in $offset
append() {
	truncate -s %4096 archive
	offset=$(stat -c %s archive)
	cat "$1" >>archive
}

# archive FIRST: ./archive of that, two libraries and something else
archive() {
	cp "$1" archive
	library one
	append one.so
	one=$offset
	library two
	append two.so
	two=$offset
	echo "and more" >>archive
}

# both_are_named FRAMES: stacks of both libraries are whole, and each has its names
both_are_named() {
	for name in one two; do
		eval "at=\$$name"
		"$bobbin" record -q "$(program archived)" archive "$at" "$address" 300
		stacks | mostly 90 " ${name}_leaf ${name}_middle ${name}_run main "
		reasons | mostly 95 OUTERMOST
		"$bobbin" report --no-children -g none | grep -q "archive .* ${name}_leaf"
		# which are kept
		mv archive elsewhere
		stacks | mostly 90 " ${name}_leaf ${name}_middle ${name}_run main "
		mv elsewhere archive
	done
}

it_knows_libraries_in_an_archive() {
	head -c 5000 /dev/zero | tr '\0' z >zip
	archive zip
	both_are_named
}

it_knows_libraries_behind_a_program() {
	archive "$(program archived)"
	both_are_named
}

it_shows_a_stack_in_a_library_of_an_archive() {
	echo zip >zip
	archive zip
	spawn "$(program archived)" archive "$two" "$address" 20000
	works_on "$pid" 100
	eventually shows_library
	"$bobbin" maps "$pid" | grep '\.eh_frame .*/archive$'
	kill "$pid"
}

shows_library() {
	"$bobbin" stack "$pid" >out 2>err && grep -q ' two_middle+0x.*/archive)$' out
}

it_tells_functions_of_stripped_libraries_apart() {
	echo zip >zip
	archive zip
	cp zip archive
	strip one.so two.so
	append one.so
	one=$offset
	append two.so
	"$bobbin" record -q "$(program archived)" archive "$one" "$address" 200
	stacks | some ' archive+0x[0-9a-f]* archive+0x[0-9a-f]* one_run main '
	stacks | grep -o ' archive+0x[0-9a-f]*' | sort -u >first
	"$bobbin" record -q "$(program archived)" archive "$offset" "$address" 200
	stacks | grep -o ' archive+0x[0-9a-f]*' | sort -u >second
	[ "$(sort first second | uniq -d | wc -l)" -eq 0 ] || fail "same names: $(cat first second)"
}

it_unwinds_copies_of_perf_through_a_library_in_an_archive() {
	needs perf
	echo zip >zip
	archive zip
	perf_record -q -e cpu-clock:u --call-graph dwarf -o perfs "$(program archived)" archive \
		"$one" "$address" 200 2>/dev/null
	stacks -i perfs | mostly 90 ' one_leaf one_middle one_run main '
}

run_cases
