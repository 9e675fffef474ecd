/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/cgroup_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID "4f9a1c7be2d83605f7a1b9c0d2e4f60718293a4b5c6d7e8f90a1b2c3d4e5f607"
#define OTHER_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2f9a7c15-3c1d-4a0e-9d52-7f1f8b6f0c11"
#define UID_IN_SLICE "2f9a7c15_3c1d_4a0e_9d52_7f1f8b6f0c11"
#define USER "/user.slice/user-1000.slice/user@1000.service"

/* NULL: nothing */
struct expected {
	const char *path, *container, *pod, *unit;
};

static void assert_text(const char *path, bool found, const char *text, const char *expected)
{
	if (found != (expected != NULL) || (found && strcmp(text, expected)))
		fail_msg("%s: %s, not %s", path, found ? text : "none", expected);
}

static void assert_said(const struct expected *all, size_t count)
{
	for (const struct expected *e = all; e < all + count; e++) {
		char container[CGROUP_CONTAINER_SIZE], pod[CGROUP_POD_SIZE], unit[CGROUP_UNIT_SIZE];

		assert_text(e->path, cgroup_container(e->path, container), container, e->container);
		assert_text(e->path, cgroup_pod(e->path, pod), pod, e->pod);
		assert_text(e->path, cgroup_unit(e->path, unit), unit, e->unit);
	}
}

#define SAID(all) assert_said(all, sizeof(all) / sizeof(*(all)))

static void units_of_systemd_are_known(void **state)
{
	static const struct expected all[] = {
		{"/system.slice/ssh.service", NULL, NULL, "ssh.service"},
		{"/system.slice/system-postgresql.slice/postgresql@15-main.service", NULL, NULL,
		 "postgresql@15-main.service"},
		{"/system.slice/dev-disk\\x2d1.service/worker", NULL, NULL,
		 "dev-disk\\x2d1.service"},
		{"/init.scope", NULL, NULL, "init.scope"},
		{"/user.slice/user-1000.slice/session-3.scope", NULL, NULL, "session-3.scope"},
		{USER "/init.scope", NULL, NULL, "init.scope"},
		{USER "/app.slice/app-firefox-4711.scope", NULL, NULL, "app-firefox-4711.scope"},
		{USER "/session.slice/pipewire.service", NULL, NULL, "pipewire.service"},
		{"/machine.slice/machine-web.scope/payload/system.slice/nginx.service", NULL, NULL,
		 "nginx.service"},
		{"/machine.slice/machine-web.scope/payload", NULL, NULL, "machine-web.scope"},
	};

	SAID(all);
}

static void containers_of_docker_are_known(void **state)
{
	static const struct expected all[] = {
		{"/docker/" ID, ID, NULL, NULL},
		{"/system.slice/docker-" ID ".scope", ID, NULL, NULL},
		{USER "/app.slice/docker-" ID ".scope", ID, NULL, NULL},
		{"/docker/" ID "/system.slice/nginx.service", ID, NULL, "nginx.service"},
		{"/../../system.slice/docker-" ID ".scope", ID, NULL, NULL},
		{"/ecs/8b1f6e2a9c3d4f50a1b2c3d4e5f60718/" ID, ID, NULL, NULL},
	};

	SAID(all);
}

