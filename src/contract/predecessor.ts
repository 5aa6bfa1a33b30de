import { z } from 'zod'

/** Directory that a component takes over. Both paths are on the same file system. */
const takenData = z.strictObject({ from: z.string(), to: z.string(), owner: z.string() })
export type TakenData = z.infer<typeof takenData>

/**
 * What ran on an adopted host before a component of hyperkube. `kept` is true while the host can return to it;
 * `adopt commit` makes it false.
 */
export const predecessorSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('static-pod'),
    /** Path of its manifest. */
    manifest: z.string(),
    /** Name of the program that the pod runs. */
    program: z.string(),
    data: takenData.optional(),
    kept: z.boolean(),
  }),
  /** A systemd unit with the same name as the unit of the component. */
  z.strictObject({ kind: z.literal('unit'), unit: z.string(), kept: z.boolean() }),
  z.strictObject({
    kind: z.literal('container'),
    /** Name of the container in Docker. */
    container: z.string(),
    data: takenData.optional(),
    kept: z.boolean(),
  }),
  /**
   * Docker with its containerd, which runs the pods of a node. It ends with the containers that the components
   * of the node replace.
   */
  z.strictObject({ kind: z.literal('docker'), containers: z.array(z.string()), kept: z.boolean() }),
])
export type Predecessor = z.infer<typeof predecessorSchema>

/** Returns the name that identifies a predecessor on its host. */
export function namePredecessor(predecessor: Predecessor): string {
  if (predecessor.kind === 'static-pod') return predecessor.manifest
  if (predecessor.kind === 'unit') return predecessor.unit
  return predecessor.kind === 'container' ? predecessor.container : predecessor.kind
}

/** True if a host with these components can return to what they have replaced. */
export function canReturn(components: readonly { readonly replaces?: Predecessor | undefined }[]): boolean {
  return components.some(({ replaces }) => replaces?.kept === true)
}

const takenDataRecord = z.strictObject({
  from: z.string(),
  to: z.string(),
  owner: z.string(),
  /** Owner of the data before hyperkube. */
  uid: z.int(),
  gid: z.int(),
})
export type TakenDataRecord = z.infer<typeof takenDataRecord>

const staticPodRecord = z.strictObject({
  kind: z.literal('static-pod'),
  manifest: z.string(),
  program: z.string(),
  /** Path of the manifest while the component runs instead of the pod. */
  keptManifest: z.string(),
  data: takenDataRecord.optional(),
})
export type StaticPodRecord = z.infer<typeof staticPodRecord>

const unitRecord = z.strictObject({
  kind: z.literal('unit'),
  unit: z.string(),
  running: z.boolean(),
  enabled: z.boolean(),
  /** Target of the link that enabled the unit, if it was in `multi-user.target.wants`. */
  link: z.string().optional(),
  /** Drop-in files of the unit. They must not apply to the unit of the component. */
  dropIns: z.array(
    z.strictObject({
      path: z.string(),
      /** Where the file is now; absent if it only exists in a directory of packages. */
      backup: z.string().optional(),
      /** True if a link to /dev/null hides a file of the same name in a directory of packages. */
      masked: z.boolean(),
    }),
  ),
  /** True if hyperkube created the directory of the drop-in files. */
  createdDirectory: z.boolean(),
})
export type UnitRecord = z.infer<typeof unitRecord>

/** Restart policy of a container. Docker uses the number of retries only with `on-failure`; 0 is no limit. */
const restartPolicySchema = z.strictObject({
  name: z.enum(['no', 'always', 'unless-stopped', 'on-failure']),
  retries: z.int().min(0),
})
export type RestartPolicy = z.infer<typeof restartPolicySchema>

/** A container and what Docker does with it, before hyperkube. */
const containerState = z.strictObject({
  container: z.string(),
  running: z.boolean(),
  restartPolicy: restartPolicySchema,
})
export type ContainerState = z.infer<typeof containerState>

const containerRecord = containerState.extend({
  kind: z.literal('container'),
  data: takenDataRecord.optional(),
})
export type ContainerRecord = z.infer<typeof containerRecord>

const dockerRecord = z.strictObject({
  kind: z.literal('docker'),
  containers: z.array(containerState),
  /** Units of Docker itself. */
  units: z.array(z.strictObject({ unit: z.string(), running: z.boolean(), enabled: z.boolean() })),
  /** The containerd of Docker, whose unit has the name of hyperkube's. */
  runtime: unitRecord,
  /** Names in the data directory of containerd. They are kept apart from the data of hyperkube's containerd. */
  data: z.array(z.string()),
})
export type DockerRecord = z.infer<typeof dockerRecord>

/** Data with which a host returns to the predecessor. */
export const predecessorRecord = z.discriminatedUnion('kind', [
  staticPodRecord,
  unitRecord,
  containerRecord,
  dockerRecord,
])
export type PredecessorRecord = z.infer<typeof predecessorRecord>
