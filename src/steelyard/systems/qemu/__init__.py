"""Virtual machines run by QEMU: the words, the QMP conversation, snapshots, disks, the place."""
