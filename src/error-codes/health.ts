import type { ErrorCodeEntries } from './entry.ts'

export const healthCodes: ErrorCodeEntries = {
  HEALTH_NOT_RUNNING: {
    summary: 'A component of a host does not run.',
    meaning:
      'It exited, cannot start, or was stopped. systemd restarts it; if that fails, the agent repairs its resources and restarts it.',
    remedy:
      '`hyperkube logs COMPONENT --limit HOST` shows its last output. If it persists for a minute, `hyperkube doctor` shows what the agent tried.',
    symptoms: ['node-not-ready', 'no-pods', 'no-api'],
  },
  HEALTH_NO_RESPONSE: {
    summary: 'A component runs, but does not respond.',
    meaning:
      'Connections are refused, reset or time out: the component hangs, is suspended, or has just started. The agent restarts it after a few failed probes.',
    remedy:
      'Wait a minute, then run `hyperkube doctor` again. `hyperkube logs COMPONENT --limit HOST` shows its last output.',
    symptoms: ['node-not-ready', 'no-pods', 'no-api'],
  },
  HEALTH_CHECK_FAILED: {
    summary: 'A component reports that it is unhealthy.',
    meaning: 'Its response names the cause, usually another component, which has its own finding.',
    remedy: 'Fix that cause. `hyperkube logs COMPONENT --limit HOST` shows more.',
    symptoms: ['node-not-ready', 'no-pods'],
  },
  RUNTIME_NOT_READY: {
    summary: 'The container runtime of a node is not ready.',
    meaning: 'Running containers continue, but no pod starts or stops there.',
    remedy:
      'Check `hyperkube logs containerd --limit HOST`. The agent restarts containerd; containers survive that.',
    symptoms: ['node-not-ready', 'no-pods'],
  },
  RUNTIME_NO_NETWORK: {
    summary: 'The container runtime of a node has no pod network.',
    meaning:
      'The CNI configuration or a CNI plugin is missing. Running pods keep their network, but no new pod starts. With flannel, the agent writes the configuration again.',
    remedy:
      'Wait a minute. If it persists, check `hyperkube logs flanneld containerd --limit HOST`, and which program writes to `/etc/cni/net.d`. With `network.plugin: none`, check the pods of your network plugin on this host.',
    symptoms: ['node-not-ready', 'no-pods'],
  },
  OVERLAY_INTERFACE: {
    summary: 'The overlay interface of a node is missing, down, or has a wrong address.',
    meaning:
      'Pods of this node cannot reach pods of other nodes. The agent restarts flanneld, which creates the interface again.',
    remedy:
      'Wait a minute. If it disappears repeatedly, another program deletes it: NetworkManager and systemd-networkd must ignore `flannel.*`.',
    symptoms: ['no-service'],
  },
  OVERLAY_NETWORK: {
    summary: 'The pod network of a Windows host is missing or has the wrong type.',
    meaning:
      'flanneld creates it, and the agent checks it. `hyperkube status` shows what the agent waits for.',
    remedy:
      '`Get-HnsNetwork` on the host lists the networks. If it persists, check the log of flanneld below `spec.windows.baseDirectory`.',
  },
  OVERLAY_ROUTES: {
    summary: 'A node lacks routes to pods of other nodes.',
    meaning: 'Its pods cannot reach pods there. flanneld sets a route for every node of the API.',
    remedy:
      'Check `ip route` on the host and `hyperkube logs flanneld --limit HOST`. Check whether another program manages routes.',
    symptoms: ['no-service'],
  },
  OVERLAY_SUBNET: {
    summary: 'The subnet file of a node does not match the pod network of the node.',
    meaning:
      'New pods would get unreachable addresses. The agent restarts flanneld, which writes the file again, and regenerates the derived files.',
    remedy: 'Wait a minute. If it persists, check `hyperkube logs flanneld --limit HOST`.',
    symptoms: ['no-service', 'no-pods'],
  },
  SERVICE_RULES: {
    summary: 'The packet filter of a node lacks rules for cluster services.',
    meaning:
      'Connections to service addresses fail on this node. Usually another program flushed the rules. The agent restarts kube-proxy, which writes them again.',
    remedy:
      'Find that program: `systemctl status nftables firewalld` on the host. Check `hyperkube logs kube-proxy --limit HOST`.',
    symptoms: ['no-service'],
  },
  POLICY_RULES: {
    summary: 'The packet filter of a node lacks the rules that enforce NetworkPolicy.',
    meaning:
      'Policies have no effect on the pods of the message. Usually another program flushed the rules, or kube-router cannot start. The agent restarts kube-router, which writes them again.',
    remedy:
      'Check `hyperkube logs kube-router --limit HOST`. Find the other program: `systemctl status nftables firewalld` on the host.',
  },
  POLICY_ACCESS: {
    summary: 'kube-router on a node may not read NetworkPolicy objects.',
    meaning:
      'The API refuses its certificate or its permissions. The rules stay as they are: new policies and new pods are not enforced.',
    remedy:
      '`hyperkube up` restores the RBAC rules. If it persists, check the certificate: `hyperkube certs list`.',
  },
  SANDBOX_NOT_JOINED: {
    summary: 'A new pod on a node cannot be connected to the network.',
    meaning:
      'A test with its own network namespace failed. The cause is a CNI plugin, its configuration or its address pool.',
    remedy:
      'Check `hyperkube logs flanneld containerd --limit HOST`. The evidence holds the error of the plugin.',
    symptoms: ['no-pods'],
  },
  NODE_LEASE_OLD: {
    summary: 'A node has not renewed its lease in time.',
    meaning:
      'Its kubelet is unhealthy or cannot reach the API. The node will soon be NotReady, and its pods start elsewhere.',
    remedy:
      '`hyperkube doctor` shows the cause first. Otherwise check `hyperkube logs kubelet --limit HOST`.',
    symptoms: ['node-not-ready'],
  },
  PEERS_UNREACHABLE: {
    summary: 'A node cannot reach the kubelets of other nodes.',
    meaning: 'The other nodes are down, or the network between them fails. Agents restart nothing for this.',
    remedy:
      '`hyperkube doctor` shows whether those nodes are down. Otherwise check firewalls between the hosts for port 10250.',
    symptoms: ['no-service'],
  },
  DISK_SLOW: {
    summary: 'A disk is too slow for writes.',
    meaning:
      'etcd writes to disk before it responds, so the whole cluster becomes slow. A slower disk costs etcd its leader. Restarts do not help.',
    remedy: '`iostat -x 5` on the host shows the load. Give etcd a fast disk of its own.',
    symptoms: ['disk', 'etcd', 'no-api'],
  },
  DISK_FULL: {
    summary: 'A disk of a host is full or almost full.',
    meaning: 'etcd stops without space, and kubelets evict pods. Written data is safe.',
    remedy:
      'Run `df -h` on the host and free space: old images, logs, snapshots. Stopped services then start again.',
    symptoms: ['disk', 'etcd', 'node-not-ready'],
  },
  CERTIFICATE_EXPIRED: {
    summary: 'A certificate of a component has expired.',
    meaning:
      'Peers reject it. The host was off, or without API access, for more than a third of the certificate lifetime. An agent cannot renew it alone.',
    remedy: 'Run `hyperkube certs renew HOST`.',
    symptoms: ['certificates', 'node-not-ready'],
  },
  CERTIFICATE_DUE: {
    summary: 'The renewal of a certificate is overdue. This is a warning.',
    meaning:
      'Hosts renew certificates when a third of the lifetime is left; this renewal has failed for a while.',
    remedy:
      'Run `hyperkube certs renew HOST`. `hyperkube logs hyperkube-agent --limit HOST` shows why it failed.',
    symptoms: ['certificates'],
  },
  CLOCK_OFF: {
    summary: 'The clock of a host differs from the other hosts.',
    meaning: 'Certificates seem invalid, and leases expire too early or too late.',
    remedy:
      'Check `timedatectl` on the host and enable time synchronization with `timedatectl set-ntp true`.',
    symptoms: ['certificates', 'node-not-ready'],
  },
  API_NOT_READY: {
    summary: 'An API server runs, but is not ready.',
    meaning: 'Usually it waits for etcd. Clients use the other API servers.',
    remedy: 'Check `hyperkube etcd status` and `hyperkube logs kube-apiserver --limit HOST`.',
    symptoms: ['no-api'],
  },
  VIRTUAL_IP_UNREACHABLE: {
    summary: 'A control plane gets no ready response at the virtual IP of the API.',
    meaning:
      'No control plane has the address, or the network between this host and the holder fails. Nodes are not affected, because they do not use it. Agents restart nothing for this.',
    remedy:
      '`ip -4 address show to ADDRESS` on each control plane shows the holder. Check `hyperkube logs hyperkube-keepalived`, and that VRRP (IP protocol 112) is allowed between control planes.',
    symptoms: ['no-api'],
  },
  API_UNREACHABLE: {
    summary: 'A node cannot reach any API server.',
    meaning:
      'Its pods keep running. Either the API is down, or the network to it fails. Agents restart nothing for this.',
    remedy:
      '`hyperkube doctor` shows which of the two it is. If the API is healthy elsewhere, check port 6443 between the hosts.',
    symptoms: ['node-not-ready', 'no-api'],
  },
}

