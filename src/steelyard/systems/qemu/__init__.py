"""Virtual machines run by QEMU: arguments, QMP, snapshots, disks, the platform."""
