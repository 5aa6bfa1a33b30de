import type { Entries } from './entry.ts'

export const peers: Entries = {
  PEER_PORT_BLOCKED: {
    summary: 'A host does not reach a port of another one that it will need.',
    meaning:
      'Before anything is changed, new hosts listen on the ports of their roles for a moment, and those who will need them connect. Where no answer comes, a firewall on one of the hosts, or one in between, drops the packets; in clouds it is mostly a security group.',
    remedy:
      'Type what the hint says on the host that it names. If that host lets the port in already, look at what lies between: `nc -zv ADDRESS PORT` from the other host shows whether it is open.',
    symptoms: ['refused'],
  },
  PEER_OTHER_ANSWERS: {
    summary: 'At the address of a host somebody else answers.',
    meaning:
      'The agent of the host listened there, and whoever connected heard another. Two machines have the same address, or something in between answers in place of hosts: a transparent proxy, a load balancer.',
    remedy:
      '`ip neigh show ADDRESS` on both hosts shows the hardware address behind it, `ip link` on the host its own. Give each machine an address of its own, or set `internalAddress` to one that leads to the host itself.',
  },
  PEER_UDP_BLOCKED: {
    summary: 'Datagrams between two nodes get lost, by which the pod network carries packets.',
    meaning:
      'Nodes would be Ready all the same, and pods on different hosts would not hear each other: names would not be found, half of the requests would hang.',
    remedy:
      'Open the port for UDP as the hint says; security groups have a rule of its own for UDP. Where a network carries no UDP at all, hosts on one link can do with `spec.network.flannel.backend: host-gw`.',
  },
  PEER_UDP_SMALLER: {
    summary: 'Large packets between two nodes get lost, small ones arrive. A warning.',
    meaning:
      'A link in between takes less than the interfaces of the hosts do: a tunnel, a VPN, one end with jumbo frames. Connections of pods would begin, and hang with the first large answer, unless a router on the way cuts packets in two.',
    remedy:
      'Set `spec.network.flannel.mtu` as the hint says, for all hosts; or give all interfaces and links the same MTU. `ping -M do -s SIZE ADDRESS` with 28 bytes less than a packet finds the exact size. For ten minutes after a router has said why it dropped something, the host cuts by itself, and hyperkube sees nothing.',
  },
  CLOCK_SKEW: {
    summary: 'A clock differs from the others: by more than 2 s a warning, by more than 30 s an error.',
    meaning:
      'Clocks that are kept agree to milliseconds; one that is off by seconds is kept by nobody, and moves on. Logs are then out of order, leases end early or late, and with half a minute tokens and new certificates are not valid yet on the next host.',
    remedy:
      '`timedatectl set-ntp true` on that machine, or install chrony; `timedatectl` then says that the clock is synchronized. On Windows: `w32tm /resync`.',
  },
}
