/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * descriptor_message.h - packets between processes of ours, which may come with a descriptor.
 *
 * No malloc() and no streams: also after fork() of one of several threads.
 */
#ifndef BOBBIN_BASE_DESCRIPTOR_MESSAGE_H
#define BOBBIN_BASE_DESCRIPTOR_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/* One packet; @fd: a descriptor to go with it, or -1.  0 or -errno; -EPIPE: nobody is there. */
int message_send(int socket, const void *bytes, size_t size, int fd);

/*
 * The next packet: its size, 0 at the end, -errno; -EAGAIN after a signal or the socket's timeout.
 * @flags: MSG_DONTWAIT or 0; @fd: of the descriptor that came with it, else -1.
 */
ssize_t message_receive(int socket, void *bytes, size_t size, int flags, int *fd);

#endif
