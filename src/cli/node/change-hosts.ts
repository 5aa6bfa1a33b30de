import { HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Host } from '../../spec/host.ts'
import { readCluster } from '../../spec/read.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { limitHosts } from '../limit.ts'
import { catalogRules } from '../load-cluster.ts'
import { findingsText } from '../print.ts'
import { runUp } from '../up/run-up.ts'
import type { NodeWish } from './action.ts'

/**
 * Changes the hosts of a cluster.yml and brings the cluster to it, as if a person had edited the file and typed up. The
 * file is written once that was agreed to, so that whoever goes on after an interruption finds the wish in it.
 */
export async function changeHosts(
  { context, options, cluster }: NodeWish,
  command: string,
  change: (text: string) => string,
): Promise<ExitCode> {
  const { file } = options
  const text = change(await context.readFile(file))
  const changed = readCluster({ file, text }, catalogRules)
  if (changed.cluster === undefined) {
    context.stderr.write(findingsText(changed.findings))
    context.stderr.write(`nothing was done, and ${file} is as it was\n`)
    return exitCodes.failure
  }
  return runUp(context, options, {
    command,
    cluster: changed.cluster,
    findings: changed.findings,
    former: cluster.spec.hosts,
    keep: async () => context.replaceFile(file, text, 0o644),
  })
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
