import { z } from 'zod'

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
    /** Directory that the component takes over. Both paths are on the same file system. */
    data: z.strictObject({ from: z.string(), to: z.string(), owner: z.string() }).optional(),
    kept: z.boolean(),
  }),
  /** A systemd unit with the same name as the unit of the component. */
  z.strictObject({ kind: z.literal('unit'), unit: z.string(), kept: z.boolean() }),
])
export type Predecessor = z.infer<typeof predecessorSchema>

/** Returns the name that identifies a predecessor on its host. */
export function namePredecessor(predecessor: Predecessor): string {
  return predecessor.kind === 'unit' ? predecessor.unit : predecessor.manifest
}

/** True if a host with these components can return to what they have replaced. */
export function canReturn(components: readonly { readonly replaces?: Predecessor | undefined }[]): boolean {
  return components.some(({ replaces }) => replaces?.kept === true)
}

const staticPodRecord = z.strictObject({
  kind: z.literal('static-pod'),
  manifest: z.string(),
  program: z.string(),
  /** Path of the manifest while the component runs instead of the pod. */
  keptManifest: z.string(),
  data: z
    .strictObject({
      from: z.string(),
      to: z.string(),
      owner: z.string(),
      /** Owner of the data before hyperkube. */
      uid: z.int(),
      gid: z.int(),
    })
    .optional(),
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

/** Data with which a host returns to the predecessor. */
export const predecessorRecord = z.discriminatedUnion('kind', [staticPodRecord, unitRecord])
