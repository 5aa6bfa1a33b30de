interface CommandSubject {
  readonly code: string
  readonly host?: string | undefined
  readonly component?: string | undefined
  /** Undefined if the host runs Linux. */
  readonly os?: 'windows' | undefined
  /** True if the pod network of the host is not flannel of hyperkube. */
  readonly hasOwnNetwork?: boolean | undefined
  /** True if etcd has no other member to copy data from. */
  readonly isOnlyMember?: boolean | undefined
}

/** Returns the command that the operator should run, or an instruction if no command helps. */
export function suggestCommand({
  code,
  host = 'HOST',
  component = 'COMPONENT',
  os,
  hasOwnNetwork = false,
  isOnlyMember = false,
}: CommandSubject): string {
  if (isOnlyMember && commands[code] === rejoinCommand) return recoverCommand
  const windowsCommand = os === 'windows' ? windowsCommands[code] : undefined
  const networkCommand = hasOwnNetwork ? ownNetworkCommands[code] : undefined
  return (windowsCommand ?? networkCommand ?? commands[code] ?? logsCommand)(host, component)
}

type CommandTemplate = (host: string, component: string) => string

const logsCommand: CommandTemplate = (host, component) => `hyperkube logs ${component} --limit ${host}`
const upCommand: CommandTemplate = (host) => `hyperkube up --limit ${host}`
const renewCommand: CommandTemplate = (host) => `hyperkube certs renew ${host}`
/** A member that lost its data rejoins as a new member and copies the data from the other members. */
const rejoinCommand: CommandTemplate = (host) => `hyperkube etcd rejoin ${host}`
const recoverCommand = 'hyperkube etcd recover, or: hyperkube etcd snapshot restore NAME'

/** Commands that differ on Windows. */
const windowsCommands: Readonly<Record<string, CommandTemplate>> = {
  AGENT_UNREACHABLE: (host) => `on ${host}: Restart-Service hyperkube-agent`,
  DISK_FULL: (host) => `on ${host}: Get-Volume, then free disk space`,
  NODE_DISK_PRESSURE: (host) => `on ${host}: Get-Volume, then free disk space`,
  NODE_MEMORY_PRESSURE: (host) =>
    `on ${host}: Get-Process | Sort-Object WorkingSet -Descending | Select-Object -First 10`,
  DISK_SLOW: (host) =>
    `on ${host}: Get-Counter '\\PhysicalDisk(*)\\% Disk Time', then find other processes that write to the disk`,
  CLOCK_OFF: (host) => `on ${host}: w32tm /query /status`,
}

/** Commands that differ on hosts without flanneld of hyperkube. */
const ownNetworkCommands: Readonly<Record<string, CommandTemplate>> = {
  HOST_CUT_OFF: (host) =>
    `fix the network or the firewall between ${host} and the other hosts: hyperkube logs kubelet --limit ${host}`,
  RUNTIME_NO_NETWORK: (host) =>
    `check the pods of your network plugin on ${host}: hyperkube logs containerd --limit ${host}`,
}

