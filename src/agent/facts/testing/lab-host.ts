import type { FakeHostContent } from './fake-fact-source.ts'

/** MAC address of the lab host, a Debian 12 container on a kernel without modules. */
const mac = '02:00:0a:d2:00:0b'

function buildInterface(address: string, netmask: string, prefix: number, macAddress: string) {
  const rest = {
    address,
    netmask,
    mac: macAddress,
    internal: macAddress !== mac,
    cidr: `${address}/${prefix}`,
  }
  return address.includes(':')
    ? { ...rest, family: 'IPv6' as const, scopeid: 0 }
    : { ...rest, family: 'IPv4' as const }
}

const noMac = '00:00:00:00:00:00'
const disk = { totalBytes: 270_553_174_016, availableBytes: 46_838_702_080 }

export const labHost: FakeHostContent = {
  interfaces: {
    lo: [buildInterface('127.0.0.1', '255.0.0.0', 8, noMac), buildInterface('::1', 'ffff::', 128, noMac)],
    eth0: [
      buildInterface('10.210.0.11', '255.255.255.0', 24, mac),
      buildInterface('fe80::aff:fed2:b', 'ffff:ffff:ffff:ffff::', 64, mac),
    ],
  },
  spaces: { '/': disk, '/var/lib': disk, '/var/lib/etcd': disk, '/var/lib/kubelet': disk },
  commands: {
    'ip -o link': `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\\    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0@if896: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000\\    link/ether 02:00:0a:d2:00:0b brd ff:ff:ff:ff:ff:ff link-netnsid 0
`,
    'unshare --net nft add table ip test; add chain ip test target; add chain ip test nat { type nat hook postrouting priority 100 ; }; add rule ip test nat fib daddr type local masquerade; add rule ip test nat numgen random mod 1 vmap { 0 : goto target }':
      '',
  },
  links: {
    '/proc/1/fd/41': 'socket:[2249331]',
    '/proc/1/exe': '/usr/lib/systemd/systemd',
    '/proc/95/fd/0': '/dev/null',
    '/proc/95/fd/3': 'socket:[2249331]',
    '/proc/95/fd/4': 'socket:[2249342]',
    '/proc/95/exe': '/usr/sbin/sshd',
  },
  files: {
    '/proc/sys/kernel/hostname': 'h1\n',
    '/proc/sys/kernel/osrelease': '6.18.44\n',
    '/proc/sys/kernel/cap_last_cap': '40\n',
    '/etc/machine-id': '983ebda6dd16263972e38480f7b99b07\n',
    '/sys/devices/system/cpu/online': '0-1\n',
    '/proc/meminfo': `MemTotal:       24682416 kB
MemFree:        17089540 kB
MemAvailable:   23270172 kB
`,
    // In the container, /sys shows the eth0 of the machine that runs the container, not the container's own
    // eth0.
    '/sys/class/net/eth0/address': '06:fc:00:00:00:01\n',
    '/sys/class/net/eth0/mtu': '1400\n',
    '/proc/net/route': `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	0100D20A	0003	0	0	0	00000000	0	0	0
eth0	0000D20A	00000000	0001	0	0	0	00FFFFFF	0	0	0
`,
    '/proc/net/tcp': `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2249331 1 00000000d21c1217 100 0 0 10 0
   1: 0B00D20A:0016 0100D20A:AFEC 01 000001A4:00000000 01:00000014 00000000     0        0 2249829 4 000000009bcc1fd2 20 4 29 62 -1
`,
    '/proc/net/tcp6': `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2249342 1 000000006b912f96 100 0 0 10 0
`,
    '/proc/net/ip_tables_names': '',
    '/etc/os-release': `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
`,
    '/run/systemd/container': 'systemd-nspawn\n',
    '/run/systemd/system/x': '',
    '/proc/1/comm': 'systemd\n',
    '/proc/1/maps':
      '7f1000000000-7f1000050000 r--p 00000000 00:30 1234  /usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-252.so\n',
    '/proc/1/environ': 'PATH=/usr/sbin:/usr/bin\0container=systemd-nspawn\0HOME=/root\0',
    '/proc/1/status': 'CapInh:\t000001fffeffffff\nCapBnd:\t000001fffeffffff\nCapAmb:\t0000000000000000\n',
    '/proc/filesystems': 'nodev\tsysfs\nnodev\ttmpfs\n\text4\nnodev\toverlay\n\txfs\n',
    '/sys/module/bridge/version': '2.3\n',
    '/sys/module/vxlan/version': '0.1\n',
    '/proc/sys/net/bridge/bridge-nf-call-iptables': '1\n',
    '/proc/cgroups': `#subsys_name	hierarchy	num_cgroups	enabled
cpuset	3	6	1
cpu	1	6	1
cpuacct	2	6	1
blkio	7	6	1
memory	4	29	1
devices	5	3	1
freezer	6	6	1
net_cls	0	7	1
perf_event	0	7	1
hugetlb	0	7	1
pids	8	6	1
`,
    '/proc/self/mountinfo': `670 738 0:74 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:288 - tmpfs tmpfs ro,size=4096k,nr_inodes=1024,mode=755
679 670 0:37 / /sys/fs/cgroup/systemd rw,nosuid,nodev,noexec,relatime shared:297 - cgroup cgroup rw,name=systemd
673 670 0:35 / /sys/fs/cgroup/blkio rw,relatime shared:291 - cgroup cgroup rw,blkio
671 670 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:289 - cgroup cgroup rw,cpu
854 670 0:30 / /sys/fs/cgroup/cpuacct rw,relatime shared:305 - cgroup cgroup rw,cpuacct
677 670 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:306 - cgroup cgroup rw,cpuset
672 670 0:33 / /sys/fs/cgroup/devices rw,relatime shared:290 - cgroup cgroup rw,devices
675 670 0:34 / /sys/fs/cgroup/freezer rw,relatime shared:293 - cgroup cgroup rw,freezer
676 670 0:32 / /sys/fs/cgroup/memory rw,relatime shared:294 - cgroup cgroup rw,memory
674 670 0:36 / /sys/fs/cgroup/pids rw,relatime shared:292 - cgroup cgroup rw,pids
`,
    '/proc/swaps': 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n',
    '/etc/resolv.conf': '',
    ...Object.fromEntries(
      [
        '/usr/bin/mount',
        '/usr/bin/socat',
        '/usr/bin/umount',
        '/usr/sbin/conntrack',
        '/usr/sbin/ethtool',
        '/usr/sbin/ipset',
        '/usr/sbin/iptables',
        '/usr/sbin/modprobe',
        '/usr/sbin/nft',
      ].map((path) => [path, '']),
    ),
  },
}
