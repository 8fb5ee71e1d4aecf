#!/bin/sh
# guest-files.sh WORK EPOCH: from root.tar and the kernel's package to the tree of a guest's disk,
# its kernel and its initrd.
set -eu
work=$1 epoch=$2
cd "$work"
mkdir tree kernel-tree initrd-tree
tar -C tree -xf root.tar --numeric-owner
dpkg-deb -x kernel-debs/*.deb kernel-tree
[ -d kernel-tree/lib ] || ln -s usr/lib kernel-tree/lib
release=$(ls kernel-tree/lib/modules)
# Later suites pack each module: unpacked here, so that no emulated processor has to.
find kernel-tree/lib/modules/"$release"/ -name '*.ko.xz' -exec xz -d {} +
echo "$release" >kernel-release
depmod -b kernel-tree "$release"

# into TREE MODULE...: copies the modules with all that they need.
into() {
  target=$1/lib/modules/$release
  shift
  mkdir -p "$target"
  for module; do
    found=$(modprobe -d kernel-tree -S "$release" --show-depends "$module" 2>&1) || {
      echo "the kernel $release has no module $module" >&2
      exit 9
    }
    echo "$found" | sed -n 's/^insmod \([^ ]*\).*/\1/p' | while read -r file; do
      inside=${file#*/lib/modules/"$release"/}
      mkdir -p "$target/$(dirname "$inside")"
      cp "$file" "$target/$inside"
    done
  done
  cp "kernel-tree/lib/modules/$release/modules.builtin" "kernel-tree/lib/modules/$release/modules.order" \
    "kernel-tree/lib/modules/$release/modules.builtin.modinfo" "$target/"
}
# shellcheck disable=SC2046 # one word for each module
into tree $(cat modules boot-modules)
depmod -b tree "$release"
: >boot-modules-there
while read -r module; do
  if modprobe -d kernel-tree -S "$release" --show-depends "$module" >/dev/null 2>&1; then
    echo "$module" >>boot-modules-there
  fi
done <optional-modules
# shellcheck disable=SC2046
into tree $(cat boot-modules-there)
depmod -b tree "$release"
# shellcheck disable=SC2046
into initrd-tree $(cat boot-modules boot-modules-there)
depmod -b initrd-tree "$release"

mkdir -p initrd-tree/bin
cp tree/bin/busybox initrd-tree/bin/busybox
cp scripts/guest-start.sh initrd-tree/init
chmod 755 initrd-tree/init

# A kernel packed by xz takes an emulated processor seconds to unpack: unpack it here.
image=kernel-tree/boot/vmlinuz-$release
offset=$(LC_ALL=C grep -abom1 "$(printf '\3757zXZ')" "$image" | head -n 1 | cut -d: -f1 || true)
if [ -n "$offset" ]; then
  tail -c "+$((offset + 1))" "$image" | xz -dc --single-stream >kernel 2>/dev/null || true
fi
if [ ! -s kernel ] || ! head -c 4 kernel | grep -q ELF; then cp "$image" kernel; fi

find tree initrd-tree -newermt "@$epoch" -print0 | xargs -0r touch -h -d "@$epoch"
(cd initrd-tree && find . -print0 | LC_ALL=C sort -z | cpio -o -0 -H newc --reproducible --quiet) >initrd
