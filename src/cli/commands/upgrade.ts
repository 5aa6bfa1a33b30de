import { Argument } from 'commander'
import { z } from 'zod'
import { InvalidFileChange } from '../../actions/change-cluster-file.ts'
import { refuseDuringHold } from '../../actions/held-upgrade.ts'
import { statusByExitCode } from '../run/run-action.ts'
import { reportInvalidChange } from '../up/run-changed-up.ts'
import { heldUpgradeActions, runHeldUpgrade } from '../up/run-held-upgrade.ts'
import { takePreUpgradeSnapshot } from '../etcd/pre-upgrade-snapshot.ts'
import { runUpgrade } from '../upgrade/run-upgrade.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'
import { runRehearsal } from '../upgrade/rehearse.ts'

const flags = z.looseObject({
  to: z
    .string()
    .transform((version) => version.replace(/^v/, ''))
    .optional(),
  hold: z.boolean().default(false),
  dryRun: z.boolean().default(false),
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
    ['hyperkube upgrade --to 1.37.1 --hold', 'upgrade only the control planes, in a way that can be undone'],
    ['hyperkube upgrade rollback', 'undo the held upgrade'],
    ['hyperkube upgrade confirm', 'finish the held upgrade: etcd, control planes and nodes'],
  ],
  sharedFlags: ['file', 'key', 'output', 'confirm'],
  configure(command) {
    command.addArgument(new Argument('[action]', 'finish or undo a held upgrade').choices(heldUpgradeActions))
    command.option(
      '--to <version>',
      'upgrade to this Kubernetes version; hyperkube catalog list shows one of each minor',
    )
    command.option('--no-snapshot', 'skip the etcd snapshots before the steps and their test restores')
    command.option(
      '--rehearse',
      'upgrade only a copy of the data, on this machine; with --no-snapshot from the newest saved snapshot',
    )
    command.option('--hold', 'upgrade only the control planes; a rollback is possible until upgrade confirm')
    addUpFlags(addRunFlags(command))
  },
  async run(context, { args, options }) {
    const { to, hold, dryRun, snapshot, rehearse } = flags.parse(options)
    const action = heldUpgradeActions.find((name) => name === args[0])
    if ((to === undefined) === (action === undefined) || (hold && to === undefined)) {
      context.stderr.write('USAGE: hyperkube upgrade needs --to VERSION, confirm or rollback\n')
      context.stderr.write('  → hyperkube upgrade --help\n')
      return exitCodes.usage
    }
    if (rehearse && (hold || to === undefined)) {
      context.stderr.write('USAGE: --rehearse needs --to VERSION, and cannot be used with --hold\n')
      context.stderr.write('  → hyperkube upgrade --to VERSION --rehearse\n')
      return exitCodes.usage
    }
    const { cluster, findings, catalog } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const takeSnapshot =
      snapshot && !dryRun
        ? async () =>
            statusByExitCode(
              await takePreUpgradeSnapshot(
                context,
                options,
                cluster,
                to ?? cluster.spec.heldUpgrade?.to ?? '',
              ),
            )
        : undefined
    if (to === undefined || hold) {
      const held = to === undefined ? { action: action ?? 'confirm' } : { action: 'hold' as const, to }
      return runHeldUpgrade(context, options, { ...held, cluster, takeSnapshot })
    }
    refuseDuringHold(cluster)
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
