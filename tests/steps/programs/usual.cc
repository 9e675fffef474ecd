/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usual [PLUGIN] - what programs with tables do to their stacks: lazily bound calls, exceptions, jumps,
 * signals on two stacks, realigned and growing frames, vfork, a library that comes and goes.
 */
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <math.h>
#include <regex.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;
static sigjmp_buf out_of_signal;
static jmp_buf out;

NOINLINE static long leaf(long a)
{
	return a * 3 + 1;
}

struct guarded {
	long n;
	~guarded()
	{
		sink += leaf(n);
	}
};

NOINLINE static long thrower(long depth)
{
	guarded g{depth};

	if (!depth)
		throw std::string("thrown");
	return thrower(depth - 1) + 1;
}

NOINLINE static long catches(long depth)
{
	try {
		try {
			return thrower(depth);
		} catch (const std::string &s) {
			sink += static_cast<long>(s.size());
			throw;
		}
	} catch (...) {
		return leaf(depth);
	}
}

NOINLINE static long jumps(long depth)
{
	long r = depth ? jumps(depth - 1) : 0;

	if (!depth)
		longjmp(out, 1);
	return r + 1;
}

/* A frame for whose alignment the stack pointer is rounded. */
NOINLINE static long realigned(long n)
{
	alignas(64) volatile char room[128];
	char *more = static_cast<char *>(alloca(static_cast<size_t>(n) + 8));

	memset(more, 1, static_cast<size_t>(n));
	room[n % 128] = more[0];
	return leaf(n) + room[n % 128];
}

NOINLINE static long large(long n)
{
	volatile char room[3 * 4096 + 17];

	room[n] = 1;
	return leaf(n) + room[n];
}

NOINLINE static long any_number(int count, ...)
{
	va_list list;
	long sum = 0;

	va_start(list, count);
	while (count--)
		sum += va_arg(list, long);
	va_end(list);
	return sum + leaf(sum);
}

NOINLINE static long in_turn(long n)
{
	return n > 0 ? leaf(n) : in_turn(n + 5);
}

static void on_inner(int number)
{
	sink += leaf(number);
}

static void on_signal(int number)
{
	sink += leaf(number);
	if (number == SIGUSR1)
		raise(SIGUSR2);
}

static void on_fault(int number)
{
	sink += leaf(number);
	siglongjmp(out_of_signal, 1);
}

static void takes_signals()
{
	const size_t size = 64 << 10;
	stack_t stack = {};
	struct sigaction action = {};

	/* far from the other one */
	stack.ss_size = size;
	stack.ss_sp = mmap(reinterpret_cast<void *>(0x10000000), size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, nullptr);
	action.sa_handler = on_inner;
	sigaction(SIGUSR2, &action, nullptr);
	for (int flags : {0, SA_ONSTACK, SA_RESTART, SA_ONSTACK | SA_NODEFER}) {
		action.sa_handler = on_signal;
		action.sa_flags = flags;
		sigaction(SIGUSR1, &action, nullptr);
		raise(SIGUSR1);
	}
	action.sa_handler = on_fault;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGSEGV, &action, nullptr);
	if (!sigsetjmp(out_of_signal, 1))
		sink = *reinterpret_cast<volatile long *>(static_cast<size_t>(sink & 0) + 16);
}

NOINLINE static void has_children()
{
	char program[] = "/bin/true";
	char *arguments[] = {program, nullptr};
	pid_t child = vfork();

	if (!child) {
		sink += leaf(1);
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	if (!posix_spawn(&child, program, nullptr, nullptr, arguments, nullptr))
		waitpid(child, nullptr, 0);
}

static int by_value(const void *a, const void *b)
{
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

NOINLINE static void calls_libraries()
{
	int numbers[64];
	char text[512];
	regex_t regex;

	for (int i = 0; i < 64; i++)
		numbers[i] = (i * 37 + 11) % 64;
	qsort(numbers, 64, sizeof(numbers[0]), by_value);
	snprintf(text, sizeof(text), "%s %.17g %Lf %*d", "text", sqrt(numbers[3]), 1.25L, 50, 7);
	if (!regcomp(&regex, "^a\\(b*\\)c.*[x-z]\\+$", 0)) {
		sink += regexec(&regex, "abbbbcdefxyz", 0, nullptr, 0);
		regfree(&regex);
	}
	sink += strtol("-123", nullptr, 0) + static_cast<long>(pow(2.5, numbers[5]) + sin(1.5));
}

NOINLINE static void calls_templates()
{
	std::map<std::string, int> words;
	std::vector<int> numbers;
	std::ostringstream stream;

	for (int i = 0; i < 40; i++) {
		words["word" + std::to_string(i * 7 % 40)] = i;
		numbers.push_back(i * 31 % 40);
	}
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	for (const auto &word : words)
		stream << word.first << ' ' << word.second * 1.5 << '\n';
	sink += static_cast<long>(stream.str().size());
	try {
		sink += words.at("none");
	} catch (const std::exception &e) {
		sink += static_cast<long>(strlen(e.what()));
	}
}

NOINLINE static void loads(const char *plugin)
{
	for (int i = 0; i < 2; i++) {
		void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
		auto *work = handle ? reinterpret_cast<long (*)(long)>(dlsym(handle, "plugin_work"))
				    : nullptr;

		if (work)
			sink += work(i + 5);
		if (handle)
			dlclose(handle);
	}
}

int main(int argc, char **argv)
{
	has_children();
	takes_signals();
	if (argc > 1)
		loads(argv[1]);
	for (long n = 0; n < 4; n++) {
		sink += realigned(n * 100) + large(n) + any_number(3, n, 5L, 7L) + in_turn(-n * 7);
		if (!setjmp(out))
			sink += jumps(n * 3);
		sink += catches(n * 5);
	}
	calls_libraries();
	calls_templates();
	return 0;
}
