import { formatError, hasCode, HyperkubeError } from '../../kit/errors.ts'
import { joinNames } from '../../kit/text.ts'
import type { Gate } from '../../rollout/step.ts'
import type { EmitEvent } from '../agents/event-stream.ts'
import type { ClusterClient, NotReadyReason } from '../cluster-client/cluster-client.ts'
import { type GateClient, type GateOptions, passGate } from './gate.ts'

export interface HostToReturn {
  readonly name: string
  /** True if the host has an etcd member. */
  readonly isMember: boolean
  readonly isControlPlane: boolean
}

/** The return of one host to what another tool installed. */
export interface ReturnStep {
  readonly host: string
  readonly before: readonly Gate[]
  readonly after: readonly Gate[]
}

/** Which parts of an interrupted move do not respond. */
export interface ReturnState {
  /** Hosts whose etcd member is not healthy. */
  readonly brokenMembers: ReadonlySet<string>
  /** Hosts whose API server is not ready. */
  readonly brokenServers: ReadonlySet<string>
  /** False if no etcd member is healthy. A member needs the quorum to be healthy. */
  readonly hasQuorum: boolean
}

/**
 * Builds the steps in which hosts return, one after the other. Broken hosts come first: their move was interrupted,
 * and without them gates of other hosts may not pass. Hosts with a broken etcd member precede those whose member is
 * still needed for the quorum. Other hosts keep the given order. Without a quorum, members return without waiting
 * for each other, because none of them is healthy before a majority is. `runtime` is the container runtime of
 * the returned nodes, if hyperkube has replaced it by another.
 */
export function buildReturnSteps(
  hosts: readonly HostToReturn[],
  members: readonly string[],
  { brokenMembers, brokenServers, hasQuorum }: ReturnState,
  runtime?: string,
): readonly ReturnStep[] {
  const rank = ({ name }: HostToReturn): number =>
    brokenMembers.has(name) ? 0 : brokenServers.has(name) ? 1 : 2
  const ordered = hosts.toSorted((a, b) => rank(a) - rank(b))
  const together = hasQuorum ? [] : ordered.filter((host) => rank(host) === 0)
  return [
    ...together.map(({ name }, index): ReturnStep => {
      const isLast = index === together.length - 1
      return { host: name, before: [], after: isLast ? buildHealthGates(together, runtime) : [] }
    }),
    ...ordered
      .filter((host) => !together.includes(host))
      .map((host): ReturnStep => ({
        host: host.name,
        before:
          host.isMember && members.length > 1
            ? [{ kind: 'etcd-quorum-without', host: host.name, members }]
            : [],
        after: buildHealthGates([host], runtime),
      })),
  ]
}

/** Lists the hosts whose nodes are ready after a step. Hosts that return together are ready after the last of them. */
export function listReadyHosts({ after }: ReturnStep): readonly string[] {
  return after.flatMap((gate) => (gate.kind === 'nodes-ready' ? gate.hosts : []))
}

function buildHealthGates(hosts: readonly HostToReturn[], runtime: string | undefined): Gate[] {
  const listNames = (filter: (host: HostToReturn) => boolean): string[] =>
    hosts.filter(filter).map(({ name }) => name)
  const members = listNames(({ isMember }) => isMember)
  const controlPlanes = listNames(({ isControlPlane }) => isControlPlane)
  return [
    ...(members.length === 0 ? [] : [{ kind: 'etcd-healthy', members } as const]),
    ...(controlPlanes.length === 0 ? [] : [{ kind: 'api-ready', hosts: controlPlanes } as const]),
    {
      kind: 'nodes-ready',
      hosts: listNames(() => true),
      ...(runtime === undefined ? {} : { runtime }),
    },
  ]
}

/** Reads which etcd members and which API servers of the hosts do not respond. `members` are all etcd members. */
export async function readReturnState(
  hosts: readonly HostToReturn[],
  members: readonly string[],
  client: Pick<ClusterClient, 'etcdHealthy' | 'apiReady'>,
): Promise<ReturnState> {
  const servers = hosts.filter(({ isControlPlane }) => isControlPlane).map(({ name }) => name)
  const [brokenMembers, brokenServers] = await Promise.all([
    findBroken(members, async (name) => client.etcdHealthy([name])),
    findBroken(servers, async (name) => client.apiReady([name])),
  ])
  return { brokenMembers, brokenServers, hasQuorum: brokenMembers.size < members.length }
}

async function findBroken(
  names: readonly string[],
  check: (name: string) => Promise<NotReadyReason>,
): Promise<ReadonlySet<string>> {
  const reasons = await Promise.all(names.map(async (name) => check(name).catch(formatError)))
  return new Set(names.filter((_, index) => reasons[index] !== undefined))
}

/**
 * Lists hosts whose etcd member does not respond and which ssh does not reach. If they are lost for good, no other
 * of three members can return: etcd would lose its quorum.
 */
export function listLostMembers(
  { brokenMembers }: ReturnState,
  unreachable: Pick<ReadonlyMap<string, unknown>, 'has'>,
): readonly string[] {
  return [...brokenMembers].filter((host) => unreachable.has(host))
}

/**
 * Polls until the condition of a gate holds. If etcd has no quorum without the next host because of lost members, the
 * error tells how to remove them. Until the commit, `node remove` is refused.
 */
export async function passReturnGate(
  gate: Gate,
  client: GateClient,
  emit: EmitEvent,
  { lostMembers, ...options }: GateOptions & { readonly lostMembers: readonly string[] },
): Promise<void> {
  try {
    await passGate(gate, client, emit, options)
  } catch (error) {
    const isQuorumGate = gate.kind === 'etcd-quorum-without'
    if (!isQuorumGate || lostMembers.length === 0 || !hasCode(error, 'GATE_NOT_PASSED')) throw error
    const names = joinNames(lostMembers)
    throw new HyperkubeError(
      'ADOPT_MEMBER_LOST',
      `${gate.host} cannot return: etcd would lose its quorum, because ${names} ${lostMembers.length === 1 ? 'does' : 'do'} not respond`,
      {
        hint: `start ${names} and run the same command again. If lost for good: on a moved control plane run etcdctl member remove ID for ${names}, delete ${names} from cluster.yml, then run the same command again`,
        cause: error,
      },
    )
  }
}
