import { HyperkubeError } from '../kit/errors.ts'
import { buildHop, type Hop, type HopSpec, parseJumps, type SshOperator } from './hop.ts'
import type { SshConfig } from './ssh-config.ts'

/** Route to a host: the host itself and its bastions. */
export interface SshRoute extends Hop {
  /** Bastions in the order in which a connection passes them. */
  readonly bastions: readonly Hop[]
}

/** The `ssh` section in cluster.yml. */
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
  readonly hostKey?: string | undefined
}

export interface SshHost {
  readonly name: string
  readonly address: string
  readonly ssh?: (SshSettings & { readonly hostKey?: string | undefined }) | undefined
}

/**
 * Resolves the route to a host. Precedence: settings of the host, settings of the cluster, ~/.ssh/config,
 * defaults of ssh.
 */
export function resolveSshRoute(
  host: SshHost,
  cluster: SshSettings,
  config: SshConfig,
  operator: SshOperator,
): SshRoute {
  const { ssh = {} } = host
  const spec: HopSpec = {
    name: host.name,
    alias: host.address,
    user: ssh.user ?? cluster.user,
    port: ssh.port ?? cluster.port,
    key: ssh.key ?? cluster.key,
    hostKey: ssh.hostKey,
  }
  const bastion = ssh.bastion ?? cluster.bastion
  const jumps =
    bastion === undefined ? undefined : [{ ...bastion, alias: bastion.address, fallbackKey: spec.key }]
  const bastions = resolveBastions(spec, jumps, { config, operator, visited: [] })
  return { ...buildHop(spec, config.lookup(spec.alias), operator), bastions }
}

interface RouteContext {
  readonly config: SshConfig
  readonly operator: SshOperator
  readonly visited: readonly string[]
}

function resolveBastions(
  spec: HopSpec,
  explicitJumps: readonly HopSpec[] | undefined,
  context: RouteContext,
): readonly Hop[] {
  const { config, operator, visited } = context
  if (visited.includes(spec.alias)) throw buildJumpLoopError([...visited, spec.alias])
  const [first, ...rest] = explicitJumps ?? parseJumps(config.lookup(spec.alias))
  if (first === undefined) return []
  // As in ssh, only the first of several jumps uses its own ProxyJump. Each of the others is reached through
  // the previous jump.
  const before = resolveBastions(first, undefined, { config, operator, visited: [...visited, spec.alias] })
  return [...before, ...[first, ...rest].map((jump) => buildHop(jump, config.lookup(jump.alias), operator))]
}

function buildJumpLoopError(names: readonly string[]): HyperkubeError {
  const chain = names.join(', then ')
  return new HyperkubeError('SSH_CONFIG_NOT_READ', `ProxyJump in ~/.ssh/config is circular: ${chain}`, {
    hint: `check the setting: ssh -G ${names[0] ?? ''} | grep -i proxyjump`,
  })
}
