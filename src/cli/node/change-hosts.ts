import { HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Host } from '../../spec/host.ts'
import type { ExitCode } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { runChanged } from '../up/change-file.ts'
import type { NodeWish } from './action.ts'

/** Changes the hosts of a cluster.yml, and brings the cluster to it. */
export async function changeHosts(
  { context, options, cluster }: NodeWish,
  command: string,
  change: (text: string) => string,
): Promise<ExitCode> {
  return runChanged(context, options, change, async () => ({ command, former: cluster.spec.hosts }))
}

/** A host by its name in the file. */
export function knownHost(cluster: Cluster, name: string): Host {
  const [host] = limitHosts(cluster, [name])
  if (host === undefined) throw new Error('a name stands for no host')
  return host
}

/** Refuses a name that somebody has. */
export function requireNew({ spec }: Cluster, name: string): void {
  if (spec.hosts.every((one) => one.name !== name)) return
  throw new HyperkubeError('HOST_KNOWN', `cluster.yml has a host ${name} already`, {
    hint: 'hyperkube up brings it to what the file says',
  })
}
