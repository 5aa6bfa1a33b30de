import { z } from 'zod'
import { stage } from './stage.ts'
import type { Format } from './versioned.ts'
import { alternativeNames, subject, usage } from './certificate-spec.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const access = { owner: z.string().min(1), mode: z.string().regex(/^0[0-7]{3}$/) }

/** Directories that had to be made for it, and go with it when nothing else is in them. */
const parents = z.array(z.string())

const common = {
  name: z.string(),
  /** Of what the plan says of it. */
  digest: z.string(),
  /** The components that have it. */
  of: z.array(z.strictObject({ component: z.string(), stage, restart: z.boolean() })).min(1),
}

/** What is known of a file that was hashed: while that is the same, so is the digest. */
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

/** How it was before us, and shall be after us. */
const formerAccess = z.strictObject({
  uid: z.int(),
  gid: z.int(),
  mode: z.int(),
  /** In the words of Windows, where that is what the host has. */
  sddl: z.string().optional(),
})

/** One thing that is on the host, with what is needed to find out whether it is still so, and to take it away. */
const thing = z.discriminatedUnion('target', [
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
    before: formerAccess.optional(),
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
    /** Where the file is that was in its place before us. */
    kept: z.string().optional(),
    parents,
  }),
  z.strictObject({
    ...common,
    target: z.literal('derived-file'),
    ...access,
    from: z.string(),
    template: z.string(),
    sha256,
    kept: z.string().optional(),
    parents,
  }),
  z.strictObject({
    ...common,
    target: z.literal('certificate'),
    owner: z.string(),
    keyFile: z.string(),
    authority: z.enum(['kubernetes', 'etcd', 'front-proxy']),
    subject,
    names: alternativeNames,
    usages: z.array(usage).min(1).readonly(),
    lifetime: z.int(),
  }),
  z.strictObject({
    ...common,
    target: z.literal('service'),
    /** Of its unit. */
    sha256,
    kept: z.string().optional(),
    /** Whether it was seen to run since it was put there. */
    started: z.boolean(),
    /** Names of things that have changed since it started, and that it sees only when it starts. */
    unseen: z.array(z.string()),
  }),
])
export type LedgerThing = z.infer<typeof thing>

const ledger = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Ledger'),
  cluster: z.strictObject({ name: z.string(), id: z.uuid() }),
  things: z.array(thing),
  /** Directories with data of a component that has left; only a reset takes them away. */
  left: z.array(z.string()),
})
/** All that the agent ever put on its host, and that is not known to be gone. */
export type Ledger = z.infer<typeof ledger>

export const ledgerFormat: Format<Ledger> = {
  kind: 'Ledger',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: ledger },
  older: [],
}

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ArtifactManifest'),
  /** Of what was fetched. */
  sha256,
  /** By the path in the directory. */
  files: z.record(z.string(), sha256),
})
export type ArtifactManifest = z.infer<typeof manifest>

/** What an artifact was when it was unpacked; it lies beside its files. */
export const artifactManifestFormat: Format<ArtifactManifest> = {
  kind: 'ArtifactManifest',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}