export const healCodes: ErrorCodeEntries = {
  HEAL_EXHAUSTED: {
    summary: 'The agent of a host has used all healing steps, and a component is still unhealthy.',
    meaning:
      'It restarted the component, repaired its files and saved its logs. It retries every hour, and at once after a new plan or `hyperkube heal resume HOST`.',
    remedy:
      '`hyperkube logs COMPONENT --limit HOST` shows the cause. Fix it, usually in `components` of cluster.yml, then run `hyperkube up`.',
    symptoms: ['healing', 'node-not-ready'],
  },
  HEAL_BUDGET_SPENT: {
    summary: 'The agent of a host has reached its limit of healing actions.',
    meaning: 'A limit for all components of a host keeps healing from causing an outage itself.',
    remedy: 'Wait ten minutes. `hyperkube status` lists the actions; the first one usually shows the cause.',
    symptoms: ['healing'],
  },
  HEAL_NEEDS_OPERATOR: {
    summary: 'A component needs a secret or a certificate that only an operator can provide.',
    meaning:
      'Hosts store no copies of secrets, and your keys sign certificates. An agent cannot restore either.',
    remedy: 'Run `hyperkube up --limit HOST`. For an expired certificate run `hyperkube certs renew HOST`.',
    symptoms: ['healing', 'certificates'],
  },
  HEAL_PAUSED: {
    summary: 'An operator paused healing on a host. This is a warning.',
    meaning: 'The pause ends on its own, after a day at the latest.',
    remedy: 'Run `hyperkube heal resume HOST` when the work is done.',
    symptoms: ['healing'],
  },
  ETCD_DATA_LOST: {
    summary: 'The data of an initialized etcd member is missing.',
    meaning:
      'The agent does not start it with empty data, because it could vote against its earlier votes and lose writes. The other members continue while they have a quorum.',
    remedy:
      'Find out where the data went. If the other members have a quorum, run `hyperkube etcd rejoin HOST`. Otherwise run `hyperkube etcd recover`.',
    symptoms: ['etcd'],
  },
  ETCD_DATA_DAMAGED: {
    summary: 'An etcd member cannot read its data.',
    meaning:
      'Its log says so. The agent neither restarts it nor deletes anything, because the data may still be needed.',
    remedy: 'Check the disk first. Then run `hyperkube etcd rejoin HOST`.',
    symptoms: ['etcd', 'disk'],
  },
}
