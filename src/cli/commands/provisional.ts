import { z } from 'zod'
import { endProvisional } from '../../actions/provisional.ts'
import { joinNames } from '../../kit/text.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import { type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { runAction } from '../run/run-action.ts'
import { addRunFlags, runFlags } from '../command/run-flags.ts'
import { resultNames } from '../run/run-with-progress.ts'

const flags = runFlags.extend({ forceUnlock: z.boolean().default(false) })
type ProvisionalAction = Parameters<typeof endProvisional>[2]['action']

export const provisionalCommand: CommandGroup = {
  subcommands: [
    {
      name: 'confirm',
      summary: 'Confirm a provisional change and cancel its rollback',
      definition: buildProvisionalCommand('confirm', [
        [
          'hyperkube up --provisional 10m',
          'apply a change; hosts roll back after 10 minutes unless confirmed',
        ],
        ['hyperkube provisional confirm', 'confirm the change and cancel the rollback'],
      ]),
    },
    {
      name: 'rollback',
      summary: 'Roll back a provisional change now, one host at a time',
      definition: buildProvisionalCommand('rollback', [
        ['hyperkube provisional rollback', 'roll back now, before the time of --provisional has passed'],
      ]),
    },
  ],
}

function buildProvisionalCommand(action: ProvisionalAction, examples: LeafCommand['examples']): LeafCommand {
  return {
    examples,
    sharedFlags: ['file', 'key', 'output', 'confirm'],
    configure(command) {
      addRunFlags(command).option('--force-unlock', 'break the operator lock of another operator')
    },
    async run(context, { options }) {
      const { cluster, findings } = await loadCluster(context, options.file)
      context.stderr.write(formatFindings(findings))
      if (cluster === undefined) return exitCodes.failure
      const { progress, forgetHostKey, forceUnlock } = flags.parse(options)
      const inputs = await loadClusterInputs(context, options, cluster)
      const { name } = cluster.metadata
      const settings = {
        command: `provisional ${action}`,
        cluster: name,
        progress,
      }
      const endOptions = { files: options, forgetHostKeys: forgetHostKey, action, forceUnlock }
      const { code, outcome } = await runAction(context, options, settings, async (run) =>
        endProvisional(context, inputs, endOptions, run),
      )
      const hosts = outcome?.hosts ?? []
      const document = {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'ProvisionalResult',
        cluster: name,
        action,
        outcome: resultNames[code],
        hosts,
      }
      printResult(context.stdout, options.output, document, () => formatResult(action, hosts))
      return code
    },
  }
}

function formatResult(action: ProvisionalAction, hosts: readonly string[]): string {
  if (hosts.length === 0) return ''
  return action === 'confirm'
    ? `the change is confirmed on ${joinNames(hosts)}\n`
    : `${joinNames(hosts)} roll back now, one host at a time; show the progress: hyperkube status\n`
}
