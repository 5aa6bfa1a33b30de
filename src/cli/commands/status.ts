import { z } from 'zod'
import { isAddonDown } from '../../addons/addon-readiness.ts'
import {
  buildStatusDocument,
  isHostHealthy,
  type StatusReport,
} from '../../lifecycle/status/status-report.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { type CommandContext, type LeafCommand, exitCodes, type Invocation } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { formatClusterDetails, formatClusterLine } from '../status/cluster-text.ts'
import { showReportedStatus } from '../status/from-api.ts'
import { observeStatus } from '../status/observe-status.ts'
import { formatHostStatuses } from '../status/text.ts'
import { showRepeatedly } from '../status/watch.ts'

const flags = z.object({
  watch: z.boolean().default(false),
  fromApi: z.boolean().default(false),
  kubeconfig: z.string().optional(),
})

export const statusCommand: LeafCommand = {
  examples: [
    ['hyperkube status', 'show the health of all hosts and components; exit code 1 if unhealthy'],
    ['hyperkube status -o wide', 'include versions'],
    ['hyperkube status --watch', 'refresh every 5s until Ctrl-C'],
    ['hyperkube status --limit w2 -o json', 'print the status of one host as JSON'],
    [
      'hyperkube status --kubeconfig ~/.kube/config',
      'show the last reported status and its age, without SSH or cluster.yml',
    ],
    ['hyperkube doctor', 'diagnose problems and suggest fixes'],
  ],
  sharedFlags: ['file', 'key', 'limit', 'output'],
  configure(command) {
    command
      .option('--watch', 'refresh every 5s until Ctrl-C')
      .option('--from-api', 'read status from the API only, without SSH to hosts')
      .option('--kubeconfig <file>', 'read status from the API with this kubeconfig, without cluster.yml')
  },
  async run(context, invocation) {
    const { options } = invocation
    const { fromApi, kubeconfig, watch: isWatching } = flags.parse(options)
    if (fromApi || kubeconfig !== undefined) {
      return showReportedStatus(context, invocation, { kubeconfig, watch: isWatching })
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const show = async (stdout: CommandContext['stdout']): Promise<StatusReport> => {
      const observed = await observeStatus(context, options, cluster, identity)
      showStatus({ ...context, stdout }, options, cluster, observed)
      return observed
    }
    if (isWatching) return showRepeatedly(context, show)
    const { hosts, summary } = await show(context.stdout)
    if (hosts.length > 0 && hosts.every((host) => host.unreachable !== undefined))
      context.stderr.write(fromApiHint)
    const isHealthy = hosts.every(isHostHealthy) && !(summary.addons ?? []).some(isAddonDown)
    return isHealthy ? exitCodes.ok : exitCodes.failure
  },
}

const fromApiHint = 'no host is reachable by ssh; if the API is reachable: hyperkube status --from-api\n'

function showStatus(
  { stdout, paint, now }: CommandContext,
  { output }: Invocation['options'],
  { metadata: { name } }: Cluster,
  report: StatusReport,
): void {
  const { hosts, summary } = report
  printResult(stdout, output, buildStatusDocument(name, report), () => {
    const table = formatHostStatuses(hosts, { wide: output === 'wide', now: now() }, paint)
    const details = formatClusterDetails(summary)
    return `${formatClusterLine(name, summary, paint)}\n${table}${details === '' ? '' : `\n${details}`}`
  })
}
