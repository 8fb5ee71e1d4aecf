#!/bin/sh
# guest-disk.sh WORK EPOCH UUID BYTES: from the tree to a disk with one ext4 filesystem. Nothing in
# it depends on when or how often it was built: mke2fs takes the change times of the files from
# this machine, so they are set again, inode by inode.
set -eu
work=$1 epoch=$2 uuid=$3 bytes=$4
cd "$work"
export E2FSPROGS_FAKE_TIME="$epoch"
truncate -s "$bytes" root.raw
mke2fs -q -F -t ext4 -m 0 -L steelyard-root -U "$uuid" \
  -E "hash_seed=$uuid,lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0" -d tree root.raw
last=$(dumpe2fs -h root.raw 2>/dev/null |
  awk '/^Inode count/ {all = $3} /^Free inodes/ {free = $3} END {print all - free}')
awk -v last="$last" -v at="@$epoch" 'BEGIN {
  for (inode = 2; inode <= last; inode++) {
    if (inode > 2 && inode < 11) continue
    print "sif <" inode "> ctime " at
    print "sif <" inode "> atime " at
  }
}' >times
debugfs -w -f times root.raw >/dev/null 2>&1
e2fsck -fn root.raw >/dev/null
qemu-img convert -f raw -O qcow2 root.raw root.qcow2
