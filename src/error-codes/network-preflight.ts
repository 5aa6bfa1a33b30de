import type { ErrorCodeEntries } from './entry.ts'

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
