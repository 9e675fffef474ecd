// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Throws C++ exceptions through code that was made while the program runs, and says
// what libbobbin-frames.so has seen, if it is there.
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bobbin/frames.h>

extern "C" {
void __register_frame(void *begin);
void __deregister_frame(void *begin);
void __register_frame_info(const void *begin, void *object);
void *__deregister_frame_info(const void *begin);
void __register_frame_table(void *begin);
}

namespace {

using callback = void (*)();

void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "not so: %s\n", what);
	_exit(1);
}

// A page of code that calls what it is given, without a frame pointer, and its frames.
class Jitted {
      public:
	Jitted()
	{
		static const uint8_t code[] = {0x48, 0x83, 0xec, 0x18, // sub $24, %rsp
					       0xff, 0xd7,             // call *%rdi
					       0x48, 0x83, 0xc4, 0x18, // add $24, %rsp
					       0xc3};
		static const uint8_t frames[] = {
			// CIE: "zR", absolute addresses, CFA = rsp + 8, RA = CFA - 8
			20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 12, 7, 8, 0x90,
			1, 0, 0,
			// FDE, with room for start and size: CFA = rsp + 32 from 4 to 10
			32, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			0x44, 14, 32, 0x46, 14, 8, 0, 0, 0, 0, 0,
			// terminator
			0, 0, 0, 0};
		void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t size = sizeof(code), start = reinterpret_cast<uintptr_t>(memory);

		check(memory != MAP_FAILED, "there is memory");
		memcpy(memory, code, sizeof(code));
		page = static_cast<uint8_t *>(memory);
		begin = page + 64;
		memcpy(begin, frames, sizeof(frames));
		memcpy(begin + 32, &start, sizeof(start));
		memcpy(begin + 40, &size, sizeof(size));
	}
	~Jitted() { munmap(page, 4096); }

	// It is executable from here on; LLVM, too, registers it before.
	void call(callback function) const
	{
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		reinterpret_cast<void (*)(callback)>(page)(function);
	}

	uint8_t *begin;

      private:
	uint8_t *page;
};

void thrower()
{
	throw std::string("through");
}

void throw_through(const Jitted &jitted)
{
	try {
		jitted.call(thrower);
	} catch (const std::string &text) {
		check(text == "through", "what was thrown is caught");
		return;
	}
	check(false, "something is thrown");
}

void register_and_throw()
{
	Jitted jitted;

	errno = 1234;
	__register_frame(jitted.begin);
	check(errno == 1234, "errno stays when frames are registered");
	throw_through(jitted);
	errno = 1235;
	__deregister_frame(jitted.begin);
	check(errno == 1235, "errno stays when frames are taken back");
}

struct Early {
	Early() { register_and_throw(); }
} early;

__attribute__((constructor(101))) void earlier()
{
	Jitted jitted;

	__register_frame(jitted.begin);
	__deregister_frame(jitted.begin);
}

void with_objects_of_our_own()
{
	Jitted jitted;
	void *object[16] = {};

	__register_frame_info(jitted.begin, object);
	throw_through(jitted);
	check(__deregister_frame_info(jitted.begin) == object, "an object is given back");
}

// libgcc 13 and newer end by a fault when a table is taken back in which they have looked something
// up; this one stays.
void with_a_table()
{
	static Jitted first, second;
	static void *table[] = {first.begin, second.begin, nullptr};

	__register_frame_table(table);
	throw_through(first);
	throw_through(second);
}

void with_a_table_for_a_while()
{
	Jitted first, second;
	void *table[] = {first.begin, second.begin, nullptr};

	__register_frame_table(table);
	__deregister_frame(table);
}

void with_empty_frames()
{
	uint32_t empty = 0;

	__register_frame(&empty);
	__deregister_frame(&empty);
}

// libgcc takes both; from 13 on it aborts when the second one is taken back.
void twice()
{
	static Jitted jitted;

	__register_frame(jitted.begin);
	__register_frame(jitted.begin);
	throw_through(jitted);
	__deregister_frame(jitted.begin);
}

void in_threads()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([] {
			for (int n = 0; n < 200; n++)
				register_and_throw();
		});
	for (auto &thread : threads)
		thread.join();
}

void in_a_child()
{
	Jitted before;
	int status = -1;

	__register_frame(before.begin);
	if (pid_t pid = fork()) {
		check(waitpid(pid, &status, 0) == pid && status == 0, "the child is well");
	} else {
		throw_through(before);
		in_threads();
		__deregister_frame(before.begin);
		_exit(0);
	}
	throw_through(before);
	__deregister_frame(before.begin);
}

// Whether libbobbin, if the program has it, knows what libbobbin-frames.so was told.
void in_one_map()
{
	auto take_back = reinterpret_cast<decltype(&bobbin_frames_unregister)>(
		dlsym(RTLD_DEFAULT, "bobbin_frames_unregister"));
	Jitted jitted;

	if (!take_back)
		return;
	__register_frame(jitted.begin);
	check(take_back(jitted.begin) == 0, "there is one map in the process");
	__deregister_frame(jitted.begin);
	puts("one map");
}

void say_totals()
{
	auto totals = reinterpret_cast<void (*)(struct bobbin_frames_totals *)>(
		dlsym(RTLD_DEFAULT, "bobbin_frames_totals"));
	struct bobbin_frames_totals seen;

	if (!totals)
		return;
	totals(&seen);
	printf("%" PRIu64 " registered, %" PRIu64 " refused, %" PRIu64 " functions, %" PRIu64
	       " rows, %" PRIu64 " lost\n",
	       seen.registered, seen.refused, seen.all.functions, seen.all.rows,
	       seen.all.lost_functions + seen.all.lost_rows);
}

} // namespace

// For loader.c: libgcc is loaded for this library only then.
extern "C" void plugin_work(long)
{
	register_and_throw();
	with_objects_of_our_own();
	with_a_table();
	with_a_table_for_a_while();
	with_empty_frames();
	in_threads();
	in_a_child();
	twice();
	say_totals();
	in_one_map();
	puts("well");
}

int main()
{
	plugin_work(0);
	return 0;
}
