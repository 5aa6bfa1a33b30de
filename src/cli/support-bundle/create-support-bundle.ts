import packageFile from '../../../package.json' with { type: 'json' }
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'
import type { When } from '../../lifecycle/logs/host-log.ts'
import { supportArchive } from '../../lifecycle/support-bundle/archive.ts'
import { cleaner } from '../../lifecycle/support-bundle/cleaner.ts'
import { gather, type HostOutcome, type SupportHost } from '../../lifecycle/support-bundle/collect.ts'
import { never, supportFormat, type SupportManifest } from '../../lifecycle/support-bundle/manifest.ts'
import type { Piece, SupportFile } from '../../lifecycle/support-bundle/support-entry.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Context } from '../command.ts'
import { reasonOf } from '../format-host-error.ts'
import { count } from '../format-text.ts'
import { writeArchive } from './write-archive.ts'

export interface BundleScene {
  readonly context: Pick<Context, 'stderr' | 'now' | 'signal'>
  readonly cluster: string
  readonly hosts: readonly SupportHost[]
  readonly remoteOf: (host: string) => Promise<Remote>
  /** Of this machine. */
  readonly own: readonly SupportFile[]
  /** What the cluster as a whole says. */
  readonly whole: AsyncIterable<Piece>
  readonly since: When
  readonly lines: number
  readonly mask: SecretMask
}

export interface MadeBundle {
  readonly manifest: SupportManifest
  /** In bytes. */
  readonly size: number
}

/** Gathers all that helps to find a fault, and tells how far it is. */
export async function makeBundle(path: string, scene: BundleScene): Promise<MadeBundle> {
  const { context, cluster, hosts, remoteOf, own, whole, since, lines, mask } = scene
  const { stderr, now, signal } = context
  const created = now().toISOString()
  const clean = cleaner(mask)
  const outcomes = new Map<string, HostOutcome>()
  const met = (host: string, outcome: HostOutcome): void => {
    outcomes.set(host, outcome)
    const text = 'reason' in outcome ? outcome.reason : count(outcome.files, 'file')
    stderr.write(`${host}: ${clean.text(text)}\n`)
  }
  let manifest: SupportManifest | undefined
  const pieces = async function* (): AsyncGenerator<Piece> {
    for (const file of own) yield { ...file, text: clean.text(file.text) }
    yield* gather({ hosts, remoteOf, cluster: whole, since, lines, mask, reasonOf, met, signal })
  }
  const bytes = supportArchive(pieces(), ({ files, leftOut }) => {
    manifest = supportFormat.newest.schema.parse({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'SupportBundle',
      cluster,
      created,
      hyperkube: packageFile.version,
      hosts: hosts.map(({ host }) => {
        const outcome = outcomes.get(host)
        return outcome !== undefined && 'reason' in outcome
          ? { host, reason: clean.text(outcome.reason) }
          : { host }
      }),
      files,
      leftOut: leftOut.map(({ what, reason }) => ({ what, reason: clean.text(reason) })),
      never: [...never],
    })
    return manifest
  })
  const size = await writeArchive(path, bytes, signal)
  if (manifest === undefined) throw new Error(`${printable(path)} has no manifest`)
  return { manifest, size }
}
