#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What makes samples: counters, tracepoints, probes.
. "$(dirname "$0")/lib.sh"

may_trace() {
	"$bobbin" record -q -e sched:sched_switch -o /dev/null true 2>err || {
		grep -q -e 'not allowed' -e 'no permission' -e 'no tracefs' err || fail "$(cat err)"
		skip "$(cat err)"
	}
}

# counts [FIELD]: samples by their event, "COUNT NAME"
counts() {
	"$bobbin" script -F event | awk 'NF { sub(/:$/, "", $NF); n[$NF]++ } END { for (e in n) print n[e], e }'
}

# each EVENT COUNT ARGUMENT…: so many samples of it in a program; small copies leave room for all
each() {
	event=$1
	hits=$2
	shift 2
	record --stack-size 2048 -e "$event" "$(program calls)" "$@"
	[ "$(counts)" = "$hits $event" ] || fail "not $hits: $(counts) $(cat err)"
}

# first_byte PID: of visit() of `calls` in memory, the breakpoint as long as there is a probe
first_byte() {
	start=$(awk '/ r-xp / { split($1, a, "-"); print a[1]; exit }' "/proc/$1/maps")
	offset=$(awk '/ r-xp / { print $3; exit }' "/proc/$1/maps")
	visit=$(nm "$(program calls)" | awk '$3 == "visit" { print $1 }')
	dd if="/proc/$1/mem" bs=1 count=1 skip="$((0x$visit - 0x$offset + 0x$start))" 2>/dev/null |
		od -An -tx1 | tr -d ' '
}

it_samples_each_hit_of_a_tracepoint() {
	may_trace
	record --stack-size 2048 -e syscalls:sys_enter_openat "$(program calls)" 0
	start=$(counts | awk '{ print $1 }')
	each syscalls:sys_enter_openat $((1000 + start)) 1000
	stacks | some ' visit visit_all main ' 1000
	each syscalls:sys_enter_openat $((2000 + start)) 1000 fork
	each syscalls:sys_enter_openat $((2000 + start)) 1000 thread
}

it_counts_as_perf_does() {
	may_trace
	needs perf
	each syscalls:sys_enter_close "$(perf stat -x , -e syscalls:sys_enter_close \
		"$(program calls)" 500 2>&1 >/dev/null | cut -d , -f 1)" 500
}

it_samples_each_call_of_a_function() {
	may_trace
	calls=$(program calls)
	each "uprobe:$calls:visit" 1000 1000
	stacks | mostly 100 ' visit visit_all main '
	reasons | mostly 99 '^OUTERMOST$'
	each "uretprobe:$calls:visit" 1000 1000
	each "uprobe:$calls:visit" 2000 1000 fork
	each "uprobe:$calls:visit+0x0" 2000 1000 thread
}

it_traps_nobody_else() {
	may_trace
	calls=$(program calls)
	for _ in 1 2 3; do
		spawn "$calls" 2000000000
		works_on "$pid"
	done
	before=$(first_byte "$pid")
	for kind in uprobe uretprobe; do
		each "$kind:$calls:visit" 1000 1000
		complains ' 0 records lost'
		each "$kind:$calls:visit" 2000 1000 fork
		complains ' 0 records lost'
		each "$kind:$calls:visit" 2000 1000 thread
		complains ' 0 records lost'
	done
	other=$pid
	spawn "$calls" 2000000000
	target=$pid
	spawn "$bobbin" record -q -c 1000000 -e "uprobe:$calls:visit" -p "$target"
	trapped() { [ "$(first_byte "$target")" = cc ]; }
	eventually trapped
	[ "$(first_byte "$other")" = "$before" ]
}

# descriptions PID: of probes, that this recorder has given the kernel
descriptions() {
	unshare -m sh -c 'mount -t tracefs none /mnt && cat /mnt/uprobe_events' | grep "[:]bobbin/p$1_"
}

it_clears_up_after_itself_and_after_the_killed() {
	may_trace
	needs_root
	needs unshare
	calls=$(program calls)
	spawn "$calls" 2000000000
	target=$pid
	spawn "$bobbin" record -q -c 1000 -e "uprobe:$calls:visit,uretprobe:$calls:visit" -p "$target"
	recorder=$pid
	eventually samples "$recorder"
	[ "$(descriptions "$recorder" | wc -l)" -ge 2 ]
	kill -INT "$recorder"
	wait "$recorder"
	! descriptions "$recorder"
	spawn "$bobbin" record -q -c 1000 -e "uprobe:$calls:visit" -p "$target"
	recorder=$pid
	eventually samples "$recorder"
	kill -9 "$recorder"
	eventually gone "$recorder"
	wait "$recorder" || :
	descriptions "$recorder"
	# a path with spaces
	cp "$calls" 'with spaces'
	"$bobbin" record -q --stack-size 2048 -e "uprobe:$PWD/with spaces:visit" './with spaces' 1000
	[ "$("$bobbin" script -q -F event | grep -c uprobe)" -eq 1000 ]
	! descriptions "$recorder"
}