const commands: Readonly<Record<string, CommandTemplate>> = {
  ETCD_RESTORE_UNFINISHED: () => 'resume the restore: hyperkube etcd snapshot restore NAME',
  ETCD_QUORUM_LOST: () => 'hyperkube etcd status; if members are lost permanently: hyperkube etcd recover',
  API_DOWN: () => 'hyperkube logs kube-apiserver --since 10m',
  NO_HOST_REACHABLE: () => 'check the network or the VPN of this machine, then: hyperkube doctor',
  HOST_UNREACHABLE: (host) => `start ${host}, or fix its network, then: hyperkube doctor`,
  HOST_CUT_OFF: (host) =>
    `fix the network or the firewall between ${host} and the other hosts: hyperkube logs flanneld --limit ${host}`,
  AGENT_UNREACHABLE: (host) => `on ${host}: systemctl restart hyperkube-agent`,
  AGENT_NO_HEALTH: () => 'hyperkube up',
  DISK_FULL: (host) => `on ${host}: df -h, then free disk space`,
  DISK_SLOW: (host) => `on ${host}: iostat -x 5, then find other processes that write to the disk`,
  CLOCK_OFF: (host) => `on ${host}: timedatectl`,
  CERTIFICATE_EXPIRED: renewCommand,
  CERTIFICATE_DUE: renewCommand,
  HEAL_NEEDS_OPERATOR: upCommand,
  HEAL_PAUSED: (host) => `hyperkube heal resume ${host}`,
  SERVICE_DRIFT: upCommand,
  ETCD_DATA_LOST: rejoinCommand,
  ETCD_DATA_DAMAGED: rejoinCommand,
  ETCD_NO_QUORUM: (host) =>
    `fix the network between ${host} and the other etcd members, port 2380: hyperkube etcd status`,
  ETCD_ALARM_SPACE: () => 'hyperkube etcd status -o wide',
  ETCD_ALARM_CORRUPT: rejoinCommand,
  PEERS_UNREACHABLE: (host) => `hyperkube logs kubelet --limit ${host}`,
  NODE_NOT_READY: (host) => `hyperkube logs kubelet --limit ${host}`,
  NODE_DISK_PRESSURE: (host) => `on ${host}: df -h, then free disk space`,
  NODE_MEMORY_PRESSURE: (host) => `on ${host}: ps -eo pid,rss,args --sort=-rss | head`,
  NODE_PID_PRESSURE: (host) => `on ${host}: ps -eo pid,nlwp,args --sort=-nlwp | head`,
  NODE_NETWORK_UNAVAILABLE: (host) => `hyperkube logs flanneld --limit ${host}`,
  NODE_LEASE_OLD: (host) => `hyperkube logs kubelet --limit ${host}`,
  RUNTIME_NOT_READY: (host) => `hyperkube logs containerd --limit ${host}`,
  RUNTIME_NO_NETWORK: (host) => `hyperkube logs flanneld containerd --limit ${host}`,
  SANDBOX_NOT_JOINED: (host) => `hyperkube logs flanneld containerd --limit ${host}`,
  OVERLAY_INTERFACE: (host) => `hyperkube logs flanneld --limit ${host}`,
  OVERLAY_ROUTES: (host) => `hyperkube logs flanneld --limit ${host}`,
  OVERLAY_SUBNET: (host) => `hyperkube logs flanneld --limit ${host}`,
  SERVICE_RULES: (host) => `hyperkube logs kube-proxy --limit ${host}`,
  POLICY_RULES: (host) => `hyperkube logs kube-router --limit ${host}`,
  POLICY_ACCESS: () => 'hyperkube up',
  API_NOT_READY: (host) => `hyperkube logs kube-apiserver --limit ${host}`,
  VIRTUAL_IP_UNREACHABLE: (host) => `hyperkube logs hyperkube-keepalived --limit ${host}`,
  API_UNREACHABLE: (host) => `hyperkube logs apiserver-proxy --limit ${host}`,
}

/** Summarizes a code in one sentence. The report prints the evidence below this sentence. */
export function summarizeCode(code: string, component: string): string {
  return summaries[code]?.(component) ?? `${component} is not healthy`
}

const summaries: Readonly<Record<string, (component: string) => string>> = {
  HEALTH_NOT_RUNNING: (name) => `${name} is not running`,
  HEALTH_NO_RESPONSE: (name) => `${name} runs, but does not answer`,
  HEALTH_CHECK_FAILED: (name) => `${name} reports that it is unhealthy`,
  RUNTIME_NOT_READY: () => 'the container runtime is not ready: no pod can start or stop',
  RUNTIME_NO_NETWORK: () => 'the container runtime has no pod network: no pod can start',
  OVERLAY_INTERFACE: () => 'the interface of the pod network is missing, down, or has a wrong address',
  OVERLAY_ROUTES: () => 'routes to the pods of other nodes are missing',
  OVERLAY_SUBNET: () => 'the subnet file does not match the pod network of the node',
  SERVICE_RULES: () => 'the packet filter has no rules for the services of the cluster',
  SANDBOX_NOT_JOINED: () => 'new pods cannot join the pod network',
  NODE_LEASE_OLD: () => 'the node has not renewed its lease in time',
  PEERS_UNREACHABLE: () => 'other nodes are unreachable from this one',
  DISK_SLOW: (name) => `the disk under ${name} is slow`,
  DISK_FULL: (name) => `the disk under ${name} is full`,
  CERTIFICATE_EXPIRED: (name) => `a certificate of ${name} has expired`,
  CERTIFICATE_DUE: (name) => `a certificate of ${name} expires soon and was not renewed`,
  CLOCK_OFF: () => 'the clock of the host is wrong',
  ETCD_NO_QUORUM: () => 'the etcd member has no quorum',
  API_NOT_READY: () => 'the API server is not ready',
  VIRTUAL_IP_UNREACHABLE: () => 'the virtual IP of the API does not respond',
  API_UNREACHABLE: () => 'the host cannot reach any API server',
  HEAL_EXHAUSTED: (name) => `${name} does not recover, and healing is exhausted`,
  HEAL_BUDGET_SPENT: (name) => `${name} is not healthy, and its agent has used its healing budget`,
  HEAL_NEEDS_OPERATOR: (name) => `${name} lacks resources that only an operator can repair`,
  ETCD_DATA_LOST: () => 'the data of the etcd member is lost',
  ETCD_DATA_DAMAGED: () => 'the data of the etcd member is damaged',
}
