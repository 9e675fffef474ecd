/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* C++ without exceptions: virtual calls, thunks of second bases, templates, lambdas, the heap. */
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

static volatile long sink;

struct shape {
	virtual ~shape() = default;
	virtual long area(long by) const = 0;
};

struct named {
	virtual ~named() = default;
	virtual std::string name(long n) const = 0;
};

struct square : shape, named {
	long side;
	explicit square(long s) : side(s) {}
	long area(long by) const override { return side * side * by; }
	std::string name(long n) const override { return std::string("square of ") + std::to_string(side + n); }
};

struct pile : shape, named {
	std::vector<std::unique_ptr<square>> parts;
	long area(long by) const override
	{
		long sum = 0;

		for (const auto &p : parts)
			sum += p->area(by);
		return sum;
	}
	std::string name(long n) const override { return parts.back()->name(n) + "s"; }
};

__attribute__((noinline)) static long twice(const std::function<long(long)> &f, long n)
{
	return f(n) + f(n + 1);
}

__attribute__((noinline)) static long work(long n)
{
	pile p;
	std::map<long, long> counts;
	const named *second = &p;

	for (long i = 0; i < 4; i++)
		p.parts.push_back(std::make_unique<square>((i * 7 + n) % 5));
	std::sort(p.parts.begin(), p.parts.end(),
		  [](const auto &a, const auto &b) { return a->area(1) < b->area(1); });
	for (const auto &s : p.parts)
		counts[s->side] += s->area(n);
	return twice([&](long m) { return p.area(m) + counts.begin()->second; }, n) +
	       static_cast<long>(second->name(n).size());
}

int main()
{
	for (long n = 0; n < 40; n++)
		sink = sink + work(n);
	return 0;
}
