/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* service MS - 200 threads that take work from a queue, until the process has used so much CPU time. */
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable more;
static std::queue<std::function<void()>> jobs;
static bool over;
static std::atomic<long> sink;

static void serve(int request)
{
	std::map<std::string, int> words;
	std::ostringstream text;

	for (int i = 0; i < 100; i++)
		words["key" + std::to_string(i * request % 97)] = i;
	for (const auto &word : words)
		text << word.first << '=' << word.second << ';';
	try {
		sink += words.at(request % 7 ? "key1" : "none");
	} catch (const std::out_of_range &e) {
		sink += std::regex_search(text.str(), std::regex("key(9[0-9])=[0-9]+;"));
	}
}

static void work()
{
	for (;;) {
		std::unique_lock<std::mutex> hold(lock);

		more.wait(hold, [] { return over || !jobs.empty(); });
		if (jobs.empty())
			return;
		auto job = std::move(jobs.front());
		jobs.pop();
		hold.unlock();
		job();
	}
}

int main(int argc, char **argv)
{
	const long most = argc > 1 ? atol(argv[1]) : 1000;
	std::vector<std::thread> threads;

	for (int i = 0; i < 200; i++)
		threads.emplace_back(work);
	for (int request = 0; clock() * 1000 / CLOCKS_PER_SEC < most; request++) {
		std::unique_lock<std::mutex> hold(lock);

		if (jobs.size() < 1000)
			jobs.push([request] { serve(request); });
		hold.unlock();
		more.notify_one();
	}
	{
		std::lock_guard<std::mutex> hold(lock);
		over = true;
	}
	more.notify_all();
	for (auto &thread : threads)
		thread.join();
	return 0;
}
