import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { type Arch, archSchema } from '../../catalog/artifacts.ts'
import { compareLocks, type LockChange } from '../../catalog/compare-locks.ts'
import { toPrintable } from '../../kit/text.ts'
import { buildLockPath } from '../../workspace/cluster-paths.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadLock } from '../../workspace/load-lock.ts'
import { listTargets, resolveClusterLock, writeLock } from '../../workspace/resolve-cluster-lock.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatFinding, printResult } from '../command/print.ts'

const flags = z.object({ arch: z.array(archSchema).default(['amd64']), check: z.boolean().default(false) })

export const lockCommand: LeafCommand = {
  examples: [
    ['hyperkube lock', 'resolve versions and checksums, write cluster.lock and print the changes'],
    ['hyperkube lock --arch amd64 --arch arm64', 'pin binaries for Linux hosts of both architectures'],
    [
      'hyperkube lock --check',
      'print changes without writing cluster.lock; exit code 3 if changes are pending',
    ],
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
  },
  async run(context, { options }) {
    const { arch: arches, check } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    for (const finding of findings) context.stderr.write(formatFinding(finding))
    if (cluster === undefined) return exitCodes.failure

    const file = buildLockPath(options.file)
    const report = (line: string) => context.stderr.write(`${line}\n`)
    const before = await loadLock(context, options.file)
    const after = await resolveClusterLock(context, options, cluster, listTargets(cluster, arches), report)
    const changes = compareLocks(before, after)
    for (const { what } of changes.filter(({ replaced }) => replaced)) {
      context.stderr.write(
        toPrintable(`warning: the content of ${what} has changed, but its version and URL have not\n`),
      )
    }
    if (changes.length > 0 && !check) await writeLock(context, file, after, report)
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'LockChangeList', items: changes }
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

function formatChange({ what, before, after }: LockChange): string {
  if (before === undefined) return `+ ${what}: ${after}\n`
  if (after === undefined) return `- ${what}: ${before}\n`
  return `~ ${what}: ${before} → ${after}\n`
}
