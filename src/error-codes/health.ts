import type { Entries } from './entry.ts'

export const health: Entries = {
  HEALTH_NOT_RUNNING: {
    summary: 'A component of a host does not run.',
    meaning:
      'It has ended, cannot start, or was stopped by somebody. systemd starts it again by itself; where that does not help, the agent of the host puts back what belongs to it and restarts it.',
    remedy:
      '`hyperkube logs COMPONENT --limit HOST` has its last words. If it is still so after a minute, `hyperkube doctor` says what the agent has tried.',
    symptoms: ['node-not-ready', 'no-pods', 'no-api'],
  },
  HEALTH_NO_ANSWER: {
    summary: 'A component runs, and does not answer.',
    meaning:
      'Its process is there, and connections to it are refused, reset or not answered in time: it hangs, was stopped by a signal, or has only just started. The agent restarts it when that is seen a few times in a row.',
    remedy:
      'Wait a minute; then `hyperkube doctor` again. `hyperkube logs COMPONENT --limit HOST` shows what it was at.',
    symptoms: ['node-not-ready', 'no-pods', 'no-api'],
  },
  HEALTH_UNWELL: {
    summary: 'A component says itself that it is not well.',
    meaning: 'It answers, and names what it lacks: mostly another component, which is then told of first.',
    remedy: 'Mend what it names. `hyperkube logs COMPONENT --limit HOST` says more.',
    symptoms: ['node-not-ready', 'no-pods'],
  },
  RUNTIME_NOT_READY: {
    summary: 'The container runtime of a node is not ready.',
    meaning: 'Containers that run go on, and no pod starts or ends there.',
    remedy: '`hyperkube logs containerd --limit HOST`. The agent restarts it; containers survive that.',
    symptoms: ['node-not-ready', 'no-pods'],
  },
  RUNTIME_NO_NETWORK: {
    summary: 'The container runtime of a node has no network for pods.',
    meaning:
      'The CNI configuration is missing, or a plugin that it names. Pods that run keep their network, and no new one starts. The agent writes it anew.',
    remedy:
      'Wait a minute. If it stays so: `hyperkube logs flanneld containerd --limit HOST`, and look who else writes into `/etc/cni/net.d`.',
    symptoms: ['node-not-ready', 'no-pods'],
  },
  OVERLAY_INTERFACE: {
    summary:
      'The network interface that pods of other nodes are reached by is gone, down, or has another address.',
    meaning:
      'Pods of this node do not reach those of others. The agent restarts flanneld, which makes it anew.',
    remedy:
      'Wait a minute. If it is gone again and again, another program takes it away: NetworkManager and systemd-networkd must leave `flannel.*` alone.',
    symptoms: ['no-service'],
  },
  OVERLAY_NETWORK: {
    summary: 'The network of pods on a Windows host is missing, or of the wrong kind.',
    meaning: 'Flannel makes it, and its agent sees to that: what it waits for is in `hyperkube status`.',
    remedy:
      'On the host, `Get-HnsNetwork` shows what there is. If it stays so, look at the log of flanneld below the directory that cluster.yml names.',
  },
  OVERLAY_ROUTES: {
    summary: 'A node lacks routes to the pods of other nodes.',
    meaning:
      'Pods here do not reach pods there. flanneld sets a route for every node that it hears of from the API.',
    remedy:
      '`ip route` on the host, and `hyperkube logs flanneld --limit HOST`. Look whether another program manages routes.',
    symptoms: ['no-service'],
  },
  OVERLAY_SUBNET: {
    summary: 'The file with the pod network of a node does not say what the node was given.',
    meaning:
      'New pods would get addresses that lead elsewhere. The agent has flanneld write it anew, and makes what is derived from it again.',
    remedy: 'Wait a minute. If it stays so: `hyperkube logs flanneld --limit HOST`.',
    symptoms: ['no-service', 'no-pods'],
  },
  SERVICE_RULES: {
    summary: 'The packet filter of a node does not know services of the cluster.',
    meaning:
      'Connections to addresses of services are refused or go nowhere from there. Mostly another program has flushed the rules. The agent restarts kube-proxy, which writes them anew.',
    remedy:
      'Find out who flushes them: `systemctl status nftables firewalld` on the host. `hyperkube logs kube-proxy --limit HOST`.',
    symptoms: ['no-service'],
  },
  SANDBOX_NOT_JOINED: {
    summary: 'A pod that starts on a node now cannot be joined to the network.',
    meaning:
      'A trial with a network namespace of its own has failed: a CNI plugin, its configuration or its addresses.',
    remedy: '`hyperkube logs flanneld containerd --limit HOST`; the evidence has what the plugin said.',
    symptoms: ['no-pods'],
  },
  NODE_LEASE_OLD: {
    summary: 'A node has not told the API of itself for a while.',
    meaning:
      'Its kubelet is not well, or has no way to the API; soon the node is NotReady, and its pods start elsewhere.',
    remedy: '`hyperkube doctor` names the cause first; otherwise `hyperkube logs kubelet --limit HOST`.',
    symptoms: ['node-not-ready'],
  },
  NEIGHBOURS_SILENT: {
    summary: 'A node does not reach the kubelets of others.',
    meaning: 'The others are away, or something is between them. Nothing is restarted for that.',
    remedy:
      '`hyperkube doctor` says whether those are away. Otherwise look at firewalls between the hosts, port 10250.',
    symptoms: ['no-service'],
  },
  DISK_SLOW: {
    summary: 'A disk takes too long to write.',
    meaning:
      'etcd writes to disk before it answers, so everything is slow with it, and with much worse it loses its leader. No restart helps.',
    remedy:
      '`iostat -x 5` on the host: who else writes there, and is it a disk for that. etcd wants one of its own.',
    symptoms: ['disk', 'etcd', 'no-api'],
  },
  DISK_FULL: {
    summary: 'A disk of a host is full, or nearly so.',
    meaning: 'etcd stops without room to write, and kubelets drive pods away. What is written is safe.',
    remedy:
      '`df -h` on the host, and make room: old images, logs, snapshots. What has stopped starts by itself then.',
    symptoms: ['disk', 'etcd', 'node-not-ready'],
  },
  CERTIFICATE_EXPIRED: {
    summary: 'A certificate of a component has expired.',
    meaning:
      'Nobody takes its word any more. It was off, or away from the API, for longer than a third of the certificate’s life: an agent cannot mend that alone.',
    remedy: '`hyperkube certs renew HOST`.',
    symptoms: ['certificates', 'node-not-ready'],
  },
  CERTIFICATE_DUE: {
    summary: 'A certificate should have been renewed by now. A warning.',
    meaning:
      'Hosts renew by themselves when a third of the life is left; this one has not come to it for a while.',
    remedy: '`hyperkube certs renew HOST`; why it did not: `hyperkube logs hyperkube-agent --limit HOST`.',
    symptoms: ['certificates'],
  },
  CLOCK_OFF: {
    summary: 'The clock of a host is not that of the others.',
    meaning: 'Certificates seem to be not valid yet or no more, leases expire too early or too late.',
    remedy: '`timedatectl` on the host: let it ask a time server.',
    symptoms: ['certificates', 'node-not-ready'],
  },
  API_NOT_READY: {
    summary: 'An API server runs, and is not ready for requests.',
    meaning: 'Mostly it waits for etcd. Clients go to the other API servers meanwhile.',
    remedy: '`hyperkube etcd status`, and `hyperkube logs kube-apiserver --limit HOST`.',
    symptoms: ['no-api'],
  },
  API_NOT_REACHED: {
    summary: 'A node reaches no API server.',
    meaning:
      'Its pods go on as they are. Nothing is restarted for that: either the API is down, or the way to it is.',
    remedy:
      '`hyperkube doctor` says which of the two. If the API is well elsewhere, look at the network between the hosts, port 6443.',
    symptoms: ['node-not-ready', 'no-api'],
  },
}