static void containers_of_podman_are_known(void **state)
{
	static const struct expected all[] = {
		{"/machine.slice/libpod-" ID ".scope", ID, NULL, NULL},
		{"/machine.slice/libpod-" ID ".scope/container", ID, NULL, NULL},
		{USER "/user.slice/libpod-" ID ".scope/container", ID, NULL, NULL},
		{USER "/user.slice/user-libpod_pod_" OTHER_ID ".slice/libpod-" ID ".scope", ID,
		 NULL, NULL},
		{"/libpod_parent/libpod-" ID, ID, NULL, NULL},
		/* what watches over it is none of it */
		{"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, NULL},
		{"/libpod_parent/conmon-" ID, NULL, NULL, NULL},
	};

	SAID(all);
}

static void pods_of_kubernetes_are_known(void **state)
{
	static const struct expected all[] = {
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_IN_SLICE
		 ".slice",
		 NULL, UID, NULL},
		{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_IN_SLICE
		 ".slice/cri-containerd-" ID ".scope",
		 ID, UID, NULL},
		{"/kubepods.slice/kubepods-pod" UID_IN_SLICE ".slice/crio-" ID ".scope", ID, UID,
		 NULL},
		{"/kubepods.slice/kubepods-pod" UID_IN_SLICE ".slice/crio-" ID ".scope/container",
		 ID, UID, NULL},
		{"/kubepods.slice/kubepods-pod" UID_IN_SLICE ".slice/crio-conmon-" ID ".scope",
		 NULL, UID, NULL},
		{"/kubepods.slice/kubepods-pod" UID_IN_SLICE ".slice/docker-" ID ".scope", ID, UID,
		 NULL},
		{"/kubepods/burstable/pod" UID "/" ID, ID, UID, NULL},
		{"/kubepods/pod" UID "/" ID, ID, UID, NULL},
		{"/kubepods/besteffort/pod" UID "/crio-" ID, ID, UID, NULL},
		{"/system.slice/containerd.service/kubepods-burstable-pod" UID_IN_SLICE
		 ".slice:cri-containerd:" ID,
		 ID, UID, NULL},
		/* as of static pods, whose UID is another one */
		{"/kubepods/burstable/pod5f5a3a4b2c1d0e9f8a7b6c5d4e3f2a1b/" ID, ID, NULL, NULL},
	};

	SAID(all);
}

static void the_innermost_one_counts(void **state)
{
	static const struct expected all[] = {
		{"/docker/" OTHER_ID "/docker/" ID, ID, NULL, NULL},
		{"/docker/" OTHER_ID
		 "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_IN_SLICE
		 ".slice/cri-containerd-" ID ".scope",
		 ID, UID, NULL},
		{"/docker/" OTHER_ID "/system.slice/containerd.service/" ID, ID, NULL, NULL},
		{"/system.slice/a.service/b.service/c", NULL, NULL, "b.service"},
	};

	SAID(all);
}

static void others_say_nothing(void **state)
{
	static const struct expected all[] = {
		{"/", NULL, NULL, NULL},
		{"", NULL, NULL, NULL},
		{"/lxc/web", NULL, NULL, NULL},
		{"/lxc.payload.web", NULL, NULL, NULL},
		{"/lxc.payload.web/system.slice/cron.service", NULL, NULL, "cron.service"},
		{"/user.slice", NULL, NULL, NULL},
		{"/.service", NULL, NULL, NULL},
		{"/a.service.d", NULL, NULL, NULL},
		{"/docker/" ID "0", NULL, NULL, NULL},
		{"/docker/g" ID, NULL, NULL, NULL},
		{"/docker/" ID "g", NULL, NULL, NULL},
		{"/kubepods/pod" UID "0/x", NULL, NULL, NULL},
		{"/kubepods/pod2f9a7c15-3c1d", NULL, NULL, NULL},
		{"/tripod" UID, NULL, NULL, NULL},
	};

	SAID(all);
}

static void names_of_any_length_are_read(void **state)
{
	const size_t length = 100000;
	char *path = malloc(length + 1), unit[CGROUP_UNIT_SIZE], id[CGROUP_CONTAINER_SIZE];

	memset(path, 'a', length);
	path[0] = '/';
	strcpy(path + length - strlen(".service"), ".service");
	assert_false(cgroup_unit(path, unit));
	assert_false(cgroup_container(path, id));
	path[length - CGROUP_UNIT_SIZE] = '/';
	assert_true(cgroup_unit(path, unit));
	assert_int_equal(strlen(unit), CGROUP_UNIT_SIZE - 1);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_of_systemd_are_known),
		cmocka_unit_test(containers_of_docker_are_known),
		cmocka_unit_test(containers_of_podman_are_known),
		cmocka_unit_test(pods_of_kubernetes_are_known),
		cmocka_unit_test(the_innermost_one_counts),
		cmocka_unit_test(others_say_nothing),
		cmocka_unit_test(names_of_any_length_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
