import { settleAll } from '../../kit/concurrency.ts'
import { formatError } from '../../kit/errors.ts'
import type { Gate } from '../../rollout/step.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'

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
  /** Hosts that `after` checks. */
  readonly checked: readonly string[]
}

/**
 * Builds the steps in which hosts return, one after the other and in the given order. Broken hosts come first:
 * their move was interrupted, and without them no gate of another host can pass. They return without waiting for
 * each other, because none of their etcd members is healthy before a majority is.
 */
export function buildReturnSteps(
  hosts: readonly HostToReturn[],
  members: readonly string[],
  broken: ReadonlySet<string>,
): readonly ReturnStep[] {
  const first = hosts.filter(({ name }) => broken.has(name))
  return [
    ...first.map(({ name }, index): ReturnStep => {
      const isLast = index === first.length - 1
      return {
        host: name,
        before: [],
        after: isLast ? buildHealthGates(first) : [],
        checked: isLast ? first.map((one) => one.name) : [],
      }
    }),
    ...hosts
      .filter(({ name }) => !broken.has(name))
      .map((host): ReturnStep => ({
        host: host.name,
        before:
          host.isMember && members.length > 1
            ? [{ kind: 'etcd-quorum-without', host: host.name, members }]
            : [],
        after: buildHealthGates([host]),
        checked: [host.name],
      })),
  ]
}

function buildHealthGates(hosts: readonly HostToReturn[]): Gate[] {
  const listNames = (filter: (host: HostToReturn) => boolean): string[] =>
    hosts.filter(filter).map(({ name }) => name)
  const members = listNames(({ isMember }) => isMember)
  const controlPlanes = listNames(({ isControlPlane }) => isControlPlane)
  return [
    ...(members.length === 0 ? [] : [{ kind: 'etcd-healthy', members } as const]),
    ...(controlPlanes.length === 0 ? [] : [{ kind: 'api-ready', hosts: controlPlanes } as const]),
    { kind: 'nodes-ready', hosts: listNames(() => true) },
  ]
}

/** Finds hosts whose etcd member or API server does not respond. */
export async function findBrokenHosts(
  hosts: readonly HostToReturn[],
  client: Pick<ClusterClient, 'etcdHealthy' | 'apiReady'>,
): Promise<ReadonlySet<string>> {
  const broken = await settleAll(
    hosts.map(async ({ name, isMember, isControlPlane }) => {
      const reasons = await Promise.all([
        isMember ? client.etcdHealthy([name]).catch(formatError) : undefined,
        isControlPlane ? client.apiReady([name]).catch(formatError) : undefined,
      ])
      return reasons.some((reason) => reason !== undefined) ? [name] : []
    }),
  )
  return new Set(broken.flat())
}
