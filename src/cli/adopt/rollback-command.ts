import { Argument } from 'commander'
import { z } from 'zod'
import { listRemovalCommands } from '../../actions/phases/desired-objects.ts'
import { rollbackAdoption } from '../../actions/rollback-adoption.ts'
import { joinNames } from '../../kit/text.ts'
import { buildPlanDocument, type PlannedChanges } from '../../lifecycle/proposal/plan-approval.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadResetInputs } from '../../workspace/load-inputs.ts'
import { exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { addRunFlags, runFlags } from '../command/run-flags.ts'
import { runAction } from '../run/run-action.ts'
import { resultNames } from '../run/run-with-progress.ts'

const flags = runFlags.extend({
  forceUnlock: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  drain: z.boolean().default(true),
})

export const rollbackAdoptionCommand: LeafCommand = {
  examples: [
    ['hyperkube adopt rollback --dry-run', 'show what would be removed from each host'],
    [
      'hyperkube adopt rollback',
      'prompt, then return all hosts to kubeadm or RKE1, workers first and one by one',
    ],
    ['hyperkube adopt rollback w2', 'return one host; the others stay with hyperkube'],
  ],
  sharedFlags: ['file', 'key', 'output', 'confirm'],
  configure(command) {
    addRunFlags(command.addArgument(new Argument('[host...]', 'hosts (default: all)')))
      .option('--dry-run', 'show what would be removed, without changing anything; exit code 3')
      .option('--no-drain', 'do not drain nodes of RKE1 first: their pods end at once')
      .option('--force-unlock', 'break the operator lock; continue even without a majority of control planes')
  },
  async run(context, { args, options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const { progress, ignore, forgetHostKey, forceUnlock, dryRun, drain } = flags.parse(options)
    const limit = args.length === 0 ? undefined : args
    limitHosts(cluster, limit)
    const inputs = await loadResetInputs(context, options, cluster, { beforeCommit: true })
    const { name } = cluster.metadata
    const hosts: string[] = []
    let plannedChanges: PlannedChanges | undefined
    const settings = { command: 'adopt rollback', cluster: name, progress }
    const rollbackOptions = {
      files: options,
      forgetHostKeys: forgetHostKey,
      limit,
      ignore,
      forceUnlock,
      dryRun,
      drain,
      onPlanned: (changes: PlannedChanges) => (plannedChanges = changes),
      onReturned: (host: string) => void hosts.push(host),
    }
    const { code } = await runAction(context, options, settings, async (run) =>
      rollbackAdoption(context, inputs, rollbackOptions, run),
    )
    if (code === exitCodes.usage) return code
    const left = hasReturned(cluster, hosts) ? listRemovalCommands(cluster) : []
    const document =
      plannedChanges === undefined
        ? {
            apiVersion: 'hyperkube.dev/v1',
            kind: 'AdoptionRollbackResult',
            cluster: name,
            outcome: resultNames[code],
            hosts,
            removeObjects: left,
          }
        : buildPlanDocument(plannedChanges)
    printResult(context.stdout, options.output, document, () =>
      hosts.length === 0
        ? ''
        : `${joinNames(hosts)} run again what the previous tool installed\n${formatLeftObjects(left)}`,
    )
    return code
  },
}

/** True if no control plane of hyperkube is left, so that its objects have no use any more. */
function hasReturned({ spec }: Cluster, hosts: readonly string[]): boolean {
  return spec.hosts.every(({ name, roles }) => !roles.includes('control-plane') || hosts.includes(name))
}

function formatLeftObjects(commands: readonly string[]): string {
  if (commands.length === 0) return ''
  return [
    'objects that hyperkube created are still in the cluster; after the last host has returned, remove them:',
    ...commands.map((command) => `  ${command}`),
    '',
  ].join('\n')
}
