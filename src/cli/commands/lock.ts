import { dirname } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { lockIn } from '../../bundle/lock.ts'
import { catalogFor } from '../../catalog/catalog.ts'
import type { Fetcher } from '../../catalog/fetcher.ts'
import { type LockChange, lockChanges } from '../../catalog/lock-changes.ts'
import { type Lock, lockText } from '../../catalog/lock.ts'
import type { Registry } from '../../catalog/registry/registry.ts'
import { type LockWish, resolveLock } from '../../catalog/resolve.ts'
import { isUnencrypted } from '../../catalog/source.ts'
import { type Arch, arch, type Target } from '../../catalog/target.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { lockFile } from '../beside.ts'
import { type CommandDefinition, type Context, exitCodes, type Output } from '../command.ts'
import { openClusterBundle } from '../bundle/open.ts'
import { hasPlainMirror, registryFor } from '../images/registry.ts'
import { wantedImages } from '../images/wanted.ts'
import { loadCluster } from '../load-cluster.ts'
import { type IdentityOptions, openIdentity } from '../load-identity.ts'
import { loadLock } from '../load-lock.ts'
import { findingText, print } from '../print.ts'

const flags = z.object({ arch: z.array(arch).default(['amd64']), check: z.boolean().default(false) })

export const lock: CommandDefinition = {
  examples: [
    ['hyperkube lock', 'look up the digests, write cluster.lock, and say what changed'],
    ['hyperkube lock --arch amd64 --arch arm64', 'for Linux hosts of both kinds'],
    ['hyperkube lock --check', 'write nothing; exit code 3 when something would change'],
  ],
  identity: true,
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
    const before = await loadLock(context, options.file)
    const after = await resolve(context, options, cluster, targetsOf(cluster, arches))
    const changes = lockChanges(before, after)
    for (const { what } of changes.filter(({ replaced }) => replaced)) {
      context.stderr.write(printable(`warning: ${what} is another one than before, in the same place\n`))
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

/** A bundle has been looked up already, by whoever made it: it is asked, and nobody else. */
async function resolve(
  context: Context,
  options: IdentityOptions,
  cluster: Cluster,
  targets: readonly Target[],
): Promise<Lock> {
  const release = catalogFor(cluster.spec.kubernetes)
  const images = wantedImages(cluster, release.images)
  const { artifacts } = cluster.spec
  if (artifacts === 'upstream' || !('bundle' in artifacts)) {
    return lookUp(context, cluster, { version: release.kubernetes, targets, source: artifacts, images })
  }
  const { publicKey } = bundleKey(await openIdentity(context, options, cluster.metadata.name))
  await using bundle = await openClusterBundle(context, options.file, cluster, publicKey)
  if (bundle === undefined) throw new Error('a bundle is named, and none is opened')
  return lockIn(bundle.manifest, release, targets, images)
}

async function lookUp(context: Context, cluster: Cluster, wish: LockWish): Promise<Lock> {
  const { stderr, fetcher, signal } = context
  if (isUnencrypted(wish.source) || hasPlainMirror(cluster)) {
    stderr.write('warning: the mirror is not encrypted; whoever is on the way can choose what is pinned\n')
  }
  const registry = watchedRegistry(registryFor(context, cluster), stderr)
  try {
    return await resolveLock(wish, { fetcher: watched(fetcher, stderr), registry }, signal)
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    throw new HyperkubeError('LOCK_NOT_RESOLVED', 'not all could be looked up; nothing was written', {
      hint: 'spec.artifacts says where files come from, spec.registries where images do',
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

function watchedRegistry(registry: Registry, stderr: Output): Registry {
  return {
    ...registry,
    async manifest(image, signal) {
      const { registry: host, repository, tag } = image
      stderr.write(printable(`reading the digest of ${host}/${repository}:${tag}\n`))
      return registry.manifest(image, signal)
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
