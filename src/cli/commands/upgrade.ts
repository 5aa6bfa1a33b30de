import { z } from 'zod'
import { releases } from '../../catalog/catalog.ts'
import { upgradePath } from '../../catalog/upgrade-path.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { findingsText } from '../print.ts'
import { addRunFlags } from '../run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'
import { safeguard } from '../upgrade/pre-upgrade-snapshot.ts'
import { upgradeTo } from '../upgrade/upgrade.ts'

const flags = z.looseObject({
  to: z.string(),
  dryRun: z.boolean().default(false),
  snapshot: z.boolean().default(true),
})
const known = releases.map(({ kubernetes }) => kubernetes)

export const upgrade: CommandDefinition = {
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
    command.requiredOption('--to <version>', `which; this hyperkube knows ${known.join(', ')}`)
    command.option('--no-snapshot', 'begin without a snapshot of etcd that was restored for a trial')
    addUpFlags(addRunFlags(command))
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(findingsText(findings))
      return exitCodes.failure
    }
    const { to, dryRun, snapshot } = flags.parse(options)
    const from = cluster.spec.kubernetes
    const path = upgradePath(from, to, known)
    if (path.length === 0) {
      context.stderr.write(`${options.file} says ${from} already; hyperkube up brings the cluster to it\n`)
      return exitCodes.ok
    }
    if (path.length > 1) context.stderr.write(`from ${from} by way of ${path.join(', then ')}\n`)
    if (snapshot && !dryRun) {
      const safe = await safeguard(context, options, cluster)
      if (safe !== exitCodes.ok) return safe
    }
    for (const version of path) {
      const code = await upgradeTo(context, options, version)
      if (code !== exitCodes.ok) return code
    }
    return exitCodes.ok
  },
}
