/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counted - a child sends real-time signals, which queue; how many have arrived is printed
 * when the child has sent all of them.  It sends for as long as the file ./go is there.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t received;
static volatile sig_atomic_t sum;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	received++;
	sum += info->si_value.sival_int;
}

/* How many it sent goes through a pipe. */
static void send_all(pid_t to, int report)
{
	int sent = 0;

	while (!access("go", F_OK)) {
		union sigval value = {.sival_int = sent % 7};

		/* a full queue is no reason to lose one */
		if (!sigqueue(to, SIGRTMIN, value))
			sent++;
		if (sent % 16 == 0)
			usleep(50);
	}
	_exit(write(report, &sent, sizeof(sent)) != sizeof(sent));
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	int report[2], sent = -1, expected = 0;
	pid_t child, self = getpid();

	sigaction(SIGRTMIN, &action, NULL);
	if (pipe(report))
		return 1;
	child = fork();
	if (!child)
		send_all(self, report[1]);
	if (read(report[0], &sent, sizeof(sent)) != sizeof(sent))
		return 1;
	while (waitpid(child, NULL, 0) < 0)
		;
	for (int i = 0; i < sent; i++)
		expected += i % 7;
	printf("sent %d, received %d, values %s\n", sent, (int)received,
	       sum == expected ? "whole" : "lost");
	return sent != received || sum != expected;
}
