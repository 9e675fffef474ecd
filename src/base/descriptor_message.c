/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/descriptor_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int message_send(int socket, const void *bytes, size_t size, int fd)
{
	struct iovec io = {(void *)bytes, size};
	struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1};
	union control control = {{0}};
	struct cmsghdr *head;
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	do {
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return 0;
}

ssize_t message_receive(int socket, void *bytes, size_t size, int flags, int *fd)
{
	struct iovec io = {bytes, size};
	union control control;
	struct msghdr message = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
	struct cmsghdr *head = n < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*fd = -1;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return n < 0 ? (errno == EINTR ? -EAGAIN : -errno) : n;
}
