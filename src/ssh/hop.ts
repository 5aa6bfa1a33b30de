import { resolve } from 'node:path'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import type { ConfiguredHost } from './ssh-config.ts'

/** A machine that ssh logs in to: a bastion or the host itself. */
export interface Hop {
  /** Name under which the host key is pinned: the host name, or a generated name for a bastion. */
  readonly name: string
  /** Name of the machine in ~/.ssh/config. */
  readonly alias: string
  readonly address: string
  readonly port: number
  readonly user: string
  /** Key files, in the order in which they are offered. */
  readonly keys: readonly KeyFile[]
  /** True to offer only the configured keys, and no other keys of the ssh agent. */
  readonly onlyKeys: boolean
  /** Socket of an ssh agent that is used instead of the caller's ssh agent. False to use no ssh agent. */
  readonly agent?: string | false
  /**
   * Name of a setting in ~/.ssh/config that only the ssh program supports, for example ProxyCommand. The
   * setting is ignored for a machine that is reached through a bastion.
   */
  readonly programOnly?: string
  /** Host key that cluster.yml requires: a fingerprint or a public key. */
  readonly hostKey?: string
  /** Where known_hosts may list the machine; undefined to use no such file. */
  readonly knownHosts?: KnownHostsEntry
}

export interface KnownHostsEntry {
  /** Name of the machine in `files`, with the port if it is not 22. */
  readonly name: string
  readonly files: readonly string[]
}

export interface KeyFile {
  readonly path: string
  /**
   * Source of the path: cluster.yml (`settings`), ~/.ssh/config (`config`) or the defaults of ssh (`habit`).
   * Only a file from cluster.yml must exist.
   */
  readonly from: 'settings' | 'config' | 'habit'
}

/** The person who runs hyperkube. */
export interface SshOperator {
  readonly user: string
  readonly home: string
  /** Base directory of relative paths in cluster.yml. */
  readonly directory: string
}

/** Explicit settings of one machine. ~/.ssh/config and defaults provide the rest. */
export interface HopSpec extends Jump {
  readonly name?: string
  readonly key?: string | undefined
  /** An additional key to try, for a bastion without its own key. */
  readonly fallbackKey?: string | undefined
  readonly hostKey?: string | undefined
}

export function buildHop(spec: HopSpec, configured: ConfiguredHost, operator: SshOperator): Hop {
  const address = configured.hostName?.replaceAll(/%[h%]/g, (token) => (token === '%h' ? spec.alias : '%'))
  const port = spec.port ?? configured.port ?? 22
  const endpoint = {
    name: spec.name ?? bastionName(spec.alias, port),
    alias: spec.alias,
    address: address ?? spec.alias,
    port,
    user: spec.user ?? configured.user ?? operator.user,
  }
  const path = (text: string): string => expandPath(text, endpoint, operator)
  return {
    ...endpoint,
    ...resolveKeys(spec, configured, path),
    ...resolveAgent(configured.identityAgent, path),
    ...(configured.proxyCommand === undefined ? {} : { programOnly: 'ProxyCommand' }),
    ...(spec.hostKey === undefined ? {} : { hostKey: spec.hostKey }),
    knownHosts: {
      name: configured.hostKeyAlias?.toLowerCase() ?? formatKnownHostsName(endpoint),
      files: listKnownHostsFiles(configured).map(path),
    },
  }
}

/** Formats the name of a machine as ssh writes it to known_hosts. */
function formatKnownHostsName({ address, port }: Pick<Hop, 'address' | 'port'>): string {
  const name = address.toLowerCase()
  return port === 22 ? name : `[${name}]:${port}`
}

function listKnownHostsFiles({
  userKnownHostsFiles = ['~/.ssh/known_hosts', '~/.ssh/known_hosts2'],
  globalKnownHostsFiles = ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2'],
}: ConfiguredHost): readonly string[] {
  return [...userKnownHostsFiles, ...globalKnownHostsFiles].filter((file) => file.toLowerCase() !== 'none')
}

