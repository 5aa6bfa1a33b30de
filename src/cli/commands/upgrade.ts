import { z } from 'zod'
import { InvalidFileChange } from '../../actions/change-cluster-file.ts'
import { upgrade } from '../../actions/upgrade.ts'
import { exitCodeByStatus, statusByExitCode } from '../run/run-action.ts'
import { reportInvalidChange } from '../up/run-changed-up.ts'
import { runUp } from '../up/run-up.ts'
import { listTestedVersions } from '../../catalog/catalog.ts'
import { upgradePath } from '../../catalog/version.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'
import { takePreUpgradeSnapshot } from '../etcd/pre-upgrade-snapshot.ts'

const flags = z.looseObject({
  to: z.string().transform((version) => version.replace(/^v/, '')),
  dryRun: z.boolean().default(false),
  snapshot: z.boolean().default(true),
})

export const upgradeCommand: LeafCommand = {
  examples: [
    ['hyperkube upgrade --to 1.37.1 --dry-run', 'show what would change and all preflight findings'],
    ['hyperkube upgrade --to 1.37.1', 'prompt, then upgrade etcd, control planes one by one, and workers'],
    ['hyperkube upgrade --to 1.37.1 --yes', 'skip the prompt; hyperkube up resumes an interrupted upgrade'],
  ],
  sharedFlags: ['file', 'key', 'output', 'confirm'],
  configure(command) {
    command.requiredOption(
      '--to <version>',
      `upgrade to this Kubernetes version, for example ${listTestedVersions().join(', ')}`,
    )
    command.option('--no-snapshot', 'skip the etcd snapshot and its test restore')
    addUpFlags(addRunFlags(command))
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const { to, dryRun, snapshot } = flags.parse(options)
    const from = cluster.spec.kubernetes
    const path = upgradePath(from, to, listTestedVersions())
    if (path.length === 0) {
      context.stderr.write(`${options.file} already has Kubernetes ${from}; apply it with hyperkube up\n`)
      return exitCodes.ok
    }
    if (path.length > 1)
      context.stderr.write(`upgrading from ${from} in ${path.length} steps: ${path.join(', then ')}\n`)
    try {
      const status = await upgrade({
        context,
        files: options,
        path,
        takeSnapshot:
          snapshot && !dryRun
            ? async () => statusByExitCode(await takePreUpgradeSnapshot(context, options, cluster))
            : undefined,
        up: async (version, change) =>
          statusByExitCode(await runUp(context, options, { ...change, command: `upgrade --to ${version}` })),
        report: (line) => context.stderr.write(`${line}\n`),
      })
      return exitCodeByStatus[status]
    } catch (error) {
      if (!(error instanceof InvalidFileChange)) throw error
      return reportInvalidChange(context, error)
    }
  },
}
