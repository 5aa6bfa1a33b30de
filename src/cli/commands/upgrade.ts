import { z } from 'zod'
import { kubernetesReleases } from '../../catalog/catalog.ts'
import { upgradePath } from '../../catalog/upgrade-path.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { formatFindings } from '../print.ts'
import { addRunFlags } from '../run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'
import { takePreUpgradeSnapshot } from '../upgrade/pre-upgrade-snapshot.ts'
import { upgradeCluster } from '../upgrade/upgrade.ts'

const flags = z.looseObject({
  to: z.string(),
  dryRun: z.boolean().default(false),
  snapshot: z.boolean().default(true),
})
const knownVersions = kubernetesReleases.map(({ kubernetes }) => kubernetes)

export const upgradeCommand: CommandDefinition = {
  examples: [
    [
      'hyperkube upgrade --to 1.37.1 --dry-run',
      'say what would be done, and what stands in the way; do nothing',
    ],
    [
      'hyperkube upgrade --to 1.37.1',
      'show it, ask, and do it: etcd, control planes one by one, then workers',
    ],
    ['hyperkube upgrade --to 1.37.1 --yes', 'without the question; cut off, hyperkube up goes on with it'],
  ],
  identity: true,
  configure(command) {
    command.requiredOption('--to <version>', `which; this hyperkube knows ${knownVersions.join(', ')}`)
    command.option('--no-snapshot', 'start without a snapshot of etcd and its test restore')
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
    const path = upgradePath(from, to, knownVersions)
    if (path.length === 0) {
      context.stderr.write(`${options.file} says ${from} already; hyperkube up brings the cluster to it\n`)
      return exitCodes.ok
    }
    if (path.length > 1) context.stderr.write(`from ${from} by way of ${path.join(', then ')}\n`)
    if (snapshot && !dryRun) {
      const snapshotCode = await takePreUpgradeSnapshot(context, options, cluster)
      if (snapshotCode !== exitCodes.ok) return snapshotCode
    }
    for (const version of path) {
      const code = await upgradeCluster(context, options, version)
      if (code !== exitCodes.ok) return code
    }
    return exitCodes.ok
  },
}