function resolveKeys(
  { key, fallbackKey }: HopSpec,
  { identityFiles, identitiesOnly }: ConfiguredHost,
  path: (text: string) => string,
): Pick<Hop, 'keys' | 'onlyKeys'> {
  if (key !== undefined) return { keys: [{ path: path(key), from: 'settings' }], onlyKeys: true }
  const named = identityFiles.map((file) => ({ file, from: 'config' as const }))
  const also = fallbackKey === undefined ? [] : [{ file: fallbackKey, from: 'config' as const }]
  const defaults = named.length > 0 ? [] : defaultKeyFiles.map((file) => ({ file, from: 'habit' as const }))
  const keys = [...named, ...also, ...defaults].filter(({ file }) => file !== 'none')
  return { keys: keys.map(({ file, from }) => ({ path: path(file), from })), onlyKeys: identitiesOnly }
}

/** Key files to try if no key is configured. ssh itself has more default files. */
const defaultKeyFiles = ['~/.ssh/id_ed25519', '~/.ssh/id_ecdsa', '~/.ssh/id_rsa']

function resolveAgent(setting: string | undefined, path: (text: string) => string): Pick<Hop, 'agent'> {
  if (setting === undefined || /^SSH_AUTH_SOCK$/.test(setting)) return {}
  return { agent: setting === 'none' ? false : path(setting) }
}

function expandPath(
  text: string,
  endpoint: Pick<Hop, 'alias' | 'address' | 'port' | 'user'>,
  operator: SshOperator,
): string {
  const tokens: Readonly<Record<string, string>> = {
    '%%': '%',
    '%d': operator.home,
    '%h': endpoint.address,
    '%n': endpoint.alias,
    '%p': String(endpoint.port),
    '%r': endpoint.user,
    '%u': operator.user,
  }
  const expanded = text.replaceAll(/%[%a-z]/gi, (token) => tokens[token] ?? token)
  return resolve(
    operator.directory,
    expanded.replace(/^~(?=[/\\]|$)/, () => operator.home),
  )
}

/**
 * Returns the name under which a bastion's host key is pinned. It contains the port, because another port may
 * be another machine.
 */
function bastionName(alias: string, port: number): string {
  const plain = alias
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
  return port === 22 ? plain : `${plain}-${port}`
}

/** A machine on the way to a host, as in ProxyJump. */
interface Jump {
  readonly alias: string
  readonly user?: string | undefined
  readonly port?: number | undefined
}

/** Parses ProxyJump: a comma-separated list of [user@]host[:port] or ssh://[user@]host[:port]. */
export function parseJumps({ proxyJump }: { readonly proxyJump?: string | undefined }): readonly Jump[] {
  if (proxyJump === undefined || proxyJump.toLowerCase() === 'none') return []
  return proxyJump.split(',').map((text) => parseJump(text.trim()))
}

function parseJump(text: string): Jump {
  const plain = text.replace(/^ssh:\/\//, '').replace(/\/$/, '')
  const { user, bracketed, name, port } = form.exec(plain)?.groups ?? {}
  const alias = bracketed ?? name
  if (alias === undefined) {
    const message = `ProxyJump in ~/.ssh/config has an invalid host: "${toPrintable(text)}"`
    throw new HyperkubeError('SSH_CONFIG_NOT_READ', message, {
      hint: 'write the host as user@host:port, and an IPv6 address in brackets',
    })
  }
  return {
    alias,
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
  }
}

/** Pattern of one ProxyJump entry. An IPv6 address without brackets cannot have a port. */
const form =
  /^(?:(?<user>[^@]+)@)?(?:\[(?<bracketed>[0-9a-fA-F:.%]+)\]|(?<name>[^\s@:[\]]+|[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*))(?::(?<port>\d{1,5}))?$/
