import type { Keepalive } from './options.ts'
import type { Hop } from './hop.ts'

export interface SystemConfig {
  /** The route; the host is the last one. */
  readonly hops: readonly Hop[]
  /** Socket of the agent; undefined for none. */
  readonly agent: string | undefined
  readonly timeout: number
  readonly keepalive: Keepalive
  /** File of verified host keys; no others are accepted. */
  readonly knownHosts: string
  /** Control socket of the shared connection. */
  readonly control: string
  /** The operator's own file, for settings that we do not set. */
  readonly include?: string | undefined
}

/**
 * Builds the configuration of the ssh program. It must be a file, because ssh starts another ssh for each
 * bastion, without our command line options. ssh uses the first value of a setting.
 */
export function buildSystemConfig(config: SystemConfig): string {
  const { hops, agent, timeout, keepalive } = config
  const blocks = hops.map((hop, index) => {
    const last = index === hops.length - 1
    const socket = hop.agent ?? agent ?? false
    return [
      `Host ${hopName(hops, index)}`,
      `  HostName ${hop.address}`,
      `  Port ${hop.port}`,
      `  User ${quoteValue(hop.user)}`,
      `  HostKeyAlias ${hostKeyAlias(index)}`,
      ...identityFiles(hop),
      ...(hop.onlyKeys ? ['  IdentitiesOnly yes'] : []),
      `  IdentityAgent ${socket === false ? 'none' : quotePath(socket)}`,
      ...(index > 0 ? [`  ProxyJump ${hopName(hops, index - 1)}`] : []),
      `  ControlPath ${last ? quotePath(config.control) : 'none'}`,
    ]
  })
  const globalBlock = [
    'Host *',
    '  BatchMode yes',
    '  StrictHostKeyChecking yes',
    `  UserKnownHostsFile ${quotePath(config.knownHosts)}`,
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
  const included =
    config.include === undefined ? [] : ['Match all', `  Include ${quoteValue(config.include)}`]
  // Older ssh programs do not know this setting and would fail.
  return ['IgnoreUnknown KnownHostsCommand', ...blocks.flat(), ...globalBlock, ...included, ''].join('\n')
}

/** Without configured keys, the defaults of ssh cover more than ours. */
function identityFiles({ keys }: Hop): string[] {
  if (keys.every(({ from }) => from === 'habit')) return []
  return keys.map(({ path }) => `  IdentityFile ${quotePath(path)}`)
}

/**
 * Host name for the ssh program: the alias that the operator's configuration knows, if it is usable and
 * unique.
 */
export function hopName(hops: readonly Hop[], index: number): string {
  const alias = hops[index]?.alias ?? ''
  const isUnique = hops.filter((hop) => hop.alias === alias).length === 1
  return isUnique && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(alias) ? alias : `hyperkube-hop-${index}`
}

/** Name of a machine in the known_hosts file, independent of its address and port. */
export function hostKeyAlias(index: number): string {
  return `hyperkube-hop-${index}`
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

function quoteValue(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
}

/** ssh expands % in paths. */
function quotePath(text: string): string {
  return quoteValue(text.replaceAll('%', '%%'))
}
