import { z } from 'zod'
import { certificateSubject, keyUsage, subjectAltNames } from './certificate-spec.ts'
import { predecessorSchema } from './predecessor.ts'
import { probeSchema } from './probe.ts'
import { serviceSchema } from './service.ts'

/**
 * Stages of a plan, in order. A rollout can bring all hosts to one stage before any host continues with the
 * next.
 */
export const stageSchema = z.enum(['prepare', 'etcd', 'api', 'controllers', 'node', 'network'])
export type Stage = z.infer<typeof stageSchema>

export const stages: readonly Stage[] = stageSchema.options

/** Negative if `a` comes before `b`. */
export function compareStages(a: Stage, b: Stage): number {
  return stages.indexOf(a) - stages.indexOf(b)
}

/**
 * Owner and mode of a file or directory. On Windows, a mode without permissions for others, such as 0600,
 * means that only the system account and administrators have access.
 */
const access = {
  owner: z.string().min(1),
  mode: z.string().regex(/^0[0-7]{3}$/),
}

const directory = z.strictObject({ path: z.string(), ...access })
export type PlannedDirectory = z.infer<typeof directory>

/**
 * Desired content of a file. For a secret the plan holds only its name and a tag; the bytes are sent
 * separately. The tag changes when the bytes change.
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
  /** True if the component must restart to read a changed file. */
  restart: z.boolean(),
  /** If true, an existing file stays unchanged; the content is only used to create a missing file. */
  once: z.literal(true).optional(),
})
export type PlannedFile = z.infer<typeof file>

/**
 * A file that the host renders from a template. The values come from a file with NAME=VALUE lines that a
 * component writes.
 */
const derivedFile = z.strictObject({
  path: z.string(),
  ...access,
  from: z.string(),
  /**
   * `${NAME}` is replaced by the value. If the value is an address with a prefix length, `${NAME|network}` is
   * replaced by its network.
   */
  template: z.string(),
})
export type DerivedFile = z.infer<typeof derivedFile>

export const certificateCa = z.enum(['kubernetes', 'etcd', 'front-proxy'])

/** A certificate whose key is created on the host and never leaves it. */
const certificate = z.strictObject({
  ca: certificateCa,
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
 * A file to download and unpack. Each version has its own directory, so the previous version stays available
 * for a rollback.
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
     * A tar archive. The first `strip` elements of each path are removed. On Windows it may also be a zip
     * archive, which the built-in tar can read.
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
  /** One port or a range of ports: 10250, 30000-32767. */
  ports: z.string().regex(/^\d+(-\d+)?$/),
})

/** Everything that one component needs on one host. */
export const componentPlan = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  stage: stageSchema,
  version: z.string().optional(),
  /** Components of the same host that start before this component, and that healing checks first. */
  needs: z.array(z.string()),
  users: z.array(z.string()),
  modules: z.array(z.string()),
  sysctls: z.record(z.string(), z.string()),
  firewall: z.array(firewallRule),
  directories: z.array(directory),
  artifacts: z.array(artifactSchema),
  /** Container images that must be present before the component starts. */
  images: z.array(z.string()),
  files: z.array(file),
  derivedFiles: z.array(derivedFile),
  certificates: z.array(certificate),
  /** What the component replaces on a host of an adopted cluster. */
  replaces: predecessorSchema.optional(),
  service: serviceSchema.optional(),
  probes: z.array(probeSchema),
})
export type ComponentPlan = z.infer<typeof componentPlan>

/** Returns a component plan in which all lists are empty. */
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
