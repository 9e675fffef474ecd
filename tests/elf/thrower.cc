// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Unwinds by the tables that the program headers lead to.
#include <cstdio>
#include <stdexcept>
#include <string>

static int deep(int n)
{
	std::string text(100, 'x');

	if (!n)
		throw std::runtime_error(text);
	return deep(n - 1) + static_cast<int>(text.size());
}

int main()
{
	try {
		return deep(20);
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	return 0;
}
