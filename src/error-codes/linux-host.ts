import type { Entries } from './entry.ts'

export const linuxHost: Entries = {
  HOST_NO_SYSTEMD: {
    summary: 'The host’s services are not started by systemd.',
    meaning: 'Every component is a service of systemd, which restarts it, limits it and keeps its log.',
    remedy: 'Use a distribution with systemd.',
  },
  HOST_KERNEL_FEATURE: {
    summary: 'The kernel lacks something that containers or their network need.',
    meaning: 'Small cloud kernels and hosts that are containers themselves are the usual cases.',
    remedy:
      '`modprobe NAME` as the hint says. If that fails, install the modules of the running kernel (Ubuntu: `apt install linux-modules-extra-$(uname -r)`).',
  },
  HOST_CGROUP_V1: {
    summary: 'The host shares out memory and processors by cgroup version 1. A warning.',
    meaning:
      'The kubelet bears it only for now and only because hyperkube tells it to; a later minor will not.',
    remedy:
      'Plan a restart with `systemd.unified_cgroup_hierarchy=1` on the kernel’s command line, one host at a time. `stat -fc %T /sys/fs/cgroup` then says cgroup2fs.',
  },
  HOST_CGROUP_CONTROLLER: {
    summary: 'A controller of the host’s cgroups is missing.',
    meaning: 'Without it the kubelet does not start. On small ARM boards memory is switched off by default.',
    remedy:
      'Put what the hint says on the kernel’s command line, and restart. `cat /sys/fs/cgroup/cgroup.controllers` shows what there is.',
  },
  HOST_SWAP: {
    summary: 'The host has swap. A warning.',
    meaning:
      'Pods get none of it, and a host that swaps looks healthy while everything on it is slow, etcd first.',
    remedy: '`swapoff -a`, and take swap out of `/etc/fstab`; `swapon --show` then shows nothing.',
  },
  HOST_SELINUX: {
    summary: 'SELinux is enforcing on the host. A warning.',
    meaning: 'Containers start only with the policy that is made for them.',
    remedy:
      '`dnf install container-selinux`. If something is refused all the same, `ausearch -m avc -ts recent` shows what.',
  },
  HOST_SERVICE_TAKEN: {
    summary: 'The host has a service with the name of one of ours, which hyperkube did not make.',
    meaning:
      'It is left from another installation, or came with a package. hyperkube overwrites nothing that is not its own.',
    remedy:
      '`systemctl cat NAME` shows where it comes from. If nothing needs it: `systemctl disable --now NAME`, and remove its package.',
  },
  HOST_DOCKER: {
    summary: 'Docker runs on the host too. A warning.',
    meaning:
      'Kubernetes does not count what Docker’s containers take, and Docker’s rules forbid forwarding for everybody else.',
    remedy: '`docker ps` shows what still runs there; then `systemctl disable --now docker.socket docker`.',
  },
  HOST_NO_PACKET_FILTER: {
    summary: 'The host lacks the means by which services and the pod network rewrite packets.',
    meaning:
      'No service would be reachable. Beside Docker, iptables is needed to allow again what Docker forbids.',
    remedy: 'Install what the hint names; `nft --version` or `iptables --version` then answers.',
  },
  HOST_PROXY_MODE: {
    summary: 'kube-proxy shall use a mode for which the host lacks the kernel or the program.',
    remedy:
      'Set `spec.components.kubeProxy.mode: auto`, which takes what each host has; or install what the hint names.',
  },
  HOST_NO_RESOLVER: {
    summary: 'The host’s resolver file names no server. A warning.',
    meaning: 'Pods would find no name outside the cluster, and images may not be found either.',
    remedy:
      'Name servers in `spec.dns.forward`; or write `nameserver ADDRESS` to the file of the message, or to one of your own that `kubelet.config.resolvConf` of the host names.',
    symptoms: ['no-service'],
  },
  HOST_RESOLVER_LOOP: {
    summary: 'The host’s resolver file names only the host itself. A warning.',
    meaning: 'In a pod that is the pod: CoreDNS would ask itself until it ends, and again.',
    remedy:
      '`resolvectl status` shows the true servers. Name them in `spec.dns.forward`; or write them to a file, and its path to `kubelet.config.resolvConf` in `components` of the host.',
    symptoms: ['no-service'],
  },
  HOST_FIREWALL: {
    summary: 'A firewall manager is active on the host, and must let the other hosts in. A warning.',
    meaning:
      'Closed ports look like a cluster that almost works: nodes ready, but no logs, no webhooks, no pods across hosts.',
    remedy: 'Paste the command of the hint on the host. It opens what this host needs, and no more.',
  },
}
