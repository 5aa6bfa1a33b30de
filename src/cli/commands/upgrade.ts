import { z } from 'zod'
import { InvalidFileChange } from '../../actions/change-cluster-file.ts'
import { reportInvalidChange } from '../up/run-changed-up.ts'
import { runUpgrade } from '../upgrade/run-upgrade.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'
import { runRehearsal } from '../upgrade/rehearse.ts'

const flags = z.looseObject({
  to: z.string().transform((version) => version.replace(/^v/, '')),
  snapshot: z.boolean().default(true),
  rehearse: z.boolean().default(false),
})

export const upgradeCommand: LeafCommand = {
  examples: [
    [
      'hyperkube upgrade --to 1.37.1 --dry-run',
      'show all steps, all findings and the changes of the first step',
    ],
    [
      'hyperkube upgrade --to 1.37.1 --rehearse',
      'upgrade a copy of the data on this machine, and show what would break',
    ],
    ['hyperkube upgrade --to 1.37.1', 'prompt, then upgrade etcd, control planes one by one, and workers'],
    [
      'hyperkube upgrade --to 1.37.1 --yes',
      'skip the prompt; the same command resumes an interrupted upgrade',
    ],
  ],
  sharedFlags: ['file', 'key', 'output', 'confirm'],
  configure(command) {
    command.requiredOption(
      '--to <version>',
      'upgrade to this Kubernetes version; hyperkube catalog list shows the tested ones',
    )
    command.option('--no-snapshot', 'skip the etcd snapshots before the steps and their test restores')
    command.option(
      '--rehearse',
      'upgrade only a copy of the data, on this machine; with --no-snapshot from the newest saved snapshot',
    )
    addUpFlags(addRunFlags(command))
  },
  async run(context, { options }) {
    const { cluster, findings, catalog } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const { to, snapshot, rehearse } = flags.parse(options)
    try {
      return await (rehearse ? runRehearsal : runUpgrade)(context, options, {
        cluster,
        catalog,
        to,
        snapshot,
      })
    } catch (error) {
      if (!(error instanceof InvalidFileChange)) throw error
      return reportInvalidChange(context, error)
    }
  },
}
