import { resolve } from 'node:path'
import type { Jump } from './jump.ts'
import type { Hop, Operator } from './ssh-route.ts'
import type { ConfiguredHost } from './ssh-config.ts'

/** What is asked for of one machine, before ~/.ssh/config and habits fill it up. */
export interface Wish extends Jump {
  readonly name?: string
  readonly key?: string | undefined
  /** A key that may fit as well, for a bastion without one of its own. */
  readonly spare?: string | undefined
}

export function hopTo(wish: Wish, configured: ConfiguredHost, operator: Operator): Hop {
  const address = configured.hostName?.replaceAll(/%[h%]/g, (token) => (token === '%h' ? wish.alias : '%'))
  const port = wish.port ?? configured.port ?? 22
  const at = {
    name: wish.name ?? bastionName(wish.alias, port),
    alias: wish.alias,
    address: address ?? wish.alias,
    port,
    user: wish.user ?? configured.user ?? operator.user,
  }
  const path = (text: string): string => absolute(text, at, operator)
  return {
    ...at,
    ...keysOf(wish, configured, path),
    ...agentOf(configured.identityAgent, path),
    ...(configured.proxyCommand === undefined ? {} : { programOnly: 'ProxyCommand' }),
  }
}

function keysOf(
  { key, spare }: Wish,
  { identityFiles, identitiesOnly }: ConfiguredHost,
  path: (text: string) => string,
): Pick<Hop, 'keys' | 'onlyKeys'> {
  if (key !== undefined) return { keys: [{ path: path(key), from: 'settings' }], onlyKeys: true }
  const named = identityFiles.map((file) => ({ file, from: 'config' as const }))
  const also = spare === undefined ? [] : [{ file: spare, from: 'config' as const }]
  const usual = named.length > 0 ? [] : habitual.map((file) => ({ file, from: 'habit' as const }))
  const keys = [...named, ...also, ...usual].filter(({ file }) => file !== 'none')
  return { keys: keys.map(({ file, from }) => ({ path: path(file), from })), onlyKeys: identitiesOnly }
}

/** Where ssh looks by itself. */
const habitual = ['~/.ssh/id_ed25519', '~/.ssh/id_ecdsa', '~/.ssh/id_rsa']

function agentOf(setting: string | undefined, path: (text: string) => string): Pick<Hop, 'agent'> {
  if (setting === undefined || /^SSH_AUTH_SOCK$/.test(setting)) return {}
  return { agent: setting === 'none' ? false : path(setting) }
}

function absolute(
  text: string,
  at: Pick<Hop, 'alias' | 'address' | 'port' | 'user'>,
  operator: Operator,
): string {
  const tokens: Readonly<Record<string, string>> = {
    '%%': '%',
    '%d': operator.home,
    '%h': at.address,
    '%n': at.alias,
    '%p': String(at.port),
    '%r': at.user,
    '%u': operator.user,
  }
  const expanded = text.replaceAll(/%[%a-z]/gi, (token) => tokens[token] ?? token)
  return resolve(
    operator.directory,
    expanded.replace(/^~(?=[/\\]|$)/, () => operator.home),
  )
}

/** Fit to be pinned, as the names of hosts are; another port may be another machine. */
function bastionName(alias: string, port: number): string {
  const plain = alias
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
  return port === 22 ? plain : `${plain}-${port}`
}
