import { dirname } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { Fetcher } from '../../catalog/fetcher.ts'
import { type LockChange, lockChanges } from '../../catalog/lock-changes.ts'
import { type Lock, lockText, readLock } from '../../catalog/lock.ts'
import { resolveLock } from '../../catalog/resolve.ts'
import { isUnencrypted } from '../../catalog/source.ts'
import { type Arch, arch, type Target } from '../../catalog/target.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { lockFile } from '../beside.ts'
import { type CommandDefinition, type Context, exitCodes, type Output } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { findingText, print } from '../print.ts'

const flags = z.object({ arch: z.array(arch).default(['amd64']), check: z.boolean().default(false) })

export const lock: CommandDefinition = {
  examples: [
    ['hyperkube lock', 'look up the digests, write cluster.lock, and say what changed'],
    ['hyperkube lock --arch amd64 --arch arm64', 'for Linux hosts of both kinds'],
    ['hyperkube lock --check', 'write nothing; exit code 3 when something would change'],
  ],
  configure(command) {
    command
      .option('--arch <arch>', 'amd64 (default) or arm64, of Linux hosts; once for each', addArch)
      .option('--check', 'only say what would change')
  },
  async run(context, { options }) {
    const { arch: arches, check } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    for (const finding of findings) context.stderr.write(findingText(finding))
    if (cluster === undefined) return exitCodes.failure

    const file = lockFile(options.file)
    const before = await readExisting(context, file)
    const after = await resolve(context, cluster, targetsOf(cluster, arches))
    const changes = lockChanges(before, after)
    for (const { what } of changes.filter(({ replaced }) => replaced)) {
      context.stderr.write(printable(`warning: ${what} is another file than before, under the same URL\n`))
    }
    if (changes.length > 0 && !check) await write(context, file, after)
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'LockChangeList', items: changes }
    print(context.stdout, options.output, document, () => peopleText(file, changes))
    return changes.length > 0 && check ? exitCodes.changesPending : exitCodes.ok
  },
}

function addArch(text: string, arches: readonly Arch[] = []): readonly Arch[] {
  const parsed = arch.safeParse(text)
  if (!parsed.success) throw new InvalidArgumentError(`an arch is one of ${arch.options.join(', ')}`)
  return [...new Set([...arches, parsed.data])]
}

function targetsOf({ spec }: Cluster, arches: readonly Arch[]): readonly Target[] {
  const has = (os: Target['os']): boolean => spec.hosts.some((host) => host.os === os)
  return [
    ...(has('linux') ? arches.map((one): Target => ({ os: 'linux', arch: one })) : []),
    ...(has('windows') ? [{ os: 'windows', arch: 'amd64' } as const] : []),
  ]
}

async function readExisting({ readFile }: Context, file: string): Promise<Lock | undefined> {
  let text: string
  try {
    text = await readFile(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new HyperkubeError('LOCK_NOT_READ', `${file} could not be read`, {
      hint: `look at ls -l ${file}`,
      cause,
    })
  }
  return readLock(file, text)
}

async function resolve(context: Context, { spec }: Cluster, targets: readonly Target[]): Promise<Lock> {
  const { stderr, fetcher, signal } = context
  if (isUnencrypted(spec.artifacts)) {
    stderr.write('warning: the mirror is not encrypted; whoever is on the way can choose what is pinned\n')
  }
  try {
    return await resolveLock(spec.kubernetes, targets, spec.artifacts, watched(fetcher, stderr), signal)
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    throw new HyperkubeError('LOCK_NOT_RESOLVED', 'not every file could be looked up; nothing was written', {
      hint: 'spec.artifacts says where files come from',
      cause: error,
    })
  }
}

function watched(fetcher: Fetcher, stderr: Output): Fetcher {
  return {
    async text(url, limit, signal) {
      stderr.write(printable(`reading ${url}\n`))
      return fetcher.text(url, limit, signal)
    },
    async sha256(url, limit, signal) {
      stderr.write(printable(`downloading ${url}: upstream publishes no checksum of it\n`))
      return fetcher.sha256(url, limit, signal)
    },
  }
}

async function write({ replaceFile, stderr }: Context, file: string, content: Lock): Promise<void> {
  await replaceFile(file, lockText(content), 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('LOCK_NOT_WRITTEN', `${file} could not be written`, {
      hint: `look at ls -ld ${dirname(file)}`,
      cause,
    })
  })
  stderr.write(`wrote ${file}; commit it\n`)
}

function peopleText(file: string, changes: readonly LockChange[]): string {
  if (changes.length === 0) return `${file}: nothing to change\n`
  return printable(changes.map(changeText).join(''))
}

function changeText({ what, before, after }: LockChange): string {
  if (before === undefined) return `+ ${what}: ${after}\n`
  if (after === undefined) return `- ${what}: ${before}\n`
  return `~ ${what}: ${before} → ${after}\n`
}
