import { z } from 'zod'
import { probe } from './probe.ts'
import { service } from './service.ts'
import { stage } from './stage.ts'
import { alternativeNames, subject, usage } from './certificate-spec.ts'

/** On Windows a mode without rights for others means: for the system and administrators alone. */
const access = {
  owner: z.string().min(1),
  mode: z.string().regex(/^0[0-7]{3}$/),
}

const directory = z.strictObject({ path: z.string(), ...access })
export type PlannedDirectory = z.infer<typeof directory>

/**
 * What shall be in a file. A secret is only named: its bytes travel apart from the plan, and its tag changes when they
 * do.
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
  /** Whether the component sees a change only after a restart. */
  restart: z.boolean(),
  /** Whether what it says matters only to whoever has none yet: one that is there stays as it is. */
  once: z.literal(true).optional(),
})
export type PlannedFile = z.infer<typeof file>

/** A file that the host itself fills in, from lines of NAME=VALUE that a component has written. */
const derivedFile = z.strictObject({
  path: z.string(),
  ...access,
  from: z.string(),
  /** With ${NAME} for a value; ${NAME|network} for the network that an address with a prefix lies in. */
  template: z.string(),
})
export type DerivedFile = z.infer<typeof derivedFile>

/** A certificate whose key is made on the host and never leaves it. */
const certificate = z.strictObject({
  authority: z.enum(['kubernetes', 'etcd', 'front-proxy']),
  subject,
  names: alternativeNames,
  usages: z.array(usage).min(1).readonly(),
  /** Milliseconds. */
  lifetime: z.int(),
  owner: z.string().min(1),
  certificateFile: z.string(),
  keyFile: z.string(),
})
export type PlannedCertificate = z.infer<typeof certificate>

/** A file that is fetched and put into a directory of its own version, so that the former one stays to go back to. */
const download = z.strictObject({
  from: z.literal('url'),
  name: z.string(),
  version: z.string(),
  url: z.url({ protocol: /^https?$/ }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  directory: z.string(),
  unpack: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('program'), as: z.string() }),
    /** A tar archive; `strip` leading parts of each path are left out. On Windows also zip, which its own tar reads. */
    z.strictObject({ kind: z.literal('archive'), strip: z.int().min(0) }),
  ]),
})

/** hyperkube itself, brought by whoever brings the plan. */
const own = z.strictObject({
  from: z.literal('this-release'),
  name: z.literal('hyperkube'),
  version: z.string(),
  directory: z.string(),
})

export const artifact = z.discriminatedUnion('from', [download, own])
export type PlannedArtifact = z.infer<typeof artifact>

const firewallRule = z.strictObject({
  name: z.string(),
  protocol: z.enum(['tcp', 'udp']),
  /** 10250, or 30000-32767. */
  ports: z.string().regex(/^\d+(-\d+)?$/),
})

/** All that one component needs on one host. */
export const componentPlan = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  stage,
  version: z.string().optional(),
  /** Components of the same host that must run before it, and that healing looks at before it. */
  needs: z.array(z.string()),
  users: z.array(z.string()),
  modules: z.array(z.string()),
  sysctls: z.record(z.string(), z.string()),
  firewall: z.array(firewallRule),
  directories: z.array(directory),
  artifacts: z.array(artifact),
  /** Images that must be there before it starts. */
  images: z.array(z.string()),
  files: z.array(file),
  derivedFiles: z.array(derivedFile),
  certificates: z.array(certificate),
  service: service.optional(),
  probes: z.array(probe),
})
export type ComponentPlan = z.infer<typeof componentPlan>

/** All that a component may have, as nothing. */
export function bareComponent(): Omit<ComponentPlan, 'name' | 'stage'> {
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
