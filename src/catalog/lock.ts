import { LineCounter, stringify } from 'yaml'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import { findDuplicateKeys, parseBoundedYaml } from '../kit/parse-yaml.ts'
import { archSchema } from './artifacts.ts'
import type { CatalogSource } from './catalog.ts'
import { imageReferenceSchema, versionSchema } from './schemas.ts'

const lockedArtifact = z.strictObject({
  component: z.string().min(1),
  version: versionSchema,
  os: z.enum(['linux', 'windows']),
  arch: archSchema,
  /**
   * Public URL of the file, even if it was downloaded from a mirror. The mirror of cluster.yml is applied at
   * each download, so the lock does not depend on it.
   */
  url: z.url({ protocol: /^https$/ }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
  /** Where the digest comes from: the hyperkube release, upstream's checksum file, or the first download. */
  trust: z.enum(['release', 'published', 'first-download']),
})
export type LockedArtifact = z.infer<typeof lockedArtifact>

const artifactList = z
  .array(lockedArtifact)
  .refine((all) => new Set(all.map(artifactId)).size === all.length, 'contains an artifact twice')

const lockPins = z.strictObject({
  kubernetes: versionSchema,
  /** Signed file that names the versions. Omitted if they come from the catalog of a hyperkube release. */
  catalog: z
    .strictObject({
      serial: z.int().min(1),
      /** Key that signed the file. */
      publicKey: z.string().regex(/^[A-Za-z0-9+/]{43}=$/),
      /** Digest of the whole file. */
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    })
    .optional(),
  artifacts: artifactList,
  /** Image references with digests. Old locks contain references without digests. */
  images: z.record(z.string(), imageReferenceSchema),
  /**
   * Windows builds that each image supports, if its index lists them. Only in locks for clusters with Windows
   * hosts.
   */
  windowsBuilds: z.record(z.string(), z.array(z.int().min(1))).optional(),
})

/** Versions, URLs and digests of the files and images that belong to one Kubernetes version. */
export type LockPins = z.infer<typeof lockPins>

const lockedChart = z.strictObject({
  version: z.string().min(1),
  /** URL of the archive. Omitted for a chart beside cluster.yml. */
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** Digest of the archive, or of all files of a chart directory. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
})
/** Version and digest of a Helm chart. */
export type LockedChart = z.infer<typeof lockedChart>

export const lockSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Lock'),
  ...lockPins.shape,
  /**
   * Control plane programs of a held upgrade. `artifacts` keeps those of the previous version, so a rollback
   * needs no new digests.
   */
  heldUpgrade: z.strictObject({ kubernetes: versionSchema, artifacts: artifactList }).optional(),
  /** Pins of the older version that workers keep; only if cluster.yml sets spec.workers.kubernetes. */
  workers: lockPins.optional(),
  /** Helm charts of addons, by the name of the addon. Omitted if there are none. */
  charts: z.record(z.string(), lockedChart).optional(),
})

/** Versions, URLs and digests of all files and images of a cluster. */
export type Lock = z.infer<typeof lockSchema>

/** Returns the id of an artifact in a lock, for example `kubelet linux/amd64`. */
export function artifactId(artifact: Pick<LockedArtifact, 'component' | 'os' | 'arch'>): string {
  return `${artifact.component} ${artifact.os}/${artifact.arch}`
}

/** Returns the field of a lock that names the catalog of its versions. */
export function describeCatalog(source: CatalogSource): Pick<Lock, 'catalog'> {
  if (source.from === 'release') return {}
  const { serial, publicKey, sha256 } = source
  return { catalog: { serial, publicKey, sha256 } }
}

/** Lists all artifacts of a lock, including those of a held upgrade. */
export function listLockedArtifacts({ artifacts, heldUpgrade }: Lock): readonly LockedArtifact[] {
  return [...artifacts, ...(heldUpgrade?.artifacts ?? [])]
}

/** Returns the images of a release. References in the lock replace those of the release. */
export function pinnedImages(
  { images }: Pick<Lock, 'images'>,
  release: { readonly images: Readonly<Record<string, string>> },
): Readonly<Record<string, string>> {
  return { ...release.images, ...images }
}

const heading = '# Written by hyperkube lock. Commit it beside cluster.yml.\n'

