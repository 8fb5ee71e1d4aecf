#!/bin/sh
# Run by mmdebstrap when the packages are in: finish-tree.sh TREE WORK. Puts in what the recipe
# names, takes out what chance or this machine has left, and notes the versions.
set -eu
tree=$1 work=$2
cp -a "$work/files/." "$tree/"
while read -r path; do rm -rf "${tree:?}$path"; done <"$work/removed"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$tree/etc/hosts"
echo steelyard >"$tree/etc/hostname"
: >"$tree/etc/resolv.conf"
: >"$tree/etc/fstab"
: >"$tree/etc/machine-id"
rm -f "$tree"/var/cache/debconf/*-old "$tree"/var/lib/dpkg/*-old "$tree/var/lib/systemd/random-seed"
rm -f "$tree"/var/cache/ldconfig/aux-cache "$tree"/var/log/*.log "$tree"/var/log/apt/*
while read -r unit; do
  mkdir -p "$tree/etc/systemd/system"
  ln -sf /dev/null "$tree/etc/systemd/system/$unit"
done <"$work/masked"
dpkg-query --admindir="$tree/var/lib/dpkg" -W -f='${Package} ${Version}\n' >"$work/packages"
[ -s "$work/kernel-package" ] || exit 0

# The kernel is fetched and not installed: its scripts would build an initrd nobody wants.
package=$(cat "$work/kernel-package")
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
version=$(apt-cache depends "$package" | sed -n 's/^ *Depends: \(linux-image-.*\)$/\1/p' | head -n 1)
mkdir "$work/kernel-debs"
cd "$work/kernel-debs"
apt-get -q -y download "${version:-$package}"
