import type { ErrorCodeEntries } from './entry.ts'

export const doctorCodes: ErrorCodeEntries = {
  NO_HOST_REACHABLE: {
    summary: 'No host of the cluster is reachable over ssh.',
    meaning:
      'Usually the network or the VPN of your machine fails, and the cluster itself runs. Nothing is known about the hosts.',
    remedy:
      'Check the network and the VPN of your machine. `ssh USER@ADDRESS true` shows whether a host is reachable. Remove no host.',
    symptoms: ['no-way'],
  },
  HOST_UNREACHABLE: {
    summary: 'A host is unreachable over ssh.',
    meaning:
      'It is off, or the network fails. Pods of a worker start elsewhere after five minutes. etcd and the API continue while more than half of the control planes run.',
    remedy:
      'Start it, or fix the network; the host recovers without further action. If it is lost and another control plane is reachable, run `hyperkube node remove HOST`.',
    symptoms: ['no-way', 'node-not-ready'],
  },
  HOST_CUT_OFF: {
    summary: 'A host is reachable for you, but cannot reach the other hosts of the cluster.',
    meaning:
      'A cable, a switch or a firewall separates them. Its pods run, but are unreachable. Agents restart nothing for this.',
    remedy:
      'Fix the network between the hosts; everything else recovers. On the host `ping` the address of another host.',
    symptoms: ['node-not-ready', 'no-service'],
  },
  AGENT_UNREACHABLE: {
    summary: 'A host is reachable, but its agent is not.',
    meaning:
      'Pods and components keep running, but are not healed. systemd restarts an agent that exits or hangs.',
    remedy:
      'Wait half a minute. Then run `systemctl restart hyperkube-agent` and `journalctl -u hyperkube-agent -n 50` on the host. If there is no agent, run `hyperkube up`.',
    symptoms: ['healing'],
  },
  AGENT_NO_HEALTH: {
    summary: 'The agent of a host is too old to report health. This is a warning.',
    remedy: '`hyperkube up` installs this release on the hosts.',
    symptoms: ['healing'],
  },
  ETCD_QUORUM_LOST: {
    summary: 'Too few etcd members are healthy: etcd accepts no writes, and the API is unavailable.',
    meaning:
      'Pods keep running, and no acknowledged write is lost. Agents restart nothing for this; members must come back.',
    remedy: 'Bring back the members that the evidence names. If they are lost, run `hyperkube etcd recover`.',
    symptoms: ['etcd', 'no-api'],
  },
  API_DOWN: {
    summary: 'No API server is ready.',
    meaning:
      'Pods and services keep running, but nothing can be changed or read, and failed pods are not replaced.',
    remedy:
      '`hyperkube doctor` shows the cause for each server. `hyperkube logs kube-apiserver --since 10m` shows their logs.',
    symptoms: ['no-api', 'no-pods'],
  },
  NODE_NOT_READY: {
    summary: 'A node is NotReady.',
    meaning:
      'Its kubelet reported a problem or stopped reporting. Its pods start elsewhere after five minutes.',
    remedy:
      '`hyperkube doctor` shows the cause if it is known. Otherwise check `hyperkube logs kubelet --limit HOST`.',
    symptoms: ['node-not-ready'],
  },
  NODE_DISK_PRESSURE: {
    summary: 'A node has too little free disk space.',
    meaning:
      'The kubelet deletes unused images and evicts pods. A taint keeps new pods away until enough space is free for a few minutes.',
    remedy:
      'Run `df -h` on the host and free space on the disks of `/var/lib/kubelet` and `/var/lib/containerd`. The node recovers without further action.',
    symptoms: ['disk', 'no-pods'],
  },
  NODE_MEMORY_PRESSURE: {
    summary: 'A node has too little free memory.',
    meaning: 'The kubelet evicts pods. A taint keeps new pods away until enough memory is free.',
    remedy:
      '`ps -eo pid,rss,args --sort=-rss | head` on the host shows the largest processes. Set memory limits for pods, or add memory or a node.',
    symptoms: ['no-pods'],
  },
  NODE_PID_PRESSURE: {
    summary: 'A node has too few free process ids.',
    meaning: 'The kubelet evicts pods. A taint keeps new pods away until enough process ids are free.',
    remedy:
      '`ps -eo pid,nlwp,args --sort=-nlwp | head` on the host shows the processes with the most threads. Stop or fix the one that leaks them.',
    symptoms: ['no-pods'],
  },
  NODE_NETWORK_UNAVAILABLE: {
    summary: 'The pod network of a node is not configured.',
    meaning: 'A taint keeps new pods away until the network plugin has configured the node.',
    remedy:
      'Check `hyperkube logs flanneld --limit HOST`. With `network.plugin: none` check your own network plugin.',
    symptoms: ['no-pods', 'no-service'],
  },
  SERVICE_DRIFT: {
    summary: 'A resource of a component differs from the applied plan.',
    meaning:
      'A program, a file or a unit is missing, changed or disabled. Running services are not touched; the agent repairs what it can.',
    remedy:
      '`hyperkube up --limit HOST` repairs the rest. Find out what changes it, usually configuration management.',
    symptoms: ['healing'],
  },
  INGRESS_ANNOTATIONS_UNSERVED: {
    summary: 'Ingresses have annotations of ingress-nginx that have no effect. This is a warning.',
    meaning:
      'Traefik ignores annotations that it does not know, so such an Ingress may work differently than with ingress-nginx, or not at all.',
    remedy:
      'With `spec.ingress.nginxAnnotations: true` Traefik serves Ingresses of the class nginx with the annotations that it knows. Replace the others, for example by a filter of an HTTPRoute, and remove them. [The list](../how-to/addons.md#annotations-of-ingress-nginx).',
  },
}
