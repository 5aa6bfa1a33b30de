import { z } from 'zod'
import { certificateSubject, keyUsage, subjectAltNames } from './certificate-spec.ts'
import { stageSchema } from './component-plan.ts'
import { predecessorRecord } from './predecessor.ts'
import type { Format } from './versioned.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const access = { owner: z.string().min(1), mode: z.string().regex(/^0[0-7]{3}$/) }

/** Parent directories that were created for the resource. They are removed with it if they are empty. */
const parents = z.array(z.string())

const common = {
  name: z.string(),
  /** Digest of the resource as described in the plan. */
  digest: z.string(),
  /** Components that own the resource. */
  owners: z.array(z.strictObject({ component: z.string(), stage: stageSchema, restart: z.boolean() })).min(1),
}

/**
 * Digest and attributes of a file. While the attributes are unchanged, the digest is valid and the file need
 * not be read.
 */
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

/** Owner and mode before the first change by hyperkube. They are restored when the resource is removed. */
const originalAccess = z.strictObject({
  uid: z.int(),
  gid: z.int(),
  mode: z.int(),
  /** Windows security descriptor. */
  sddl: z.string().optional(),
})

/** One resource on the host, with the data that is needed to detect drift and to remove the resource. */
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
    /** Path of the backup of a file that existed before hyperkube wrote its own. */
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
    target: z.literal('predecessor'),
    record: predecessorRecord,
    /** False if the removal of the resource must not restore the predecessor. */
    kept: z.boolean(),
  }),
  z.strictObject({
    ...common,
    target: z.literal('service'),
    /** Digest of the unit file. */
    sha256,
    backup: z.string().optional(),
    /** True if the service has been observed running since its installation. */
    started: z.boolean(),
    /** Names of resources that changed since the service started. The service must restart to read them. */
    pendingChanges: z.array(z.string()),
  }),
])
export type LedgerResource = z.infer<typeof resource>

const ledger = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Ledger'),
  cluster: z.strictObject({ name: z.string(), id: z.uuid() }),
  resources: z.array(resource),
  /** Data directories of removed components. Only `reset` deletes them. */
  retainedDirectories: z.array(z.string()),
})
/**
 * All resources that the agent has created on its host. A resource stays in the ledger until its removal has
 * succeeded.
 */
export type Ledger = z.infer<typeof ledger>

export const ledgerFormat: Format<Ledger> = {
  kind: 'Ledger',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: ledger },
  older: [],
}

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ArtifactManifest'),
  /** SHA-256 of the downloaded file. */
  sha256,
  /** SHA-256 of each unpacked file, by its path in the artifact's directory. */
  files: z.record(z.string(), sha256),
})
export type ArtifactManifest = z.infer<typeof manifest>

/**
 * Format of the manifest in the directory of an unpacked artifact. The manifest lists the digests of the
 * artifact's files.
 */
export const artifactManifestFormat: Format<ArtifactManifest> = {
  kind: 'ArtifactManifest',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}
