import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { type Arch, archSchema } from '../../catalog/artifacts.ts'
import { compareLocks, type LockChange } from '../../catalog/compare-locks.ts'
import { listLockTrust } from '../../catalog/lock-trust.ts'
import { toPrintable } from '../../kit/text.ts'
import { buildLockPath } from '../../workspace/cluster-paths.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadLock } from '../../workspace/load-lock.ts'
import { listTargets, resolveClusterLock, writeLock } from '../../workspace/resolve-cluster-lock.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatChange, formatFinding, printResult } from '../command/print.ts'

const flags = z.object({
  arch: z.array(archSchema).default(['amd64']),
  check: z.boolean().default(false),
  acceptChangedDigests: z.boolean().default(false),
  acceptOlderCatalog: z.boolean().default(false),
})

export const lockCommand: LeafCommand = {
  examples: [
    ['hyperkube lock', 'resolve versions and checksums, write cluster.lock and print the changes'],
    ['hyperkube lock --arch amd64 --arch arm64', 'pin binaries for Linux hosts of both architectures'],
    [
      'hyperkube lock --check',
      'print changes without writing cluster.lock; exit code 3 if changes are pending',
    ],
    ['hyperkube lock --accept-changed-digests', 'accept content that was replaced under the same version'],
  ],
  sharedFlags: ['file', 'key', 'output'],
  configure(command) {
    command
      .option(
        '--arch <arch>',
        'pin Linux binaries for this architecture (repeatable): amd64 (default), arm64',
        addArch,
      )
      .option(
        '--check',
        'show what would change, without writing cluster.lock; exit code 3 if changes are pending',
      )
      .option(
        '--accept-changed-digests',
        'accept content that was replaced under the same version and URL; otherwise an error',
      )
      .option(
        '--accept-older-catalog',
        'accept a catalog that is older than that of cluster.lock; otherwise an error',
      )
  },
  async run(context, { options }) {
    const { arch: arches, check, ...accepted } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    for (const finding of findings) context.stderr.write(formatFinding(finding))
    if (cluster === undefined) return exitCodes.failure

    const file = buildLockPath(options.file)
    const report = (line: string) => context.stderr.write(`${line}\n`)
    const previous = await loadLock(context, options.file)
    const targets = listTargets(cluster, arches)
    const lockOptions = { files: options, cluster, targets, previous, ...accepted }
    const after = await resolveClusterLock(context, lockOptions, report)
    const changes = compareLocks(previous, after)
    if (changes.length > 0 && !check) await writeLock(context, file, after, report)
    const trust = listLockTrust(after, await context.releaseDigests())
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'LockChangeList', items: changes, trust }
    printResult(context.stdout, options.output, document, () => formatChanges(file, changes))
    return changes.length > 0 && check ? exitCodes.changesPending : exitCodes.ok
  },
}

function addArch(text: string, arches: readonly Arch[] = []): readonly Arch[] {
  const parsed = archSchema.safeParse(text)
  if (!parsed.success) throw new InvalidArgumentError(`expected one of ${archSchema.options.join(', ')}`)
  return [...new Set([...arches, parsed.data])]
}

function formatChanges(file: string, changes: readonly LockChange[]): string {
  if (changes.length === 0) return `${file}: no changes\n`
  return toPrintable(changes.map(formatChange).join(''))
}