it_samples_calls_in_running_processes() {
	may_trace
	calls=$(program calls)
	spawn "$calls" 2000000000
	record_while_it_works "$pid" -c 1000 --stack-size 2048 -e "uprobe:$calls:visit"
	"$bobbin" script -F pid,period | awk 'NF { print $1, $2 }' | mostly 100 "^$target 1000$"
	others=1
	expect 0 "$bobbin" record -a -c 1000 --stack-size 2048 -e "uprobe:$calls:visit" sleep 1
	stacks | mostly 99 '^calls: '
	stacks | some ' main ' 10
}

# compile_returns OPTION: functions that call themselves, and that jump to one another if they may
compile_returns() {
	cat >returns.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		volatile unsigned long sink;
		__attribute__((noinline)) void work(unsigned long n) { while (n--) sink += n; }
		__attribute__((noinline)) int nested(int n) { int r = n ? nested(n - 1) + 1 : 0; sink += r; return r; }
		__attribute__((noinline)) void watched(unsigned long n) { work(n); sink++; }
		__attribute__((noinline)) void forks(void) {
			pid_t child = fork();
			nested(2);
			if (child)
				waitpid(child, NULL, 0);
			sink++;
		}
		__attribute__((noinline)) void lasts(void) { sink++; nested(1); sink++; }
		__attribute__((noinline)) void jumps(void) { sink++; __asm__ volatile("" ::: "memory"); lasts(); }
		static void *thread(void *arg) { nested(5); sink++; return arg; }
		int main(int argc, char **argv) {
			pthread_t t;
			struct timespec now;
			pid_t self = getpid();
			nested(9);
			pthread_create(&t, NULL, thread, NULL);
			pthread_join(t, NULL);
			forks();
			if (getpid() == self)
				jumps();
			if (getpid() == self && argc > 1)
				do
					watched(1000000);
				while (!clock_gettime(CLOCK_MONOTONIC, &now) && atol(argv[1]));
			return 0;
		}
	END
	gcc -O2 -fno-inline -fno-ipa-icf "$1" -pthread -o returns returns.c
}

it_walks_over_returns_that_are_probed() {
	[ "$(uname -m)" = x86_64 ] || skip 'return addresses are not put back here'
	may_trace
	compile_returns -fno-optimize-sibling-calls
	file=$PWD/returns
	for bpf in '' --bpf; do
		[ -z "$bpf" ] || "$bobbin" record -q --bpf -o /dev/null true 2>err || continue
		record $bpf --stack-size 4096 \
			-e "uretprobe:$file:nested,uretprobe:$file:forks,uretprobe:$file:lasts,uretprobe:$file:jumps" "$file"
		# ten deep, six in a thread, three in each of two processes, two after a jump; who forks returns twice
		[ "$(counts | sort)" = "$(printf '%s\n' "2 uretprobe:$file:forks" "24 uretprobe:$file:nested" \
			"1 uretprobe:$file:lasts" "1 uretprobe:$file:jumps" | sort)" ] || fail "$(counts)"
		reasons | mostly 100 '^OUTERMOST$'
		stacks | some ' nested nested nested nested nested nested nested nested nested main ' 1
		stacks | some ' nested forks main ' 2
		stacks | some ' nested lasts jumps main ' 1
		stacks | none 7fffffffe000
	done
	compile_returns -foptimize-sibling-calls
	record --stack-size 4096 -e "uretprobe:$file:nested,uretprobe:$file:lasts,uretprobe:$file:jumps" "$file"
	reasons | mostly 100 '^OUTERMOST$'
}

it_walks_over_the_probed_returns_of_callers() {
	[ "$(uname -m)" = x86_64 ] || skip 'return addresses are not put back here'
	may_trace
	compile_returns -fno-optimize-sibling-calls
	file=$PWD/returns
	spawn "$file" 1
	record_while_it_works "$pid" -F 999 -e "cpu-clock,uretprobe:$file:watched"
	stacks | some ' work watched main ' 100
	# a call while the events are opened may not be known
	reasons | mostly 97 '^OUTERMOST$'
	# another's probe: where the function returns to is not known
	other=$target
	spawn "$bobbin" record -q -o other.data -e "uretprobe:$file:watched" -p "$other"
	probed() { grep -q -F '[uprobes]' "/proc/$other/maps"; }
	eventually probed
	works_on "$other"
	record_while_it_works "$other" -F 999
	stacks | none 7fffffffe000
	reasons | mostly 90 '^PROBED$'
	stacks | mostly 90 ' work watched *$'
	expect 0 "$bobbin" stack "$other"
	none 'fffffffe000' <out
}

