import type { Entries } from './entry.ts'

export const host: Entries = {
  HOST_NO_FACTS: {
    summary: 'Nothing is known of a host: it has not answered.',
    meaning:
      'A worker, and a control plane or a member of etcd while more than half of them answer, is left as it is until it answers, which is a warning. When fewer do, or when the others would not know its address, the plan stops.',
    remedy:
      'Type the ssh command of the hint: what it says is what is in the way. Then the same command again.',
  },
  HOST_OTHER_OS: {
    summary: 'A host runs another system than cluster.yml says.',
    remedy:
      'Mend `os` of the host; if it is right, look whether `address` leads to the machine that you mean.',
  },
  HOST_NO_INTERFACE: {
    summary: 'The host does not have the interface that cluster.yml names.',
    meaning: 'Names of interfaces change with hardware, drivers and releases of the system.',
    remedy:
      'Take one of those in the message; on the host `ip -br address`, on Windows `Get-NetIPAddress`, shows them with their addresses.',
  },
  HOST_NO_ADDRESS: {
    summary: 'It is not known under which address the other hosts find this one.',
    meaning:
      'The host has no default route, its interface has no IPv4 address, or the address leads every host to itself. A control plane that does not answer cannot say it, so that cluster.yml must.',
    remedy:
      'Set `internalAddress` of the host; on the host `ip -br address`, on Windows `Get-NetIPAddress`, shows what there is.',
    symptoms: ['no-way'],
  },
  HOST_ADDRESS_NOT_THERE: {
    summary: 'The internal address of a host is on none of its interfaces.',
    meaning:
      'etcd and the API server listen on it and would not start. The usual case is the public address of a cloud machine, which the machine itself does not have.',
    remedy:
      'Set `internalAddress` to an address that `ip -br address`, on Windows `Get-NetIPAddress`, shows on the host; `address` may stay as it is.',
  },
  HOST_NETWORK_OVERLAP: {
    summary: 'A host is in a network that pods or services shall be in too.',
    meaning:
      'Packets for pods would leave the host, or packets for your own machines would not. With a bridge of Docker only its containers suffer, which is a warning.',
    remedy:
      'Choose another `spec.network.pods` or `spec.network.services`. Docker’s bridge is moved by `bip` in `/etc/docker/daemon.json`.',
  },
  HOST_MTU: {
    summary: 'Packets of pods shall be larger than the host’s interface takes. A warning.',
    meaning: 'Small answers arrive and large ones never do: names are found, and downloads hang.',
    remedy:
      'Take `spec.network.flannel.mtu` out, and each host takes what its interface leaves; or set it to what the hint says.',
  },
  HOST_CLONED: {
    summary: 'Two hosts have the same machine id: one is a copy of the other.',
    meaning: 'Leases of DHCP, logs and anything else that tells machines apart would mix them up.',
    remedy: 'Type the command of the hint on the copy. It restarts; then the same command again.',
    symptoms: ['refused'],
  },
  HOST_NAME_TWICE: {
    summary: 'Two hosts call themselves by the same name. A warning.',
    meaning: 'The cluster uses the names of cluster.yml; logs and other tools cannot tell the two apart.',
    remedy: 'Type the command of the hint on one of them.',
    symptoms: ['refused'],
  },
  HOST_MEMORY_SMALL: {
    summary: 'The host has little memory for what it shall run.',
    meaning:
      'Below what the system and our services need it is an error: the kernel would end one of them, and it is often etcd. Below twice that, it is a warning: pods get what is left.',
    remedy: 'Give it more memory, or fewer roles: the hint says how much.',
  },
  HOST_CPU_SMALL: {
    summary: 'A control plane has a single CPU. A warning.',
    meaning: 'etcd waits whenever something else has work; when it waits too long, it elects a new leader.',
    remedy: 'Give it 2 CPUs.',
  },
  HOST_DISK_SMALL: {
    summary: 'A disk of the host has little room left. A warning.',
    meaning: 'Without room etcd stops taking writes; the kubelet removes images and evicts pods.',
    remedy: '`df -h PATH` on the host; make room, or put the directory of the message on a disk of its own.',
  },
  HOST_PORT_TAKEN: {
    summary: 'Something listens on a port that a component needs.',
    meaning:
      'The component would not start. When it could not be seen who listens, it is a warning: it may be our own.',
    remedy:
      'The command of the hint shows who it is. Stop it; for the API server you can set `spec.api.port` instead.',
    symptoms: ['refused'],
  },
}
