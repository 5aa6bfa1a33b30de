import { z } from 'zod'
import { stageSchema } from './stage.ts'
import type { Format } from './versioned.ts'
import { subjectAltNames, certificateSubject, keyUsage } from './certificate-spec.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const access = { owner: z.string().min(1), mode: z.string().regex(/^0[0-7]{3}$/) }

/** Directories that were created for the resource, and are removed with it if they are empty. */
const parents = z.array(z.string())

const common = {
  name: z.string(),
  /** Digest of the resource in the plan. */
  digest: z.string(),
  /** Components that own the resource. */
  owners: z.array(z.strictObject({ component: z.string(), stage: stageSchema, restart: z.boolean() })).min(1),
}

/** Attributes of a hashed file: while they are unchanged, the digest is valid without reading the file. */
const hashedFile = z.strictObject({
  path: z.string(),
  sha256,
  mode: z.int(),
  size: z.int(),
  inode: z.string(),
  modified: z.string(),
  changed: z.string(),
})
export type HashedFile = z.infer<typeof hashedFile>

/** Access before the first change, to be restored on removal. */
const originalAccess = z.strictObject({
  uid: z.int(),
  gid: z.int(),
  mode: z.int(),
  /** Security descriptor, on Windows. */
  sddl: z.string().optional(),
})

/** One resource on the host, with the data to detect drift and to remove it. */
const resource = z.discriminatedUnion('target', [
  z.strictObject({ ...common, target: z.literal('user'), existed: z.boolean() }),
  z.strictObject({ ...common, target: z.literal('module') }),
  z.strictObject({
    ...common,
    target: z.literal('sysctl'),
    value: z.string(),
    before: z.string().optional(),
  }),
  z.strictObject({ ...common, target: z.literal('firewall-rule') }),
  z.strictObject({
    ...common,
    target: z.literal('directory'),
    ...access,
    before: originalAccess.optional(),
    parents,
  }),
  z.strictObject({
    ...common,
    target: z.literal('artifact'),
    from: z.enum(['url', 'this-release']),
    directory: z.string(),
    files: z.array(hashedFile),
  }),
  z.strictObject({ ...common, target: z.literal('image') }),
  z.strictObject({
    ...common,
    target: z.literal('file'),
    ...access,
    sha256,
    /** Backup of the file that existed before ours. */
    backup: z.string().optional(),
    parents,
  }),
  z.strictObject({
    ...common,
    target: z.literal('derived-file'),
    ...access,
    from: z.string(),
    template: z.string(),
    sha256,
    backup: z.string().optional(),
    parents,
  }),
  z.strictObject({
    ...common,
    target: z.literal('certificate'),
    owner: z.string(),
    keyFile: z.string(),
    ca: z.enum(['kubernetes', 'etcd', 'front-proxy']),
    subject: certificateSubject,
    names: subjectAltNames,
    usages: z.array(keyUsage).min(1).readonly(),
    lifetime: z.int(),
  }),
  z.strictObject({
    ...common,
    target: z.literal('service'),
    /** Digest of its unit. */
    sha256,
    backup: z.string().optional(),
    /** True if the service was observed running since it was installed. */
    started: z.boolean(),
    /** Names of resources that changed since the service started, and that it reads only at start. */
    pendingChanges: z.array(z.string()),
  }),
])
export type LedgerResource = z.infer<typeof resource>

const ledger = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Ledger'),
  cluster: z.strictObject({ name: z.string(), id: z.uuid() }),
  resources: z.array(resource),
  /** Data directories of removed components; only a reset deletes them. */
  retainedDirectories: z.array(z.string()),
})
/** Everything that the agent put on its host and that is not known to be gone. */
export type Ledger = z.infer<typeof ledger>

export const ledgerFormat: Format<Ledger> = {
  kind: 'Ledger',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: ledger },
  older: [],
}

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ArtifactManifest'),
  /** Digest of the download. */
  sha256,
  /** By path in the directory. */
  files: z.record(z.string(), sha256),
})
export type ArtifactManifest = z.infer<typeof manifest>

/** Digests of an artifact when it was unpacked; stored beside its files. */
export const artifactManifestFormat: Format<ArtifactManifest> = {
  kind: 'ArtifactManifest',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}
