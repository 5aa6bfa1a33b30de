import type { ErrorCodeEntries } from './entry.ts'

export const linuxHostCodes: ErrorCodeEntries = {
  HOST_NO_SYSTEMD: {
    summary: 'The host does not use systemd.',
    meaning:
      'Every component is a systemd service. systemd restarts it, limits its resources and stores its log.',
    remedy: 'Use a distribution with systemd.',
  },
  HOST_KERNEL_FEATURE: {
    summary: 'The kernel lacks a feature that containers or their network need.',
    meaning: 'The usual causes are small cloud kernels and hosts that are containers themselves.',
    remedy:
      'Run `modprobe NAME` from the hint. If it fails, install the modules of the running kernel (Ubuntu: `apt install linux-modules-extra-$(uname -r)`).',
  },
  HOST_CGROUP_V1: {
    summary: 'The host uses cgroup v1. This is a warning.',
    meaning: 'The kubelet still starts only because hyperkube enables it. A later minor version will not.',
    remedy:
      'Add `systemd.unified_cgroup_hierarchy=1` to the kernel command line and reboot, one host at a time. `stat -fc %T /sys/fs/cgroup` then prints cgroup2fs.',
  },
  HOST_CGROUP_CONTROLLER: {
    summary: 'The host lacks a cgroup controller.',
    meaning:
      'The kubelet does not start without it. Small ARM boards disable the memory controller by default.',
    remedy:
      'Add the settings from the hint to the kernel command line and reboot. `cat /sys/fs/cgroup/cgroup.controllers` shows the controllers.',
  },
  HOST_SWAP: {
    summary: 'The host has swap enabled. This is a warning.',
    meaning: 'Pods get no swap. A swapping host seems healthy while everything on it is slow, etcd first.',
    remedy: 'Run `swapoff -a` and remove swap from `/etc/fstab`. `swapon --show` then prints nothing.',
  },
  HOST_SELINUX: {
    summary: 'SELinux is enforcing on the host. This is a warning.',
    meaning: 'Containers start only with the SELinux policy for containers.',
    remedy:
      'Run `dnf install container-selinux`. If SELinux still denies something, `ausearch -m avc -ts recent` shows what.',
  },
  HOST_SERVICE_TAKEN: {
    summary: 'The host has a foreign service with the name of a hyperkube service.',
    meaning: 'Another installation or a package created it. hyperkube never overwrites foreign services.',
    remedy:
      '`systemctl cat NAME` shows its source. If nothing needs it, run `systemctl disable --now NAME` and remove its package.',
  },
  HOST_DOCKER: {
    summary: 'Docker runs on the host. This is a warning.',
    meaning:
      'Kubernetes does not account for Docker containers, and the iptables rules of Docker block forwarding.',
    remedy:
      '`docker ps` shows what still runs there. Then run `systemctl disable --now docker.socket docker`.',
  },
  HOST_NO_PACKET_FILTER: {
    summary: 'The host has neither a usable nftables nor iptables.',
    meaning:
      'Services would be unreachable. Beside Docker, flannel needs iptables, because Docker blocks forwarding with it.',
    remedy: 'Install the package from the hint. `nft --version` or `iptables --version` must then work.',
  },
  HOST_PROXY_MODE: {
    summary: 'The host lacks the kernel support or the program for the mode of kube-proxy.',
    remedy:
      'Set `spec.components.kubeProxy.mode: auto`, which selects a mode per host. Or install the package from the hint.',
  },
  HOST_NO_POLICY_PROGRAMS: {
    summary: 'The host lacks iptables or ipset, with which kube-router enforces NetworkPolicy.',
    meaning:
      'kube-router would exit at its start, and NetworkPolicy objects would have no effect on this host.',
    remedy:
      'Install the packages from the hint. Without NetworkPolicy in this cluster, set `spec.network.policy: none`.',
  },
  HOST_NO_KEEPALIVED: {
    summary: 'A control plane lacks keepalived or curl, which move the virtual IP of the API.',
    meaning: 'keepalived gives the address to one control plane. With curl it checks the local API server.',
    remedy: 'Install the packages from the hint, or remove `spec.api.virtualIP`.',
  },
  HOST_FOREIGN_KEEPALIVED: {
    summary: 'keepalived.service of the distribution is active on a control plane. This is a warning.',
    meaning:
      'hyperkube runs its own keepalived beside it. Two instances with the same address or the same virtual_router_id disturb each other.',
    remedy:
      '`cat /etc/keepalived/keepalived.conf` shows its addresses. If nothing needs it, run `systemctl disable --now keepalived`.',
  },
  HOST_VIRTUAL_IP_SUBNET: {
    summary: 'The virtual IP of the API is not in the subnet of a control plane.',
    meaning:
      'Machines find the address with ARP, which works only inside one subnet. The first and the last address of a subnet cannot be used.',
    remedy:
      'Set `spec.api.virtualIP` to an unused address in the subnet of all control planes. If they have no common subnet, use a load balancer and `spec.api.endpoint`.',
  },
  HOST_HAS_VIRTUAL_IP: {
    summary: 'A host has the virtual IP of the API for another reason.',
    meaning: 'keepalived adds the address to one control plane only, with the prefix length 32.',
    remedy:
      'Set another `spec.api.virtualIP`, or remove the address from the host: its network configuration or another program added it.',
  },
  HOST_FOREIGN_FILTER_TABLE: {
    summary: 'nft wrote rules into the table of iptables that iptables cannot read.',
    meaning: 'kube-router changes this table with iptables. It would exit at its start.',
    remedy:
      'Move the rules to a table with another name than `filter`, for example in `/etc/nftables.conf`. Or set `spec.network.policy: none`.',
  },
  HOST_NO_BRIDGE_NETFILTER: {
    summary: 'The kernel does not pass packets of a bridge to iptables.',
    meaning: 'NetworkPolicy would not apply to packets between pods of the same node.',
    remedy:
      'Load `br_netfilter` as in the hint; some distributions have it in an additional kernel package. Or set `spec.network.policy: none`.',
  },
  HOST_NO_WINDOWS_POLICY: {
    summary: 'NetworkPolicy is not enforced for pods on a Windows host. This is a warning.',
    meaning:
      'kube-router runs only on Linux. Policies of pods on Linux hosts also apply to packets from Windows.',
    remedy: 'Keep pods that need policies on Linux hosts, for example with a node selector.',
  },
  HOST_NO_RESOLVER: {
    summary: 'The resolver file of the host lists no server. This is a warning.',
    meaning: 'Pods could not resolve names outside the cluster, and image pulls may fail.',
    remedy:
      'Set servers in `spec.dns.forward`. Or write `nameserver ADDRESS` to the file in the message, or to a file that `kubelet.config.resolvConf` of the host names.',
    symptoms: ['no-service'],
  },
  HOST_RESOLVER_LOOP: {
    summary: 'The resolver file of the host lists only the host itself. This is a warning.',
    meaning: 'In a pod this address is the pod itself: CoreDNS would query itself, exit and restart.',
    remedy:
      '`resolvectl status` shows the real servers. Set them in `spec.dns.forward`. Or write them to a file and set `kubelet.config.resolvConf` in `components` of the host.',
    symptoms: ['no-service'],
  },
  HOST_FIREWALL: {
    summary: 'A firewall manager is active on the host and must allow the other hosts. This is a warning.',
    meaning:
      'With closed ports the cluster seems to work: nodes are ready, but logs, webhooks and pods across hosts fail.',
    remedy: 'Run the command from the hint on the host. It opens only the ports that this host needs.',
  },
}
