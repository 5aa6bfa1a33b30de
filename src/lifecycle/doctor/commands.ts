interface About {
  readonly code: string
  readonly host?: string | undefined
  readonly component?: string | undefined
  /** What the host runs, where that is not Linux. */
  readonly os?: 'windows' | undefined
}

/** The one thing to type, or to do where no command does it. */
export function commandFor({ code, host = 'HOST', component = 'COMPONENT', os }: About): string {
  const there = os === 'windows' ? onWindows[code] : undefined
  return (there ?? commands[code] ?? seeLogs)(host, component)
}

type Command = (host: string, component: string) => string

const seeLogs: Command = (host, component) => `hyperkube logs ${component} --limit ${host}`
const putBack: Command = (host) => `hyperkube up --limit ${host}`
const renew: Command = (host) => `hyperkube certs renew ${host}`
/** A member that has lost its memory comes back as a new one, and learns from the others. */
const rejoin: Command = (host) => `hyperkube etcd rejoin ${host}`

/** Where Windows has other words for it. */
const onWindows: Readonly<Record<string, Command>> = {
  AGENT_SILENT: (host) => `on ${host}: Restart-Service hyperkube-agent`,
  DISK_FULL: (host) => `on ${host}: Get-Volume, and make room`,
  DISK_SLOW: (host) =>
    `on ${host}: Get-Counter '\\PhysicalDisk(*)\\% Disk Time', and find who else writes there`,
  CLOCK_OFF: (host) => `on ${host}: w32tm /query /status`,
}

const commands: Readonly<Record<string, Command>> = {
  ETCD_QUORUM_LOST: () => 'hyperkube etcd status; if members are lost for good: hyperkube etcd recover',
  API_DOWN: () => 'hyperkube logs kube-apiserver --since 10m',
  HOST_AWAY: (host) =>
    `switch ${host} on, or mend the way to it; if it is lost for good: hyperkube node remove ${host}`,
  HOST_CUT_OFF: (host) =>
    `mend the network or the firewall between ${host} and the other hosts: hyperkube logs flanneld --limit ${host}`,
  AGENT_SILENT: (host) => `on ${host}: systemctl restart hyperkube-agent`,
  AGENT_NO_HEALTH: () => 'hyperkube up',
  DISK_FULL: (host) => `on ${host}: df -h, and make room`,
  DISK_SLOW: (host) => `on ${host}: iostat -x 5, and find who else writes there`,
  CLOCK_OFF: (host) => `on ${host}: timedatectl`,
  CERTIFICATE_EXPIRED: renew,
  CERTIFICATE_DUE: renew,
  HEAL_NEEDS_OPERATOR: putBack,
  HEAL_PAUSED: (host) => `hyperkube heal resume ${host}`,
  SERVICE_DRIFT: putBack,
  ETCD_DATA_LOST: rejoin,
  ETCD_DATA_DAMAGED: rejoin,
  ETCD_NO_QUORUM: (host) =>
    `mend the way between ${host} and the other members of etcd, port 2380: hyperkube etcd status`,
  ETCD_ALARM_SPACE: () => 'hyperkube etcd status -o wide',
  ETCD_ALARM_CORRUPT: rejoin,
  NEIGHBOURS_SILENT: (host) => `hyperkube logs kubelet --limit ${host}`,
  NODE_NOT_READY: (host) => `hyperkube logs kubelet --limit ${host}`,
  NODE_LEASE_OLD: (host) => `hyperkube logs kubelet --limit ${host}`,
  RUNTIME_NOT_READY: (host) => `hyperkube logs containerd --limit ${host}`,
  RUNTIME_NO_NETWORK: (host) => `hyperkube logs flanneld containerd --limit ${host}`,
  SANDBOX_NOT_JOINED: (host) => `hyperkube logs flanneld containerd --limit ${host}`,
  OVERLAY_INTERFACE: (host) => `hyperkube logs flanneld --limit ${host}`,
  OVERLAY_ROUTES: (host) => `hyperkube logs flanneld --limit ${host}`,
  OVERLAY_SUBNET: (host) => `hyperkube logs flanneld --limit ${host}`,
  SERVICE_RULES: (host) => `hyperkube logs kube-proxy --limit ${host}`,
  API_NOT_READY: (host) => `hyperkube logs kube-apiserver --limit ${host}`,
  API_NOT_REACHED: (host) => `hyperkube logs apiserver-proxy --limit ${host}`,
}
