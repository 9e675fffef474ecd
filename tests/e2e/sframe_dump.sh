#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# SFrame sections of all kinds of files, as text and as JSON; damage.
. "$(dirname "$0")/lib.sh"

# library.o, in which each function has a section of its own, library.so, its bare section
library() {
	needs gcc python3 objcopy readelf
	cat >library.c <<-'END'
		int other(void *, ...);
		int first(int n) { char text[100]; return other(text, n) + 1; }
		int second(int n) { return n ? other(&n, first(n - 1)) : first(1); }
	END
	gcc -O2 -fPIC -ffunction-sections -Wa,--gsframe -c library.c
	gcc -shared -Wl,--build-id,-soname=library.so library.o -o library.so
	objcopy --dump-section .sframe=bytes library.so copy.so
}

dump() {
	quietly "$bobbin" sframe dump "$@"
}

# rows FILE: of a dump in JSON, a line each: start in the function, places
rows() {
	dump --json "$@"
	python3 - <<-'END'
		import json
		for file in json.load(open("out"))["files"]:
		    for section in file["sections"]:
		        for table in section["tables"]:
		            for function in table["functions"]:
		                for row in function["rows"]:
		                    print(function["size"], row["start"],
		                          *[row[place]["text"] for place in ("cfa", "fp", "ra")])
	END
}

# asks EXPRESSION: true for the JSON in ./out; `file`, `section`, `functions` are the first ones
asks() {
	python3 - "$1" <<-'END' || fail "not true: $1: $(head -c 600 out)"
		import json, sys
		told = json.load(open("out"))
		file = told["files"][0]
		section = file["sections"][0]
		functions = section["tables"][0]["functions"] if section["tables"] else []
		sys.exit(not eval(f"({sys.argv[1]})"))
	END
}

it_prints_the_same_rows_as_text_and_as_json() {
	library
	rows library.so >rows
	dump library.so
	grep -E '^    [0-9a-f]{16}  ' out | awk '{ print $2, $3, $4 }' >places
	awk '{ print $3, $4, $5 }' rows | cmp - places
	[ "$(wc -l <rows)" -ge 4 ]
}

it_tells_all_of_a_row_in_parts() {
	library
	dump --json library.so
	asks 'all(row["cfa"]["text"] == "%s%+d" % (row["cfa"]["base"], row["cfa"]["offset"])
	          and row["ra"] == {"text": "f", "base": "cfa", "offset": -8, "deref": True}
	          and int(row["pc"], 16) == int(function["start"], 16) + row["start"]
	          for function in functions if function["pc_type"] == "PCINC"
	          for row in function["rows"])'
	asks 'section["offset"] == '$((0x$(readelf -SW library.so | sed -n 's/.* \.sframe  *[^ ]*  *[^ ]* \([^ ]*\).*/\1/p')))
	asks 'section["size"] == section["tables"][0]["size"] + section["padding"]'
}

it_reads_a_section_s_bare_bytes() {
	library
	rows library.so >of_elf
	rows bytes >of_bytes
	cmp of_elf of_bytes
	dump --json bytes
	asks 'file["machine"] is None and section["name"] == "bytes"'
}

it_reads_standard_input() {
	library
	dump library.so
	tail -n +2 out >of_file
	dump - <library.so
	tail -n +2 out | cmp - of_file
	# shellcheck disable=SC2002
	cat library.so | "$bobbin" sframe dump - | tail -n +2 | cmp - of_file
}

it_relocates_objects_and_names_the_section_of_each_function() {
	library
	dump --json library.o
	asks 'section["relocatable"]'
	asks '[(f["start"], f["section"]) for f in functions] ==
	      [("0x0", ".text.first"), ("0x0", ".text.second")]'
	dump library.o
	grep -q 'func idx \[1\]: pc = 0x0, .*, section = .text.second$' out
}

it_names_the_symbol_of_a_relocation() {
	library
	objcopy --globalize-symbol=first --weaken-symbol=second library.o symbols.o
	python3 - <<-'END'
		# the relocation of the first function against the symbol, not the section
		import re, struct, subprocess
		def readelf(*arguments):
		    return subprocess.run(["readelf", "-W", *arguments, "symbols.o"], check=True,
		                          text=True, stdout=subprocess.PIPE).stdout
		number = int(re.search(r"^ +(\d+): .* first$", readelf("-s"), re.M)[1])
		offset = int(re.search(r"'\.rela\.sframe' at offset (0x\w+)", readelf("-r"))[1], 16)
		data = bytearray(open("symbols.o", "rb").read())
		info, = struct.unpack_from("<Q", data, offset + 8)
		struct.pack_into("<Q", data, offset + 8, number << 32 | info & 0xffffffff)
		open("symbols.o", "wb").write(data)
	END
	dump --json symbols.o
	asks 'functions[0]["symbol"] == "first" and functions[0]["section"] == ".text.first"'
	asks '"symbol" not in functions[1]'
}

