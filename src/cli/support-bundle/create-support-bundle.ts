import { randomBytes } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import packageFile from '../../../package.json' with { type: 'json' }
import { syncDirectory, writeNewFile } from '../../kit/files.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import type { LogTime } from '../../lifecycle/logs/log-line.ts'
import {
  excludedContents,
  streamSupportArchive,
  type SupportEntry,
  type SupportFile,
  type SupportManifest,
  supportManifestFormat,
} from '../../lifecycle/support-bundle/archive.ts'
import {
  collectSupportFiles,
  type HostCollectResult,
  type SupportHost,
} from '../../lifecycle/support-bundle/collect.ts'
import { createCleaner } from '../../lifecycle/support-bundle/redact.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { CommandContext } from '../command/command.ts'
import { formatHostError } from '../command/print.ts'

export interface SupportBundleOptions {
  readonly context: Pick<CommandContext, 'stderr' | 'now' | 'signal'>
  readonly cluster: string
  readonly hosts: readonly SupportHost[]
  readonly connect: (host: string) => Promise<Remote>
  /** Files from the operator's machine. */
  readonly localFiles: readonly SupportFile[]
  /** Entries about the cluster as a whole. */
  readonly clusterEntries: AsyncIterable<SupportEntry>
  readonly since: LogTime
  readonly lines: number
  readonly mask: SecretMask
}

export interface SupportBundleResult {
  readonly manifest: SupportManifest
  /** Size of the archive in bytes. */
  readonly size: number
}

/** Collects data for finding a fault, writes it to one archive, and reports progress on stderr. */
export async function createSupportBundle(
  path: string,
  options: SupportBundleOptions,
): Promise<SupportBundleResult> {
  const { context, cluster, hosts, connect, localFiles, clusterEntries, since, lines, mask } = options
  const { stderr, now, signal } = context
  const created = now().toISOString()
  const cleaner = createCleaner(mask)
  const outcomes = new Map<string, HostCollectResult>()
  const onHostDone = (host: string, outcome: HostCollectResult): void => {
    outcomes.set(host, outcome)
    const text = 'reason' in outcome ? outcome.reason : formatCount(outcome.files, 'file')
    stderr.write(`${host}: ${cleaner.text(text)}\n`)
  }
  let manifest: SupportManifest | undefined
  const collectEntries = async function* (): AsyncGenerator<SupportEntry> {
    for (const file of localFiles) yield { ...file, text: cleaner.text(file.text) }
    yield* collectSupportFiles({
      hosts,
      connect,
      cluster: clusterEntries,
      since,
      lines,
      mask,
      formatReason: formatHostError,
      onHostDone,
      signal,
    })
  }
  const bytes = streamSupportArchive(collectEntries(), ({ files, omitted }) => {
    manifest = supportManifestFormat.newest.schema.parse({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'SupportBundle',
      cluster,
      created,
      hyperkube: packageFile.version,
      hosts: hosts.map(({ host }) => {
        const outcome = outcomes.get(host)
        return outcome !== undefined && 'reason' in outcome
          ? { host, reason: cleaner.text(outcome.reason) }
          : { host }
      }),
      files,
      omitted: omitted.map(({ item, reason }) => ({ item, reason: cleaner.text(reason) })),
      excluded: [...excludedContents],
    })
    return manifest
  })
  const size = await writeGzipArchive(path, bytes, signal)
  if (manifest === undefined) throw new Error(`${toPrintable(path)} has no manifest`)
  return { manifest, size }
}

/**
 * Writes an archive atomically and returns its size. Only the owner can read the file, and an existing file
 * is never overwritten.
 */
async function writeGzipArchive(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}`)
  let size = 0
  try {
    await pipeline(
      Readable.from(bytes),
      createGzip(),
      async (zipped: AsyncIterable<Uint8Array>) => {
        ;({ size } = await writeNewFile(temporary, zipped))
      },
      { signal },
    )
    await link(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(dirname(path))
  return size
}
