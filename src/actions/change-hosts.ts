import { HyperkubeError } from '../kit/errors.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { deleteHost, insertHost, type NewHost } from '../workspace/hosts-edit.ts'
import { limitHosts } from '../workspace/limit-hosts.ts'
import { type ClusterFileChange, prepareFileChange } from './change-cluster-file.ts'

/**
 * A change of the hosts in cluster.yml. `previousHosts` are the hosts before the change. `up` uses them to
 * connect to removed hosts.
 */
export interface HostsChange extends ClusterFileChange {
  readonly previousHosts: readonly HostSpec[]
}

export interface HostsChangeDeps {
  readonly context: Pick<WorkspaceContext, 'readFile' | 'replaceFile'>
  /** Path of cluster.yml. */
  readonly file: string
  /** Contents of cluster.yml before the change. */
  readonly cluster: Cluster
}

/** Adds a host to cluster.yml. `up` then installs the host and adds it to the cluster. */
export async function addHost(deps: HostsChangeDeps, host: NewHost): Promise<HostsChange> {
  requireUnusedName(deps.cluster, host.name)
  return changeHosts(deps, (text) => insertHost(text, host))
}

/**
 * Removes a host from cluster.yml. `up` then removes the host from the cluster, even if the host is
 * unreachable.
 */
export async function removeHost(deps: HostsChangeDeps, name: string): Promise<HostsChange> {
  requireHost(deps.cluster, name)
  return changeHosts(deps, (text) => deleteHost(text, name))
}

/**
 * Replaces a host in cluster.yml. `up` then adds the new host before it removes the old host, unless the old
 * host is lost.
 */
export async function replaceHost(
  deps: HostsChangeDeps,
  name: string,
  replacement: Omit<NewHost, 'roles'>,
): Promise<HostsChange> {
  const { roles } = requireHost(deps.cluster, name)
  requireUnusedName(deps.cluster, replacement.name)
  return changeHosts(deps, (text) => insertHost(deleteHost(text, name), { ...replacement, roles }))
}

async function changeHosts(
  { context, file, cluster }: HostsChangeDeps,
  change: (text: string) => string,
): Promise<HostsChange> {
  return { ...(await prepareFileChange(context, file, change)), previousHosts: cluster.spec.hosts }
}

/** Finds a host in cluster.yml by name, and throws if it is unknown. */
function requireHost(cluster: Cluster, name: string): HostSpec {
  const [host] = limitHosts(cluster, [name])
  if (host === undefined) throw new Error('limitHosts returned no host')
  return host
}

/** Throws if cluster.yml already contains a host with this name. */
function requireUnusedName({ spec }: Cluster, name: string): void {
  if (spec.hosts.every((one) => one.name !== name)) return
  throw new HyperkubeError('HOST_KNOWN', `cluster.yml already has a host ${name}`, {
    hint: 'choose another name; to apply the host that is in cluster.yml: hyperkube up',
  })
}
