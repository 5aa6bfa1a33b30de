import type { Keepalive } from './options.ts'
import type { Hop } from './ssh-route.ts'

export interface SystemConfig {
  /** The way, the host last. */
  readonly hops: readonly Hop[]
  /** The socket of the agent; undefined is none. */
  readonly agent: string | undefined
  readonly timeout: number
  readonly keepalive: Keepalive
  /** Keys that were verified; no other is taken. */
  readonly knownHosts: string
  /** Socket of the connection that all programs on the host share. */
  readonly control: string
  /** The operator's own file: what it says where we say nothing holds. */
  readonly include?: string | undefined
}

/**
 * The settings of the ssh program. In a file, because a machine on the way is reached by an ssh of its own, which is told
 * nothing of what stands on the command line. Of a setting that stands twice, ssh takes the first.
 */
export function systemConfig(config: SystemConfig): string {
  const { hops, agent, timeout, keepalive } = config
  const blocks = hops.map((hop, index) => {
    const last = index === hops.length - 1
    const socket = hop.agent ?? agent ?? false
    return [
      `Host ${nameIn(hops, index)}`,
      `  HostName ${hop.address}`,
      `  Port ${hop.port}`,
      `  User ${quoted(hop.user)}`,
      `  HostKeyAlias ${keyAlias(index)}`,
      ...identityFiles(hop),
      ...(hop.onlyKeys ? ['  IdentitiesOnly yes'] : []),
      `  IdentityAgent ${socket === false ? 'none' : pathText(socket)}`,
      ...(index > 0 ? [`  ProxyJump ${nameIn(hops, index - 1)}`] : []),
      `  ControlPath ${last ? pathText(config.control) : 'none'}`,
    ]
  })
  const all = [
    'Host *',
    '  BatchMode yes',
    '  StrictHostKeyChecking yes',
    `  UserKnownHostsFile ${pathText(config.knownHosts)}`,
    '  GlobalKnownHostsFile /dev/null',
    '  KnownHostsCommand none',
    '  VerifyHostKeyDNS no',
    '  UpdateHostKeys no',
    '  CheckHostIP no',
    '  HashKnownHosts no',
    '  ControlMaster no',
    '  ControlPersist no',
    '  ForwardAgent no',
    '  ForwardX11 no',
    '  ClearAllForwardings yes',
    '  PermitLocalCommand no',
    '  RemoteCommand none',
    '  RequestTTY no',
    '  Tunnel no',
    '  LogLevel VERBOSE',
    '  ConnectionAttempts 1',
    `  ConnectTimeout ${seconds(timeout)}`,
    `  ServerAliveInterval ${seconds(keepalive.interval)}`,
    `  ServerAliveCountMax ${keepalive.count}`,
  ]
  const own = config.include === undefined ? [] : ['Match all', `  Include ${quoted(config.include)}`]
  // Older programs do not know this one, and would not start.
  return ['IgnoreUnknown KnownHostsCommand', ...blocks.flat(), ...all, ...own, ''].join('\n')
}

/** Where nobody names any, ssh has more habits than we. */
function identityFiles({ keys }: Hop): string[] {
  if (keys.every(({ from }) => from === 'habit')) return []
  return keys.map(({ path }) => `  IdentityFile ${pathText(path)}`)
}

/** What the program is to be told: the name under which the operator's own settings know a machine, where that can be. */
export function nameIn(hops: readonly Hop[], index: number): string {
  const alias = hops[index]?.alias ?? ''
  const alone = hops.filter((hop) => hop.alias === alias).length === 1
  return alone && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(alias) ? alias : `hyperkube-hop-${index}`
}

/** Under which name a machine's key stands in the file of known ones, whatever its address and port. */
export function keyAlias(index: number): string {
  return `hyperkube-hop-${index}`
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
}

/** In paths ssh looks for its own signs. */
function pathText(text: string): string {
  return quoted(text.replaceAll('%', '%%'))
}