it_refuses_relocations_of_a_foreign_kind() {
	library
	offset=$(readelf -rW library.o | sed -n "s/.*'\.rela\.sframe' at offset \(0x[0-9a-f]*\).*/\1/p")
	printf '\001' | dd of=library.o bs=1 seek=$((offset + 8)) conv=notrunc status=none
	expect 1 "$bobbin" sframe dump library.o
	complains library.o "$(printf 'offset 0x%x: ' "$((offset))")" relocation
}

it_reads_sections_of_several_names() {
	library
	objcopy --rename-section .sframe=.sframe.cold library.o cold.o
	dump --json cold.o
	asks 'section["name"] == ".sframe.cold" and len(functions) == 2'
	objcopy --rename-section .sframe=.other library.o other.o
	expect 1 "$bobbin" sframe dump other.o
	complains other.o 'no SFrame section'
}

it_finds_the_segment_where_section_headers_are_gone() {
	library
	rows library.so >with_headers
	cp library.so bare.so
	for place in 40 41 42 43 44 45 46 47 60 61 62 63; do
		printf '\000' | dd of=bare.so bs=1 seek=$place conv=notrunc status=none
	done
	rows bare.so | cmp - with_headers
	dump --json bare.so
	asks 'section["name"] == "PT_GNU_SFRAME"'
}

it_prints_tables_that_follow_each_other() {
	library
	head -c 5 /dev/zero >zeroes
	cat bytes zeroes bytes zeroes >both
	dump --json both
	asks 'len(section["tables"]) == 2'
	asks 'section["tables"][0]["num_fres"] == section["tables"][1]["num_fres"]'
	asks 'section["padding"] == section["size"] - 2 * section["tables"][0]["size"] >= 10'
	dump both
	grep -q 'Table 2 of the same section' out
	grep -q 'Padding: ' out
	head -c 64 /dev/zero >nothing
	dump --json nothing
	asks 'section["tables"] == [] and section["padding"] == 64'
}

it_reads_all_versions_and_architectures() {
	[ -x "$toolchain/as" ] || skip "no $toolchain/as, see tools/fetch-toolchain"
	printf 'f: .cfi_startproc\n.long 0, 0\n.cfi_def_cfa_offset 320\n.long 0\n.cfi_endproc\n' >f.s
	for prefix in '' ../../2.44/bin/ aarch64-linux-gnu- s390x-linux-gnu-; do
		"$toolchain/${prefix}as" --gsframe f.s -o f.o
		dump --json f.o
		asks 'functions[0]["rows"][1]["cfa"] | {"register": 0} ==
		      {"text": "sp+320", "base": "sp", "register": 0, "offset": 320, "deref": False}'
	done
}

