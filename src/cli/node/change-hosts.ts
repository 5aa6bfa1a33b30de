import { HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { ExitCode } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { changeFileAndRunUp } from '../up/change-file.ts'
import type { NodeInvocation } from './action.ts'

/** Changes the hosts in cluster.yml and runs `up`. */
export async function changeHosts(
  { context, options, cluster }: NodeInvocation,
  command: string,
  change: (text: string) => string,
): Promise<ExitCode> {
  return changeFileAndRunUp(context, options, change, async () => ({
    command,
    previousHosts: cluster.spec.hosts,
  }))
}

/** Finds a host in cluster.yml by name, and throws if it is unknown. */
export function requireHost(cluster: Cluster, name: string): HostSpec {
  const [host] = limitHosts(cluster, [name])
  if (host === undefined) throw new Error('a name stands for no host')
  return host
}

/** Throws if another host already has this name. */
export function requireUnusedName({ spec }: Cluster, name: string): void {
  if (spec.hosts.every((one) => one.name !== name)) return
  throw new HyperkubeError('HOST_KNOWN', `cluster.yml has a host ${name} already`, {
    hint: 'hyperkube up brings it to what the file says',
  })
}
