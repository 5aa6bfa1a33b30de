import { stripDigest } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { artifactId, type Lock, type LockedArtifact, type LockedChart, type LockPins } from './lock.ts'

/** One difference between two locks. */
export interface LockChange {
  readonly what: string
  /**
   * `before` is the old entry and `after` the new entry, both as short text. If the short texts are equal,
   * both fields hold the complete entries instead.
   */
  readonly before: string | undefined
  readonly after: string | undefined
  /**
   * True if the digest changed although the URL or image name is the same. This is not an upgrade: the
   * published content was replaced.
   */
  readonly replaced: boolean
}

export function compareLocks(before: Lock | undefined, after: Lock): readonly LockChange[] {
  const [previous, updated] = [
    before === undefined ? new Map<string, LockEntry>() : entries(before),
    entries(after),
  ]
  return [...new Set([...previous.keys(), ...updated.keys()])].flatMap((what) => {
    const [left, right] = [previous.get(what), updated.get(what)]
    if (left?.whole === right?.whole) return []
    const replaced =
      left?.location !== undefined && left.location === right?.location && left.digest !== right.digest
    const shown = left?.brief === right?.brief ? 'whole' : 'brief'
    return [{ what, before: left?.[shown], after: right?.[shown], replaced }]
  })
}

/** Throws if content was replaced under the same URL or image name, unless the operator accepts it. */
export function checkReplacedDigests(
  changes: readonly LockChange[],
  { acceptChangedDigests }: AcceptDigestsOptions,
): void {
  const replaced = changes.filter((change) => change.replaced)
  if (replaced.length === 0 || acceptChangedDigests) return
  const lines = replaced.map(({ what, before, after }) => `  ${what}: ${before} → ${after}`)
  throw new HyperkubeError(
    'LOCK_DIGEST_CHANGED',
    `content has changed under the same version and URL; cluster.lock was not written\n${lines.join('\n')}`,
    {
      hint: 'find out who replaced the content; to accept the new digests: hyperkube lock --accept-changed-digests',
    },
  )
}

export interface AcceptDigestsOptions {
  /** Whether digests may differ from the previous lock although version and URL are the same. */
  readonly acceptChangedDigests: boolean
}

interface LockEntry {
  readonly brief: string
  readonly whole: string
  /** URL or image name of the content. */
  readonly location?: string
  readonly digest?: string | undefined
}

function entries({ workers, heldUpgrade, charts = {}, ...pins }: Lock): Map<string, LockEntry> {
  const ofWorkers = workers === undefined ? [] : listEntries(workers)
  return new Map([
    ...listEntries(pins),
    ...(heldUpgrade === undefined ? [] : [['held upgrade', plain(heldUpgrade.kubernetes)] as const]),
    ...(heldUpgrade?.artifacts ?? []).map(
      (file) => [`held ${artifactId(file)}`, artifactEntry(file)] as const,
    ),
    ...ofWorkers.map(([what, entry]) => [`workers: ${what}`, entry] as const),
    ...Object.entries(charts).map(([addon, chart]) => [`chart ${addon}`, chartEntry(chart)] as const),
  ])
}

function listEntries({ kubernetes, catalog, artifacts, images }: LockPins): (readonly [string, LockEntry])[] {
  return [
    ['kubernetes', plain(kubernetes)],
    ...(catalog === undefined ? [] : [['catalog', catalogEntry(catalog)] as const]),
    ...artifacts.map((file) => [artifactId(file), artifactEntry(file)] as const),
    ...Object.entries(images).map(([name, image]) => [`image ${name}`, imageEntry(image)] as const),
  ]
}

function plain(text: string): LockEntry {
  return { brief: text, whole: text }
}

function catalogEntry({ serial, publicKey, sha256 }: NonNullable<Lock['catalog']>): LockEntry {
  const brief = `serial ${serial}`
  return { brief, whole: `${brief} signed by ${publicKey} sha256:${sha256}` }
}

function artifactEntry(file: LockedArtifact): LockEntry {
  const { version, url, sha256, trust } = file
  const brief = `${version} (${trust})`
  return { brief, whole: `${brief} ${url} sha256:${sha256}`, location: url, digest: sha256 }
}

/**
 * Builds the entry of a chart. It has no location, because the operator writes the chart or its digest, so a
 * new digest is no replacement by a publisher.
 */
function chartEntry({ version, url, sha256 }: LockedChart): LockEntry {
  return { brief: version, whole: `${version}${url === undefined ? '' : ` ${url}`} sha256:${sha256}` }
}

/**
 * Builds the entry of an image. Without a digest the entry gets no location, so pinning the image later does
 * not count as a replacement.
 */
function imageEntry(image: string): LockEntry {
  const name = stripDigest(image)
  return { brief: name, whole: image, ...(name === image ? {} : { location: name, digest: image }) }
}
