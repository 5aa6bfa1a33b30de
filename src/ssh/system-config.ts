import type { Keepalive } from './options.ts'
import type { Hop } from './hop.ts'

export interface SystemConfig {
  /** All machines on the route. The host is the last one. */
  readonly hops: readonly Hop[]
  /** Socket of the ssh agent; undefined to use no agent. */
  readonly agent: string | undefined
  readonly timeout: number
  readonly keepalive: Keepalive
  /** File with the verified host keys. Other host keys are not accepted. */
  readonly knownHosts: string
  /** Name of each machine in the file `knownHosts`. */
  readonly aliases: readonly string[]
  /** Control socket of the shared connection. */
  readonly control: string
  /** The operator's own ~/.ssh/config, for settings that hyperkube does not set. */
  readonly include?: string | undefined
}

/**
 * Builds the configuration file of the ssh program. Command-line options are not enough: ssh starts another
 * process for each bastion and does not pass options on. If a setting occurs twice, ssh uses the first value.
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
      `  HostKeyAlias ${config.aliases[index] ?? 'none'}`,
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
  // IgnoreUnknown is needed because older ssh programs do not support KnownHostsCommand and would fail.
  return ['IgnoreUnknown KnownHostsCommand', ...blocks.flat(), ...globalBlock, ...included, ''].join('\n')
}

/**
 * Builds the IdentityFile lines of a machine. Without a configured key the result is empty: ssh then tries
 * all its default files, of which hyperkube knows only some.
 */
function identityFiles({ keys }: Hop): string[] {
  if (keys.every(({ from }) => from === 'habit')) return []
  return keys.map(({ path }) => `  IdentityFile ${quotePath(path)}`)
}

/**
 * Returns the name of a machine for the ssh program. The operator's alias is used if it is unique and valid,
 * because ~/.ssh/config may contain settings for this alias.
 */
export function hopName(hops: readonly Hop[], index: number): string {
  const alias = hops[index]?.alias ?? ''
  const isUnique = hops.filter((hop) => hop.alias === alias).length === 1
  return isUnique && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(alias) ? alias : `hyperkube-hop-${index}`
}

/**
 * Returns the name of a machine in the known_hosts file. The name does not depend on address and port, except
 * if a host certificate is accepted: ssh compares the names in the certificate with this name.
 */
export function chooseHostKeyAlias({ address }: Hop, index: number, usesCertificate: boolean): string {
  return usesCertificate ? address.toLowerCase() : `hyperkube-hop-${index}`
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

function quoteValue(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
}

/** Quotes a path and escapes %, because ssh expands % in paths. */
function quotePath(text: string): string {
  return quoteValue(text.replaceAll('%', '%%'))
}
