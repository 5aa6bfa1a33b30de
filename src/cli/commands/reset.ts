import { z } from 'zod'
import { reset } from '../../actions/reset.ts'
import { joinNames } from '../../kit/text.ts'
import { buildPlanDocument, type PlannedChanges } from '../../lifecycle/proposal/plan-approval.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadResetInputs } from '../../workspace/load-inputs.ts'
import { type LeafCommand, type ExitCode, exitCodes } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { addRunFlags, runFlags } from '../command/run-flags.ts'
import { runAction } from '../run/run-action.ts'
import { resultNames } from '../run/run-with-progress.ts'

const flags = runFlags.extend({
  forceUnlock: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})

export const resetCommand: LeafCommand = {
  examples: [
    ['hyperkube reset', 'prompt, then remove the cluster from all hosts'],
    ['hyperkube reset --dry-run', 'show what would be removed'],
    ['hyperkube reset --limit w2', 'remove the cluster from one host'],
    ['hyperkube reset --yes', 'skip the prompt'],
  ],
  sharedFlags: ['file', 'key', 'limit', 'output', 'confirm'],
  configure(command) {
    addRunFlags(command)
      .option('--dry-run', 'show what would be removed, without changing anything; exit code 3')
      .option('--force-unlock', 'break the operator lock; continue even without a majority of control planes')
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const { progress, ignore, forgetHostKey, forceUnlock, dryRun } = flags.parse(options)
    limitHosts(cluster, options.limit)
    const inputs = await loadResetInputs(context, options, cluster)
    const settings = {
      command: 'reset',
      cluster: cluster.metadata.name,
      progress,
    }
    const hostsReset: string[] = []
    let plannedChanges: PlannedChanges | undefined
    const resetOptions = {
      files: options,
      forgetHostKeys: forgetHostKey,
      limit: options.limit,
      ignore,
      forceUnlock,
      dryRun,
      onPlanned: (changes: PlannedChanges) => (plannedChanges = changes),
      onReset: (host: string) => void hostsReset.push(host),
    }
    const ended = await runAction(context, options, settings, async (run) =>
      reset(context, inputs, resetOptions, run),
    )
    if (ended.code === exitCodes.usage) return ended.code
    const { storage } = cluster.spec
    const volumes = storage === 'none' ? undefined : storage.path
    const result = { cluster: cluster.metadata.name, hosts: hostsReset.toSorted(), code: ended.code, volumes }
    const document =
      plannedChanges === undefined ? buildResetDocument(result) : buildPlanDocument(plannedChanges)
    printResult(context.stdout, options.output, document, () => formatResetResult(result))
    return ended.code
  },
}

interface ResetCommandResult {
  readonly cluster: string
  /** Hosts from which everything was removed. */
  readonly hosts: readonly string[]
  readonly code: ExitCode
  /** Directory where data of pods may remain. */
  readonly volumes: string | undefined
}

function buildResetDocument({ cluster, hosts, code }: ResetCommandResult): object {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'ResetResult', cluster, outcome: resultNames[code], hosts }
}

function formatResetResult({ cluster, hosts, volumes }: ResetCommandResult): string {
  if (hosts.length === 0) return ''
  const data = volumes === undefined ? '' : `volumes of pods, if any, stay in ${volumes}\n`
  return `${cluster} is removed from ${joinNames(hosts)}\n${data}`
}
