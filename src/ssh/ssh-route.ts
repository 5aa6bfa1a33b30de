import { HyperkubeError } from '../kit/errors.ts'
import { hopTo, type Wish } from './hop.ts'
import { parseJumps } from './jump.ts'
import type { SshConfig } from './ssh-config.ts'

/** A machine that ssh logs in to: one on the way, or the host at its end. */
export interface Hop {
  /** What its key is pinned under: the name of a host, or one that is made for a machine on the way. */
  readonly name: string
  /** What the operator calls it: the name by which ~/.ssh/config knows it. */
  readonly alias: string
  readonly address: string
  readonly port: number
  readonly user: string
  /** To be offered in this order. */
  readonly keys: readonly KeyFile[]
  /** No other keys, though the agent may hold some. */
  readonly onlyKeys: boolean
  /** The socket of another agent than the caller's; false is none at all. */
  readonly agent?: string | false
  /** A setting of ~/.ssh/config that only the ssh program can follow; behind a bastion nobody has to. */
  readonly programOnly?: string
}

export interface KeyFile {
  readonly path: string
  /** Who says so: cluster.yml, ~/.ssh/config, or nobody. Only the first has to be right. */
  readonly from: 'settings' | 'config' | 'habit'
}

/** What a host is reached by. */
export interface Reach extends Hop {
  /** To go through, in this order. */
  readonly bastions: readonly Hop[]
}

/** The `ssh` of cluster.yml. */
export interface SshSettings {
  readonly user?: string | undefined
  readonly port?: number | undefined
  readonly key?: string | undefined
  readonly bastion?: BastionSettings | undefined
}

interface BastionSettings {
  readonly address: string
  readonly user?: string | undefined
  readonly port?: number | undefined
  readonly key?: string | undefined
}

export interface ReachableHost {
  readonly name: string
  readonly address: string
  readonly ssh?: SshSettings | undefined
}

/** Who asks, and from where. */
export interface Operator {
  readonly user: string
  readonly home: string
  /** Where paths in cluster.yml begin: its own directory. */
  readonly directory: string
}

/** What a host's own settings leave out comes from the cluster's, then from ~/.ssh/config, then from ssh's own habits. */
export function resolveReach(
  host: ReachableHost,
  cluster: SshSettings,
  config: SshConfig,
  operator: Operator,
): Reach {
  const { ssh = {} } = host
  const wish: Wish = {
    name: host.name,
    alias: host.address,
    user: ssh.user ?? cluster.user,
    port: ssh.port ?? cluster.port,
    key: ssh.key ?? cluster.key,
  }
  const bastion = ssh.bastion ?? cluster.bastion
  const jumps = bastion === undefined ? undefined : [{ ...bastion, alias: bastion.address, spare: wish.key }]
  const bastions = bastionsOf(wish, jumps, { config, operator, seen: [] })
  return { ...hopTo(wish, config.lookup(wish.alias), operator), bastions }
}

interface Surroundings {
  readonly config: SshConfig
  readonly operator: Operator
  readonly seen: readonly string[]
}

function bastionsOf(wish: Wish, given: readonly Wish[] | undefined, around: Surroundings): readonly Hop[] {
  const { config, operator, seen } = around
  if (seen.includes(wish.alias)) throw jumpLoop([...seen, wish.alias])
  const [first, ...rest] = given ?? parseJumps(config.lookup(wish.alias))
  if (first === undefined) return []
  // Of several only the first is reached by a jump of its own, as ssh does it: the others have theirs before them.
  const before = bastionsOf(first, undefined, { config, operator, seen: [...seen, wish.alias] })
  return [...before, ...[first, ...rest].map((jump) => hopTo(jump, config.lookup(jump.alias), operator))]
}

function jumpLoop(names: readonly string[]): HyperkubeError {
  const way = names.join(', then ')
  return new HyperkubeError('SSH_CONFIG_NOT_READ', `ProxyJump in ~/.ssh/config goes in a circle: ${way}`, {
    hint: `ssh -G ${names[0] ?? ''} | grep -i proxyjump shows what it says`,
  })
}
