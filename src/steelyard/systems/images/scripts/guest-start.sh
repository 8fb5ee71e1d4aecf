#!/bin/busybox sh
# First program of a guest. The kernel's command line says what to load, which address to take and
# what to start. The engine comes in a part of the initrd of its own and is kept in memory.
export PATH=/bin
/bin/busybox --install -s /bin

failed() {
  echo "steelyard: $1" >/dev/console
  poweroff -f
}

mkdir -p /proc /sys /dev /run /root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
for word in $(cat /proc/cmdline); do
  case $word in
    steelyard.modules=*) modules=${word#*=} ;;
    steelyard.address=*) address=${word#*=} ;;
    steelyard.gateway=*) gateway=${word#*=} ;;
    steelyard.start=*) start=${word#*=} ;;
    steelyard.name=*) hostname "${word#*=}" ;;
  esac
done
for module in $(echo "$modules" | tr , ' '); do
  modprobe "$module" 2>/dev/null
done

tries=0
until device=$(findfs LABEL=steelyard-root 2>/dev/null); do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || failed 'no disk with the filesystem steelyard-root was found'
  usleep 50000
done
mount -t ext4 "$device" /root || failed "the disk $device cannot be mounted"

ip link set lo up
if [ -n "$address" ]; then
  ip address add "$address" dev eth0 || failed 'there is no network card eth0'
  ip link set eth0 up
  [ -z "$gateway" ] || ip route add default via "$gateway"
fi

mkdir -p /run/steelyard
cp /steelyard/steelyard-engine /run/steelyard/engine || failed 'the initrd holds no engine'
port=
for entry in /sys/class/virtio-ports/*; do
  [ "$(cat "$entry/name")" != steelyard.agent ] || port=/dev/${entry##*/}
done
[ -n "$port" ] || failed 'there is no serial port for the agent'
ln -s "$port" /run/steelyard/port

# The port stays open between agents: what the controller says while none is there waits for the
# next one. An agent ends with its conversation.
cp /bin/busybox /run/steelyard/busybox
cat >/run/steelyard/serve <<'SERVE'
#!/run/steelyard/busybox sh
exec 3<>/run/steelyard/port
while :; do
  /run/steelyard/engine agent <&3 >&3
  /run/steelyard/busybox usleep 20000
done
SERVE
cat >/run/steelyard/init <<'INIT'
#!/run/steelyard/busybox sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
ulimit -n 1048576
exec /run/steelyard/serve
INIT
chmod 755 /run/steelyard/serve /run/steelyard/init

case $start in
  systemd)
    units=/run/systemd/system
    mkdir -p $units
    cat >$units/steelyard.target <<'UNIT'
[Unit]
Description=The system is up and the agent is reached
Requires=multi-user.target
After=multi-user.target
Wants=steelyard-agent.service
AllowIsolate=yes
UNIT
    cat >$units/steelyard-agent.service <<'UNIT'
[Unit]
Description=Agent of steelyard
After=multi-user.target
[Service]
ExecStart=/run/steelyard/serve
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
Restart=always
RestartSec=0
LimitNOFILE=1048576
UNIT
    set -- /sbin/init
    ;;
  *)
    set -- /run/steelyard/init
    ;;
esac
[ -L "/root$1" ] || [ -x "/root$1" ] || [ -x "$1" ] || failed "the disk has no $1"
for folder in dev proc sys run; do
  mount --move /$folder /root/$folder
done
exec switch_root /root "$@"
