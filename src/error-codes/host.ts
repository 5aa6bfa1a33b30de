import type { ErrorCodeEntries } from './entry.ts'

export const hostCodes: ErrorCodeEntries = {
  HOST_NO_FACTS: {
    summary: 'A host is unreachable, so its facts are unknown.',
    meaning:
      'As a warning, hyperkube skips the host until it is reachable. It is an error if no majority remains, or if the address of the host is unknown.',
    remedy: 'Run the ssh command from the hint and fix what it reports. Then run the same command again.',
  },
  HOST_OTHER_OS: {
    summary: 'A host runs another operating system than cluster.yml says.',
    remedy: 'Fix `os` of the host. If it is correct, check that `address` belongs to the right machine.',
  },
  HOST_NO_INTERFACE: {
    summary: 'The host does not have the interface from cluster.yml.',
    meaning: 'Interface names change with hardware, drivers and releases of the operating system.',
    remedy:
      'Use an interface from the message. `ip -br address` on the host, or `Get-NetIPAddress` on Windows, shows them with their addresses.',
  },
  HOST_NO_ADDRESS: {
    summary: 'The address at which the other hosts reach this host is unknown.',
    meaning:
      'The host has no default route, its interface has no IPv4 address, or the address is a loopback address. For an unreachable control plane cluster.yml must set it.',
    remedy:
      'Set `internalAddress` of the host. `ip -br address` on the host, or `Get-NetIPAddress` on Windows, shows its addresses.',
    symptoms: ['no-way'],
  },
  HOST_NO_IPV6_ADDRESS: {
    summary: 'The IPv6 address of a node is unknown, but the cluster is dual-stack.',
    meaning:
      'The interface with the IPv4 address has no IPv6 address, or several. Of several, hyperkube does not choose one, because it could be temporary.',
    remedy:
      'Give the interface an IPv6 address, or set `internalAddressIPv6` of the host. `ip -6 -br address` on the host shows its addresses.',
  },
  HOST_NO_IPV6_ROUTE: {
    summary: 'A node of a dual-stack cluster has no IPv6 default route.',
    meaning:
      'Pods reach IPv6 addresses of services. Programs of the host itself do not, because the kernel finds no route before kube-proxy can replace the address. This is a warning with IPv4 first. With IPv6 first it is an error, because the service of the API has only an IPv6 address.',
    remedy: 'Set an IPv6 default route on the host, in the configuration of its network.',
  },
  HOST_ADDRESS_NOT_THERE: {
    summary: 'No interface of the host has its internal address.',
    meaning:
      'etcd and the API server listen on it and would not start. The usual cause is the public address of a cloud machine, which the machine itself does not have. In a dual-stack cluster both addresses must be on one interface.',
    remedy:
      'Set `internalAddress` to an address from `ip -br address` on the host, or `Get-NetIPAddress` on Windows. `address` may stay unchanged.',
  },
  HOST_ADDRESS_DUPLICATE: {
    summary: 'Two hosts have the same internal address.',
    meaning:
      'Where cluster.yml sets neither an IP address nor `internalAddress`, a host reports its own address. A wrong report would give one host a certificate for the address of another.',
    remedy:
      'Compare `ip -br address` on both hosts. Set `internalAddress` of each host. If a host reports an address that it does not have, treat the host as compromised.',
  },
  HOST_ADDRESS_CHANGED: {
    summary: 'A host reports another internal address than in its last plan.',
    meaning:
      'Where cluster.yml sets neither an IP address nor `internalAddress`, a host reports its own address. `up` would issue certificates for the new address, so a compromised host could get the name of another server.',
    remedy:
      'Check `ip -br address` on the host. If the new address is right, set it as `internalAddress`. If the host does not have it, treat the host as compromised.',
  },
  HOST_NETWORK_OVERLAP: {
    summary: 'A network of the host overlaps the network of pods or services.',
    meaning:
      'Packets would be routed to the wrong network. It is a warning for a Docker bridge, because only Docker containers are affected.',
    remedy:
      'Choose another `spec.network.pods` or `spec.network.services`. For a Docker bridge change `bip` in `/etc/docker/daemon.json`.',
  },
  HOST_POOL_TAKEN: {
    summary: 'A host has an address of the pool of load balancers.',
    meaning: 'Two machines would respond at the address once a Service gets it.',
    remedy: 'Remove the address from `spec.loadBalancer.addresses`, or give the host another one.',
  },
  HOST_POOL_OUTSIDE: {
    summary: 'The pool of load balancers is not in a network of the host. This is a warning.',
    meaning:
      'In layer 2 a node responds to ARP requests for the address of a Service. Machines send these only for addresses of their own network.',
    remedy:
      'Use free addresses of the network of the hosts, let your router send the addresses to that network, or set `spec.loadBalancer.bgp`.',
  },
  HOST_MTU: {
    summary: 'The MTU in cluster.yml is larger than that of the host interface. This is a warning.',
    meaning:
      'Small packets arrive and large ones are dropped: DNS works, and downloads hang. In a dual-stack cluster an interface with a too small MTU is an error, because IPv6 needs 1280 bytes.',
    remedy:
      'Remove `spec.network.flannel.mtu`, so that each host uses the MTU of its interface. Or set it to the value from the hint.',
  },
  HOST_CLONED: {
    summary: 'Two hosts have the same machine id: one is a clone of the other.',
    meaning: 'DHCP leases, logs and other tools would confuse the machines.',
    remedy: 'Run the command from the hint on the clone; it reboots. Then run the same command again.',
    symptoms: ['refused'],
  },
  HOST_NAME_DUPLICATE: {
    summary: 'Two hosts have the same hostname. This is a warning.',
    meaning:
      'The cluster uses the names from cluster.yml, but logs and other tools cannot tell the two hosts apart.',
    remedy: 'Run the command from the hint on one of them.',
    symptoms: ['refused'],
  },
  HOST_MEMORY_SMALL: {
    summary: 'The host has too little memory for its roles.',
    meaning:
      'Below the need of the system and the components it is an error: the kernel would kill one of them. Below twice that, it is a warning.',
    remedy: 'Add memory or remove roles. The hint says how much memory is needed.',
  },
  HOST_CPU_SMALL: {
    summary: 'A control plane has a single CPU. This is a warning.',
    meaning: 'etcd waits whenever another process uses the CPU, and a long wait causes an election.',
    remedy: 'Give it 2 CPUs.',
  },
  HOST_DISK_SMALL: {
    summary: 'A disk of the host is almost full. This is a warning.',
    meaning: 'On a full disk etcd stops accepting writes, and the kubelet deletes images and evicts pods.',
    remedy:
      'Run `df -h PATH` on the host. Free space, or move the directory from the message to its own disk.',
  },
  HOST_PORT_TAKEN: {
    summary: 'Another process listens on a port that a component needs.',
    meaning:
      'The component would not start. It is a warning if the process is unknown, because it may be the component itself.',
    remedy:
      'The command from the hint shows the process. Stop it. For the API server you can set `spec.api.port` instead.',
    symptoms: ['refused'],
  },
}

