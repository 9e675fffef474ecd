/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top.h"

struct top_signals top_signals;

static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

#define ENDS (sizeof(ends) / sizeof(*ends))

static void on_end(int signal)
{
	top_signals.end = signal;
}

static void on_stop(int signal)
{
	top_signals.stop = signal;
}

static void on_resume(int signal)
{
	top_signals.resumed = signal;
}

static void on_resize(int signal)
{
	top_signals.resized = signal;
}

static void catch (int signal, void (*handler)(int signal))
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(signal, &action, NULL);
}

static bool is_ignored(int signal)
{
	struct sigaction now;

	return !sigaction(signal, NULL, &now) && now.sa_handler == SIG_IGN;
}

void top_signals_catch(bool screen)
{
	for (size_t i = 0; i < ENDS; i++)
		/* nohup(1) means it */
		if (ends[i] != SIGHUP || !is_ignored(SIGHUP))
			catch (ends[i], on_end);
	if (!screen)
		return;
	/* so does a shell without job control */
	if (!is_ignored(SIGTSTP))
		catch (SIGTSTP, on_stop);
	catch (SIGWINCH, on_resize);
	catch (SIGCONT, on_resume);
}

void top_signals_stop(void)
{
	catch (SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	catch (SIGTSTP, on_stop);
}

void top_signals_let(void)
{
	struct sigaction now;

	for (size_t i = 0; i < ENDS; i++)
		if (!sigaction(ends[i], NULL, &now) && now.sa_handler == on_end)
			catch (ends[i], SIG_DFL);
}

/* But for those of a thread's own faults. */
static void block(sigset_t *before)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

int top_signals_status(int signal)
{
	return signal && signal != SIGINT ? 128 + signal : 0;
}

int top_signals_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	sigset_t before;
	int r = 0;

	block(&before);
	if (!top_signals.end && !top_signals.stop && !top_signals.resumed && !top_signals.resized)
		r = ppoll(fds, count, &timeout, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int top_signals_thread(pthread_t *thread, void *(*run)(void *ctx), void *ctx)
{
	sigset_t before;
	int r;

	block(&before);
	r = pthread_create(thread, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
