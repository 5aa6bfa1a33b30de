import { prepareRejoin } from '../../actions/rejoin.ts'
import { joinNames } from '../../kit/text.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import { exitCodes } from '../command/command.ts'
import { runAction } from '../run/run-action.ts'
import { runUp } from '../up/run-up.ts'
import type { EtcdCommandAction } from './action.ts'

/**
 * Brings back a host whose etcd member has lost or damaged data. The host joins as a new member and gets all
 * data from the other members.
 */
export const rejoinEtcd: EtcdCommandAction = async ({ context, options, flags, cluster, name }) => {
  const members = listClusterEndpoints(cluster).filter(({ etcd }) => etcd)
  const endpoint = members.find(({ host }) => host === name)
  if (endpoint === undefined) {
    context.stderr.write(`USAGE: ${name ?? ''} is not an etcd host of cluster.yml\n`)
    context.stderr.write(
      `  → hyperkube etcd rejoin HOST, with one of ${joinNames(members.map(({ host }) => host))}\n`,
    )
    return exitCodes.usage
  }
  const command = `etcd rejoin ${endpoint.host}`
  const inputs = await loadClusterInputs(context, options, cluster)
  const settings = {
    command,
    cluster: cluster.metadata.name,
    progress: flags.progress,
  }
  const rejoinOptions = {
    files: options,
    forgetHostKeys: flags.forgetHostKey,
    host: endpoint.host,
    forceUnlock: flags.forceUnlock,
    dryRun: flags.dryRun,
  }
  const { code } = await runAction(context, options, settings, async (run) =>
    prepareRejoin(context, inputs, rejoinOptions, run),
  )
  if (code !== exitCodes.ok) return code
  return runUp(context, { ...options, yes: true }, { command, cluster, findings: [] })
}
