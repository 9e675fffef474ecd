# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# private-apt.sh - Debian packages beside the system, for the fetch-* tools.
#
# Sourced.  The packages come from the archive that apt is configured with;
# apt's own state is not touched.  Expects $name, the tool's name.

log=fetch.log

die() {
	echo "$name: $*" >&2
	[ ! -s $log ] || tail -n 3 $log >&2
	exit 1
}

# The archive that serves Debian proper, e.g. not its security updates.
find_archive() {
	command -v apt-get >/dev/null || die "needs apt-get: run it on Debian"
	archive=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' \
		'Created-By: Packages' | sed -n 's|/*$||; \|/debian$|{p;q;}')
	[ -n "$archive" ] || die "apt is not configured with a Debian archive"
}

# The suite that this system is of.
own_suite() {
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# configure_apt SUITE ARCHITECTURE: an apt configuration with a state of its own in ./apt
configure_apt() {
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	options=
	[ ! -e $keyring ] || options="[signed-by=$keyring]"

	mkdir -p apt/lists/partial apt/cache/archives/partial
	echo "deb $options $archive $1 main" >apt/sources.list
	cat >apt/apt.conf <<-END
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		Dir::Etc::sourcelist "$PWD/apt/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Etc::preferences "-";
		Dir::Etc::preferencesparts "-";
		Dir::State::lists "$PWD/apt/lists";
		Dir::State::status "/dev/null";
		Dir::State::extended_states "$PWD/apt/extended_states";
		Dir::Cache "$PWD/apt/cache";
		Dir::Log "$PWD/apt";
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
		#clear DPkg::Post-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
}

# update_lists SUITE ARCHITECTURE: of the apt in ./apt, which is new
update_lists() {
	configure_apt "$1" "$2"
	apt-get -c apt/apt.conf -q update >$log 2>&1 ||
		die "the archive does not serve suite $1:"
}

# unpack_archives ROOT: what was downloaded, below ROOT; ./apt has served
unpack_archives() {
	for package in apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$1"
	done
	rm -r apt
}

# unpack_packages SUITES ARCHITECTURE ROOT PACKAGE...: with all that they depend on, below ROOT,
# from the first of the suites that has them all
unpack_packages() {
	suites=$1 architecture=$2 root=$3
	shift 3
	for suite in $suites; do
		rm -rf apt
		update_lists "$suite" "$architecture"
		! apt-get -c apt/apt.conf -qy install --download-only "$@" >>$log 2>&1 || {
			unpack_archives "$root"
			return
		}
	done
	die "suite $suite lacks one of: $*:"
}

# unpack_listed ROOT PACKAGE...: of the lists in ./apt, without what they depend on
unpack_listed() {
	root=$1
	shift
	(
		conf=$PWD/apt/apt.conf log=$PWD/$log
		cd apt/cache/archives
		apt-get -c "$conf" -q download "$@" >>"$log" 2>&1
	) || die "the suite lacks one of: $*:"
	unpack_archives "$root"
}

# unpack_alone SUITE ARCHITECTURE ROOT PACKAGE...: without what they depend on
unpack_alone() {
	update_lists "$1" "$2"
	shift 2
	unpack_listed "$@"
}

# download_source SUITE PACKAGE: the archives of its source, into ./apt
download_source() {
	configure_apt "$1" "$(dpkg --print-architecture)"
	sed -i 's/^deb /deb-src /' apt/sources.list
	apt-get -c apt/apt.conf -q update >$log 2>&1 || die "the archive does not serve suite $1:"
	(
		conf=$PWD/apt/apt.conf log=$PWD/$log
		cd apt
		apt-get -c "$conf" -q source --download-only "$2" >>"$log" 2>&1
	) || die "suite $1 has no source of $2:"
}
