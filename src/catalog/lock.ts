import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { parseImage } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { arch } from './artifact-target.ts'

const version = z.string().regex(/^\d+\.\d+\.\d+$/, 'must be a full version such as 1.37.1')

const lockedArtifact = z.strictObject({
  component: z.string().min(1),
  version,
  os: z.enum(['linux', 'windows']),
  arch,
  /** Where upstream publishes it, also when it came from a mirror: a lock holds wherever it was made. */
  url: z.url({ protocol: /^https$/ }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
  /** Who says that this is the digest: upstream's checksum file, or only the first download there was. */
  trust: z.enum(['published', 'first-download']),
})
export type LockedArtifact = z.infer<typeof lockedArtifact>

export const lockSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Lock'),
  kubernetes: version,
  artifacts: z
    .array(lockedArtifact)
    .refine((all) => new Set(all.map(artifactId)).size === all.length, 'names an artifact twice'),
  /** With their digests; in locks that were made before images were pinned, by their names alone. */
  images: z.record(
    z.string(),
    z.string().refine((text) => parseImage(text) !== undefined, 'must be an image’s name in full'),
  ),
  /** Where there are Windows hosts: the builds of Windows that each image is for, as far as its index tells. */
  windowsBuilds: z.record(z.string(), z.array(z.int().min(1))).optional(),
})

/** The very files a cluster is made of. */
export type Lock = z.infer<typeof lockSchema>

/** What tells one artifact of a lock from another: kubelet linux/amd64. */
export function artifactId(artifact: Pick<LockedArtifact, 'component' | 'os' | 'arch'>): string {
  return `${artifact.component} ${artifact.os}/${artifact.arch}`
}

/** The images of a release by name, each as the lock pins it where it does. */
export function pinnedImages(
  { images }: Pick<Lock, 'images'>,
  release: { readonly images: Readonly<Record<string, string>> },
): Readonly<Record<string, string>> {
  return { ...release.images, ...images }
}

const heading = '# Written by hyperkube lock. Commit it beside cluster.yml.\n'

/** The same content always gives the same bytes. */
export function lockText(content: Lock): string {
  return (
    heading + stringify(inOrder(lockSchema.parse(content)), { lineWidth: 0, aliasDuplicateObjects: false })
  )
}

/** A lock in the one order that its content has in a file. */
export function inOrder({ apiVersion, kind, kubernetes, artifacts, images, windowsBuilds }: Lock): Lock {
  return {
    apiVersion,
    kind,
    kubernetes,
    artifacts: artifacts.toSorted((a, b) => byText(sortKey(a), sortKey(b))).map(artifactInOrder),
    images: byName(images),
    ...(windowsBuilds === undefined ? {} : { windowsBuilds: byName(windowsBuilds) }),
  }
}

function byName<T>(entries: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).toSorted(([a], [b]) => byText(a, b)))
}

function sortKey(artifact: LockedArtifact): string {
  return `${artifact.os}/${artifact.arch}/${artifact.component}`
}

function artifactInOrder({
  component,
  version: its,
  os,
  arch: on,
  url,
  sha256,
  trust,
}: LockedArtifact): LockedArtifact {
  return { component, version: its, os, arch: on, url, sha256, trust }
}

/** By code, not by a language's rules, which differ from machine to machine. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const largest = 1_000_000

/** A lock is written by a program: one that is wrong anywhere is refused as a whole. */
export function readLock(file: string, text: string): Lock {
  if (text.length > largest) throw notALock(file, new Error('it is larger than a lock can be'))
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0, logLevel: 'error' })
  } catch (cause) {
    throw notALock(file, cause)
  }
  const parsed = lockSchema.safeParse(value)
  if (!parsed.success) throw notALock(file, new Error(z.prettifyError(parsed.error)))
  return parsed.data
}

function notALock(file: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('LOCK_NOT_READ', `${file} is not a lock`, {
    hint: 'take it from version control again, or remove it and type hyperkube lock',
    cause,
  })
}
