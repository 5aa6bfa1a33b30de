import { z } from 'zod'
import { probeSchema } from './probe.ts'
import { serviceSchema } from './service.ts'
import { stageSchema } from './stage.ts'
import { subjectAltNames, certificateSubject, keyUsage } from './certificate-spec.ts'

/** On Windows, a mode without permissions for others means: only the system and administrators. */
const access = {
  owner: z.string().min(1),
  mode: z.string().regex(/^0[0-7]{3}$/),
}

const directory = z.strictObject({ path: z.string(), ...access })
export type PlannedDirectory = z.infer<typeof directory>

/**
 * Desired content of a file. A secret appears by name only: its bytes travel separately, and its tag changes
 * with them.
 */
const content = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('secret'), secret: z.string(), tag: z.string() }),
])
export type FileContent = z.infer<typeof content>

const file = z.strictObject({
  path: z.string(),
  ...access,
  content,
  /** True if the component reads a change only after a restart. */
  restart: z.boolean(),
  /** The content is only a default for a new file: an existing file stays unchanged. */
  once: z.literal(true).optional(),
})
export type PlannedFile = z.infer<typeof file>

/** A file that the host renders from NAME=VALUE lines that a component has written. */
const derivedFile = z.strictObject({
  path: z.string(),
  ...access,
  from: z.string(),
  /** `${NAME}` stands for a value; `${NAME|network}` for the network of an address with a prefix. */
  template: z.string(),
})
export type DerivedFile = z.infer<typeof derivedFile>

/** A certificate whose key is created on the host and never leaves it. */
const certificate = z.strictObject({
  ca: z.enum(['kubernetes', 'etcd', 'front-proxy']),
  subject: certificateSubject,
  names: subjectAltNames,
  usages: z.array(keyUsage).min(1).readonly(),
  /** Milliseconds. */
  lifetime: z.int(),
  owner: z.string().min(1),
  certificateFile: z.string(),
  keyFile: z.string(),
})
export type PlannedCertificate = z.infer<typeof certificate>

/**
 * A download that is unpacked into a directory per version, so that the previous version stays for a
 * rollback.
 */
const download = z.strictObject({
  from: z.literal('url'),
  name: z.string(),
  version: z.string(),
  url: z.url({ protocol: /^https?$/ }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  directory: z.string(),
  unpack: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('program'), as: z.string() }),
    /**
     * A tar archive; the first `strip` elements of each path are removed. On Windows also zip, which the
     * built-in tar reads.
     */
    z.strictObject({ kind: z.literal('archive'), strip: z.int().min(0) }),
  ]),
})

/** hyperkube itself, uploaded by the client that applies the plan. */
const ownRelease = z.strictObject({
  from: z.literal('this-release'),
  name: z.literal('hyperkube'),
  version: z.string(),
  directory: z.string(),
})

export const artifactSchema = z.discriminatedUnion('from', [download, ownRelease])
export type PlannedArtifact = z.infer<typeof artifactSchema>

const firewallRule = z.strictObject({
  name: z.string(),
  protocol: z.enum(['tcp', 'udp']),
  /** 10250, or 30000-32767. */
  ports: z.string().regex(/^\d+(-\d+)?$/),
})

/** Everything that one component needs on one host. */
export const componentPlan = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  stage: stageSchema,
  version: z.string().optional(),
  /** Components of the same host that must run first, and that healing checks first. */
  needs: z.array(z.string()),
  users: z.array(z.string()),
  modules: z.array(z.string()),
  sysctls: z.record(z.string(), z.string()),
  firewall: z.array(firewallRule),
  directories: z.array(directory),
  artifacts: z.array(artifactSchema),
  /** Images that must be present before the component starts. */
  images: z.array(z.string()),
  files: z.array(file),
  derivedFiles: z.array(derivedFile),
  certificates: z.array(certificate),
  service: serviceSchema.optional(),
  probes: z.array(probeSchema),
})
export type ComponentPlan = z.infer<typeof componentPlan>

/** The required fields of a component, all empty. */
export function emptyComponent(): Omit<ComponentPlan, 'name' | 'stage'> {
  return {
    needs: [],
    users: [],
    modules: [],
    sysctls: {},
    firewall: [],
    directories: [],
    artifacts: [],
    images: [],
    files: [],
    derivedFiles: [],
    certificates: [],
    probes: [],
  }
}