it_reads_the_sections_of_a_core_file() {
	library
	core=$(program mapped_core)
	"$core" library.so "$PWD/library.so" 0x7f0000000000 all >all.core
	"$core" library.so "$PWD/library.so" 0x7f0000000000 page >page.core
	for kind in all page; do
		rows library.so >of_file
		rows $kind.core | cmp - of_file
		dump --json library.so
		start=$(python3 -c 'import json
print(int(json.load(open("out"))["files"][0]["sections"][0]["tables"][0]["functions"][0]["start"], 16))')
		dump --json $kind.core
		asks 'int(functions[0]["start"], 16) == 0x7f0000000000 + '"$start"
		asks 'section["mapped_file"].endswith("/library.so") and file["absent"] == []'
		asks 'section["from_mapped_file"] == ('"'$kind'"' == "page")'
	done
	dump page.core
	grep -q 'Mapped file: .*/library.so (the core file lacks the section)$' out
}

it_says_what_a_core_file_lacks() {
	library
	core=$(program mapped_core)
	"$core" library.so "$PWD/library.so" 0x7f0000000000 none >none.core
	"$core" library.so "$PWD/changed.so" 0x7f0000000000 page >changed.core
	"$core" library.so "$PWD/gone.so" 0x7f0000000000 page >gone.core
	gcc -shared -Wl,--build-id=0x1234 library.o -o changed.so
	for kind in none changed gone; do
		expect 1 "$bobbin" sframe dump $kind.core
		complains $kind.core 'no SFrame section that can be read'
		grep -q '^Not in the core file, .*\.so at 0x7f0000000000$' out
		expect 1 "$bobbin" sframe dump --json $kind.core
		python3 -c 'import json
absent, = json.load(open("out"))["files"][0]["absent"]
assert absent["address"] == "0x7f0000000000", absent'
	done
}

it_reads_a_core_file_that_the_kernel_wrote() {
	library
	case $(cat /proc/sys/kernel/core_pattern) in
	*[/\|]*) skip "cores go elsewhere, says kernel.core_pattern" ;;
	esac
	printf 'int other(void *p, ...) { __builtin_trap(); }\nint first(int);\nint main(void) { return first(1); }\n' >main.c
	gcc -O2 main.c ./library.so -o main
	mkdir crash
	(cd crash && ulimit -c unlimited && LD_LIBRARY_PATH=.. ../main) || :
	set -- crash/*
	[ -s "$1" ] || skip "the kernel wrote no core file"
	dump --json "$1"
	asks 'any(s["mapped_file"].endswith("/library.so") for s in file["sections"])'
}

it_tells_damage_in_its_place_and_goes_on() {
	library
	dump --json bytes
	functions=$(grep -o '"index"' out | wc -l)
	# the info byte of the first row, of V1: three words of an unknown size
	offset=$(python3 -c 'import struct
data = open("bytes", "rb").read()
print(28 + struct.unpack_from("<I", data, 24)[0])')
	printf '\377' | dd of=bytes bs=1 seek=$((offset + 1)) conv=notrunc status=none
	expect 1 "$bobbin" sframe dump bytes
	complains 'bytes: offset ' 'malformed frame row entry'
	grep -q '    defect at offset 0x' out
	[ "$(grep -c 'func idx' out)" -eq "$functions" ] || fail "not all functions are there"
	expect 1 "$bobbin" sframe dump --json bytes
	grep -q '"defect": "SFRAME_FRE"' out
	python3 -m json.tool out >/dev/null
}

it_prints_the_tables_in_front_of_garbage() {
	library
	printf garbage >>bytes
	expect 1 "$bobbin" sframe dump --json bytes
	asks 'len(functions) >= 2 and section["tables"][1]["defect"] == "SFRAME_MAGIC"'
	expect 1 "$bobbin" sframe dump bytes
	grep -q '^    defect at offset 0x.*bad magic$' out
}

it_survives_any_damage() {
	library
	"$(program mapped_core)" library.so "$PWD/library.so" 0x7f0000000000 all >all.core
	python3 - <<-'END' "$bobbin"
		import json, random, subprocess, sys
		random.seed(1)
		for name in ("bytes", "library.o", "library.so", "all.core"):
		    whole = open(name, "rb").read()
		    places = [whole.find(b"\xe2\xde"), 0, len(whole) - 2000]
		    for i in range(80):
		        data = bytearray(whole)
		        for _ in range(random.choice([1, 1, 3, 20])):
		            at = max(random.choice(places), 0) + random.randrange(120)
		            data[at % len(data)] = random.choice([0, 1, 0xff, random.randrange(256)])
		        if i % 4 == 0:
		            del data[random.randrange(len(data)):]
		        open("damaged", "wb").write(data)
		        run = subprocess.run([sys.argv[1], "sframe", "dump", "--json", "damaged"], timeout=20,
		                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		        json.loads(run.stdout)
		        assert run.returncode == len(run.stderr.splitlines()) <= 1, (name, i, run)
	END
}

it_bounds_what_shared_rows_can_print() {
	needs python3
	# 2000 functions, all with the same 5000 rows
	python3 - <<-'END'
		import struct
		rows = b"\x00\x03\x08" * 5000
		functions = struct.pack("<iIIIBBH", 0, 255, 0, 5000, 0, 0, 0) * 2000
		header = struct.pack("<HBBBbbBIIIII", 0xdee2, 2, 0, 3, 0, -8, 0, 2000, 5000, len(rows), 0, len(functions))
		open("shared", "wb").write(header + functions + rows)
	END
	expect 1 "$bobbin" sframe dump shared
	complains shared 'functions share rows'
	[ "$(wc -l <out)" -lt 300000 ]
}

it_complains_about_what_cannot_be_read() {
	library
	head -c 3000 library.so >cut.so
	expect 1 "$bobbin" sframe dump nowhere
	complains nowhere 'No such file'
	expect 1 "$bobbin" sframe dump .
	complains 'directory'
	expect 1 "$bobbin" sframe dump "$sources/lib.sh"
	complains lib.sh 'bad magic'
	expect 1 "$bobbin" sframe dump main.c
	expect 1 "$bobbin" sframe dump cut.so
	complains cut.so
	expect 1 "$bobbin" sframe dump library.so nowhere library.so
	complains nowhere
	[ "$(grep -c '^library.so: ' out)" -eq 2 ]
	: >empty
	expect 1 "$bobbin" sframe dump empty
	complains 'empty: offset 0x0: the region holds no SFrame data'
	grep -q '^    defect at offset 0x0: the region holds no SFrame data$' out
}

it_explains_itself() {
	quietly "$bobbin" sframe dump --help
	grep -q '^usage: bobbin sframe dump' out
	mv out help
	quietly "$bobbin" help sframe dump
	cmp out help
	expect 2 "$bobbin" sframe dump
	grep -q "^Try 'bobbin help sframe dump'.\$" err
	expect 2 "$bobbin" sframe dump --nonsense file
	expect 2 "$bobbin" sframe dump --json=x file
	expect 1 "$bobbin" sframe dump "$sources/lib.sh" >/dev/full
}

run_cases