export const networkPreflightCodes: ErrorCodeEntries = {
  PEER_PORT_BLOCKED: {
    summary: 'A host cannot reach a required port of another host.',
    meaning:
      'Before any change, new hosts listen on their ports and the other hosts connect. A timeout means that a firewall or a cloud security group drops the packets.',
    remedy:
      'Run the command from the hint on the host that it names. If the port is already open there, check the network between the hosts with `nc -zv ADDRESS PORT`.',
    symptoms: ['refused'],
  },
  PEER_ADDRESS_CONFLICT: {
    summary: 'Another machine responds at the address of a host.',
    meaning: 'Two machines have the same address, or a proxy or load balancer responds in place of the host.',
    remedy:
      '`ip neigh show ADDRESS` on both hosts shows the hardware address, and `ip link` on the host its own. Give each machine its own address, or change `internalAddress`.',
  },
  VIRTUAL_IP_IN_USE: {
    summary: 'Another machine responds at the virtual IP of the API.',
    meaning:
      'Both machines would answer for the address, and clients would reach one of them by chance. hyperkube checks this once, when the address is new.',
    remedy:
      '`ip neigh show ADDRESS` on a control plane shows the hardware address of the other machine. Free the address, or set another `spec.api.virtualIP`.',
  },
  PEER_UDP_BLOCKED: {
    summary: 'UDP packets of the pod network do not arrive between two nodes.',
    meaning:
      'Nodes would be Ready, but pods on different hosts could not connect: DNS would fail and requests would hang.',
    remedy:
      'Open the UDP port as the hint says; security groups need a separate UDP rule. On one layer 2 network `spec.network.flannel.backend: host-gw` needs no UDP.',
  },
  PEER_UDP_SMALLER: {
    summary: 'Large UDP packets between two nodes are dropped. This is a warning.',
    meaning:
      'A link between the hosts has a smaller MTU than their interfaces, for example a VPN. Pod connections would hang at the first large packet.',
    remedy:
      'Set `spec.network.flannel.mtu` from the hint, or give all links the same MTU. `ping -M do -s SIZE ADDRESS` with 28 bytes less than a packet finds the size. Linux caches a path MTU for ten minutes, which can hide the problem.',
  },
  CLOCK_SKEW: {
    summary: 'The clocks of hosts differ: above 2 s it is a warning, above 30 s an error.',
    meaning:
      'Synchronized clocks differ by milliseconds, so this clock is not synchronized. Leases expire at the wrong time, and new tokens and certificates are not valid yet.',
    remedy:
      'Run `timedatectl set-ntp true` on that machine, or install chrony. `timedatectl` must then report a synchronized clock. On Windows run `w32tm /resync`.',
  },
}