it_leaves_no_probe_when_it_is_killed() {
	may_trace
	calls=$(program calls)
	spawn "$calls" 2000000000
	target=$pid
	works_on "$target"
	before=$(first_byte "$target")
	[ "$before" != cc ]
	trapped() { [ "$(first_byte "$target")" = cc ]; }
	untrapped() { [ "$(first_byte "$target")" = "$before" ]; }
	spawn "$bobbin" record -q -c 1000 -e "uprobe:$calls:visit" -p "$target"
	eventually trapped
	kill -9 "$pid"
	eventually untrapped
}

it_records_several_events() {
	may_trace
	calls=$(program calls)
	record --stack-size 2048 -e "cpu-clock,syscalls:sys_enter_close,uprobe:$calls:visit" "$calls" 1000
	counts | sort -k 2 >ours
	grep -q "^1000 uprobe:$calls:visit$" ours
	grep -q ' cpu-clock$' ours
	awk '{ print $2 }' ours >listed
	record --stack-size 2048 -e cpu-clock -e syscalls:sys_enter_close --event "uprobe:$calls:visit" "$calls" 1000
	counts | sort -k 2 >ours
	awk '{ print $2 }' ours | diff listed -
	needs perf
	perf evlist -i perf.data | sort >names
	printf '%s\n' cpu-clock syscalls:sys_enter_close "uprobe:$calls:visit" | diff - names
	perf script -i perf.data -F event | sed 's/ *$//; s/:$//; s/^ *//' | sort | uniq -c |
		awk '{ print $1, $2 }' | sort -k 2 | diff ours -
}

# left_behind: the file of a recorder that is killed, once it has samples of all events
left_behind() {
	ls .perf.data.?????? >/dev/null || return 1
	"$bobbin" script -q -i .perf.data.?????? -F event | awk 'NF { print $NF }' | sort -u >left
	[ "$(wc -l <left)" -ge "$1" ]
}

it_tells_events_apart_when_it_is_killed() {
	spawn "$bobbin" record -q -F 9999 -e cpu-clock,cpu-clock:u,page-faults --off-cpu --off-cpu-thresh 0 \
		-- sh -c 'while :; do /bin/true; sleep 0.001; done'
	eventually left_behind 4
	kill -9 "$pid"
	grep -q '^cpu-clock:$' left
	grep -q '^cpu-clock:u:$' left
	grep -q '^\(offcpu\|preempted\)-time:$' left
	"$bobbin" record -q -F 999 -e cpu-clock,cpu-clock -o twice "$(program chain)" 200
	"$bobbin" report -i twice | sed -n 's/^# Samples: .* of event //p' >names
	[ "$(cat names)" = "$(printf "'cpu-clock'\n'cpu-clock'")" ] || fail "not one by one: $(cat names)"
}

it_samples_by_counters_of_the_kernel() {
	record -e task-clock "$(program chain)" 500
	counts | some ' task-clock\(:u\)\?$' 1
	complete
	record -e page-faults -c 1 "$(program chain)" 100
	counts | some ' page-faults\(:u\)\?$' 1
	# so many nanoseconds
	record -e cpu-clock:u -c 2000000 "$(program chain)" 1000
	"$bobbin" script -F event,period | mostly 100 '2000000 *cpu-clock:u:'
	[ "$(counts | awk '{ print $1 }')" -ge 300 ]
	"$bobbin" script -F ip,sym | none '^[[:space:]]*ffff[0-9a-f]\{12\} '
	complete
}

it_probes_the_version_that_is_meant() {
	may_trace
	cat >versions.c <<-'END'
		__asm__(".symver f_old,f@V1\n.symver f_new,f@@V2");
		volatile int sink;
		__attribute__((noinline)) void f_old(void) { sink = 1; }
		__attribute__((noinline)) void f_new(void) { sink = 2; }
	END
	echo 'V1 { global: f; local: *; }; V2 { global: f; } V1;' >versions.map
	gcc -O1 -fPIC -shared -o libversions.so versions.c -Wl,--version-script=versions.map
	echo 'void f(void); int main(void) { for (int i = 0; i < 10; i++) f(); return 0; }' >new.c
	{ echo '__asm__(".symver f,f@V1");' && cat new.c; } >old.c
	for name in new old; do
		gcc -o $name $name.c -L. -lversions -Wl,-rpath,"$PWD"
	done
	for stripped in no yes; do
		[ $stripped = no ] || strip libversions.so
		for name in f f@V2 f@@V2; do
			record -e "uprobe:$PWD/libversions.so:$name" ./new
			[ "$(counts)" = "10 uprobe:$PWD/libversions.so:$name" ] || fail "$(counts)"
		done
		record -e "uprobe:$PWD/libversions.so:f@V1" ./old
		[ "$(counts)" = "10 uprobe:$PWD/libversions.so:f@V1" ] || fail "$(counts)"
		for name in f@@V1 f@V3 f@ g; do
			expect 2 "$bobbin" record -e "uprobe:$PWD/libversions.so:$name" true
			complains "^bobbin record: -e: .* has no function '$name'"
		done
	done
}

