# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# weights.sh - what functions weigh in other programs' views of an export, and in the report, after lib.sh.
#
# Lines of weights are "NAME<tab>PERCENT", with two decimal places, as the report has them.

# busy_recording: ./perf.data of a compiler, made once for all cases
busy_recording() {
	[ -e "$work/busy.data" ] || record -F 2500 -o "$work/busy.data" \
		gcc -O2 -c -o /dev/null -I "$sources/../../src" -I "$sources/../../include" \
		"$sources/../../src/export/profile.c"
	ln "$work/busy.data" perf.data
}

# report_weights total|self [OPTION…]: the ten heaviest functions of ./perf.data
report_weights() {
	column=$1
	shift
	"$bobbin" report -q -g none --sort sym --full "$@" >report
	awk -v column="$column" '
		/^ *[0-9]/ {
			weight = column == "total" ? $1 : $2
			sub(/%/, "", weight)
			sub(/^ *[0-9.]+% +[0-9.]+% +\[[.k]\] /, "")
			print $0 "\t" weight
		}' report | sort -t "$(printf '\t')" -s -k2,2nr | head -n 10 >ten
	[ "$(wc -l <ten)" -eq 10 ] || fail "fewer than ten functions: $(cat report)"
	cat ten
}

# exports OPTION…: bobbin does, and says nothing but that records were lost, as they may be on a busy machine
exports() {
	expect 0 "$bobbin" export "$@"
	! grep -v ' records were lost while recording$' err || fail "said on stderr, by export $*: $(cat err)"
}

# has_the_weights FILE: of FILE's lines, which are all functions, those in ./ten; viewers round halves in other ways,
# and pprof calls 99.95 % 100 %
has_the_weights() {
	awk -F '\t' '
		NR == FNR { weights[$1] = $2; next }
		!($1 in weights) { print; next }
		weights[$1] == 100 && $2 >= 99.95 { next }
		(difference = weights[$1] - $2) > 0.011 || difference < -0.011 { print $0 ", not " weights[$1] }' \
		"$1" ten >missing
	[ ! -s missing ] || fail "other weights in $1: $(cat missing)"
}

# nasty_recording: ./perf.data of a program whose name, thread's name and function's are for no terminal
nasty_recording() {
	nasty=$(printf 'n"\033[7m\342\200\256\nF0RGED\377\302\2332J')
	LC_ALL=C sed 's/NASTY_______FUNCTION/n"\\<\/script>\nF0RG\xff%s/' "$(program nasty)" >"$nasty"
	chmod 755 "$nasty"
	record -F 2500 "./$nasty" 500
}

# long_recording: ./perf.data of a program whose function has a name of a million letters
long_recording() {
	head -c 1000000 /dev/zero | tr '\0' f >name
	{
		cat "$sources/spin.h"
		printf 'NOINLINE void '
		cat name
		printf '(long ms)\n{\n\tspin(ms);\n\tNO_TAIL_CALL();\n}\nint main(void)\n{\n\t'
		cat name
		printf '(500);\n\treturn 0;\n}\n'
	} >long.c
	gcc -O2 -o long long.c
	record -F 2500 ./long
}
