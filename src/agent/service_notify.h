/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_notify.h - tell a service manager how a service is, see sd_notify(3).
 */
#ifndef BOBBIN_AGENT_SERVICE_NOTIFY_H
#define BOBBIN_AGENT_SERVICE_NOTIFY_H

/*
 * Send lines such as "READY=1" to the socket of $NOTIFY_SOCKET.  0, also where there is none;
 * or a negative errno of socket(2) or sendto(2).
 */
int service_notify(const char *state);

#endif