it_refuses_places_that_are_no_code() {
	may_trace
	calls=$(program calls)
	for place in visit+0x100000 0x10 0xffffffffffffffff; do
		expect 2 "$bobbin" record -e "uprobe:$calls:$place" true
		complains "^bobbin record: -e: $calls has no code at offset 0x"
	done
	mkfifo pipe
	for path in "$PWD" "$PWD/pipe"; do
		expect 2 timeout 60 "$bobbin" record -e "uprobe:$path:visit" true
		complains "^bobbin record: -e: $path is not an ELF file"
	done
}

it_lists_functions_of_one_name() {
	for i in 1 2; do
		printf '%s\n' "volatile int sink; static __attribute__((noinline)) int same(void) { return sink += $i; }" \
			"int call_$i(void) { return same() + 1; }" >same$i.c
	done
	sed -i 's/^volatile/extern volatile/' same2.c
	echo 'int call_1(void), call_2(void); int main(void) { return call_1() + call_2() + call_2() < 0; }' >same.c
	gcc -O1 -o same same.c same1.c same2.c
	expect 2 "$bobbin" record -e "uprobe:$PWD/same:same" true
	complains "-e: $PWD/same has 2 functions 'same': give the offset of one: 0x[0-9a-f]* (same1.c), 0x[0-9a-f]* (same2.c)$"
	offset=$(sed -n 's/.*, \(0x[0-9a-f]*\) (same2.c)$/\1/p' err)
	may_trace
	record -e "uprobe:$PWD/same:$offset" ./same
	[ "$(counts)" = "2 uprobe:$PWD/same:$offset" ] || fail "$(counts)"
	# that is known from the debug file, too
	objcopy --only-keep-debug same same.debug
	strip same
	mkdir -p debug/.build-id
	id=$(readelf -n same | sed -n 's/.*Build ID: //p')
	mkdir -p "debug/.build-id/${id%"${id#??}"}"
	mv same.debug "debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
	expect 2 "$bobbin" record --debug-path debug -e "uprobe:$PWD/same:same" true
	complains "has 2 functions 'same'"
}

it_refuses_events_that_are_not_there() {
	for event in '' nonsense cpu-clock, cycles:x 'uprobe:' uprobe:/bin/sh uprobe:/bin/sh: \
		uprobe:/no/such/file:main uprobe:/etc/passwd:main uprobe:/bin/sh:no_such_function \
		"uprobe:$(program calls):visit+x"; do
		expect 2 "$bobbin" record -e "$event" true
		complains '^bobbin record: -e: '
	done
	cat >chosen.c <<-'END'
		static int one(void) { return 1; }
		int (*choose(void))(void) { return one; }
		int chosen(void) __attribute__((ifunc("choose")));
		int main(void) { return chosen() - 1; }
	END
	gcc -o chosen chosen.c
	expect 2 "$bobbin" record -e "uprobe:$PWD/chosen:chosen" true
	complains "^bobbin record: -e: 'chosen' of $PWD/chosen .*STT_GNU_IFUNC"
	expect 2 "$bobbin" record -e "uprobe:$PWD/chosen:choose" true
	complains "^bobbin record: -e: 'choose' of $PWD/chosen .*STT_GNU_IFUNC"
	may_trace
	for event in sched:no_such_tracepoint no_such_system:x a:b:c ../x:y; do
		expect 2 "$bobbin" record -e "$event" true
		complains '^bobbin record: -e: '
	done
}

it_says_what_permission_is_missing() {
	needs_root
	needs setpriv
	chmod 777 .
	calls=$(program calls)
	expect 2 setpriv --reuid 65534 --clear-groups "$bobbin" record -e sched:sched_switch true
	complains 'not allowed to read tracefs: run as root'
	expect 1 setpriv --reuid 65534 --clear-groups "$bobbin" record -e "uprobe:$calls:visit" true
	complains 'no permission' CAP_PERFMON
}

run_cases