/** Formats a lock as YAML. The same content always gives the same bytes. */
export function formatLock(content: Lock): string {
  return (
    heading + stringify(sortLock(lockSchema.parse(content)), { lineWidth: 0, aliasDuplicateObjects: false })
  )
}

/** Sorts the entries and fields of a lock into the order in which they are written. */
export function sortLock({ apiVersion, kind, workers, heldUpgrade, charts, ...pins }: Lock): Lock {
  return {
    apiVersion,
    kind,
    ...sortPins(pins),
    ...(heldUpgrade === undefined
      ? {}
      : {
          heldUpgrade: {
            kubernetes: heldUpgrade.kubernetes,
            artifacts: sortArtifacts(heldUpgrade.artifacts),
          },
        }),
    ...(workers === undefined ? {} : { workers: sortPins(workers) }),
    ...(charts === undefined ? {} : { charts: sortCharts(charts) }),
  }
}

function sortCharts(charts: NonNullable<Lock['charts']>): NonNullable<Lock['charts']> {
  const entries = Object.entries(byName(charts))
  return Object.fromEntries(
    entries.map(([name, { version, url, sha256 }]) => [
      name,
      { version, ...(url === undefined ? {} : { url }), sha256 },
    ]),
  )
}

function sortPins({ kubernetes, catalog, artifacts, images, windowsBuilds }: LockPins): LockPins {
  return {
    kubernetes,
    ...(catalog === undefined ? {} : { catalog }),
    artifacts: sortArtifacts(artifacts),
    images: byName(images),
    ...(windowsBuilds === undefined ? {} : { windowsBuilds: byName(windowsBuilds) }),
  }
}

/**
 * Returns the pins of a Kubernetes version that a lock already has, for control planes or for workers. An
 * upgrade keeps these pins for workers that stay at their version.
 */
export function findPins(lock: Lock, version: string): LockPins | undefined {
  if (lock.kubernetes === version) return selectPins(lock)
  return lock.workers?.kubernetes === version ? lock.workers : undefined
}

/** Returns the pins of control planes. */
export function selectPins({
  apiVersion: _apiVersion,
  kind: _kind,
  workers: _workers,
  heldUpgrade: _heldUpgrade,
  charts: _charts,
  ...pins
}: Lock): LockPins {
  return pins
}

function sortArtifacts(artifacts: readonly LockedArtifact[]): LockedArtifact[] {
  return artifacts.toSorted((a, b) => byText(sortKey(a), sortKey(b))).map(sortArtifactFields)
}

function byName<T>(entries: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).toSorted(([a], [b]) => byText(a, b)))
}

function sortKey(artifact: LockedArtifact): string {
  return `${artifact.os}/${artifact.arch}/${artifact.component}`
}

function sortArtifactFields({
  component,
  version: artifactVersion,
  os,
  arch: artifactArch,
  url,
  sha256,
  trust,
}: LockedArtifact): LockedArtifact {
  return { component, version: artifactVersion, os, arch: artifactArch, url, sha256, trust }
}

/** Compares texts by code unit, because locale rules differ between machines. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const maxLength = 1_000_000

/**
 * Parses a lock. Any error rejects the whole file, because locks are written by hyperkube and not by hand.
 */
export function readLock(file: string, text: string): Lock {
  if (text.length > maxLength) throw notALock(file, new Error('the file is too large'))
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (cause) {
    throw notALock(file, cause)
  }
  const parsed = lockSchema.safeParse(value)
  if (!parsed.success) throw notALock(file, new Error(z.prettifyError(parsed.error)))
  return parsed.data
}

/**
 * Parses one YAML document in linear time. `parse` of the YAML library takes quadratic time, because it
 * compares each key with all others.
 */
function parseYaml(text: string): unknown {
  const documents = parseBoundedYaml(text, new LineCounter())
  const [document, ...more] = documents ?? []
  if (document === undefined || more.length > 0) throw new Error('the file is not one YAML document')
  const [error] = document.errors
  if (error !== undefined) throw error
  if (findDuplicateKeys(document).length > 0) throw new Error('a key occurs twice')
  return document.toJS({ maxAliasCount: 0 })
}

function notALock(file: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('LOCK_NOT_READ', `${file} is not a valid cluster.lock`, {
    hint: 'restore it from version control, or delete it and run: hyperkube lock',
    cause,
  })
}
