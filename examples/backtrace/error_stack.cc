/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* error_stack - an exception that knows where it was thrown: taking the addresses costs a microsecond. */
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

#include <stdexcept>

struct located_error : std::runtime_error {
	void *addresses[32];
	int count;

	explicit located_error(const char *what) : std::runtime_error(what), count(backtrace(addresses, 32))
	{
	}

	void print() const
	{
		for (int i = 0; i < count; i++) {
			Dl_info info = {};
			int failed = 1;

			dladdr(static_cast<char *>(addresses[i]) - 1, &info);
			char *name = info.dli_sname
					     ? abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed)
					     : nullptr;
			puts(!failed ? name : info.dli_sname ? info.dli_sname : "?");
			free(name);
		}
	}
};

namespace work
{
__attribute__((noinline)) void refuse(const char *why)
{
	throw located_error(why);
}

__attribute__((noinline)) int divide(int a, int b)
{
	if (!b)
		refuse("divided by zero");
	return a / b;
}
} // namespace work

int main(int argc, char **)
{
	try {
		return work::divide(argc, argc - 1);
	} catch (const located_error &error) {
		puts(error.what());
		error.print();
	}
	return 0;
}
