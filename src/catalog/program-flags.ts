import { z } from 'zod'

/** A program whose flags cluster.yml can set. */
export const programNameSchema = z.enum([
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'flanneld',
  'kube-router',
])
export type ProgramName = z.infer<typeof programNameSchema>

/** Flags of a program. The key is the flag name without dashes. */
const flagsSchema = z.record(
  z.string().regex(/^\w[\w.-]{0,99}$/),
  /**
   * `boolean` flags accept only true or false. Other types are not distinguished, because programs do not
   * print them reliably.
   */
  z.enum(['boolean', 'value']),
)
export type Flags = Readonly<z.infer<typeof flagsSchema>>

export const programFlagsSchema = z.partialRecord(programNameSchema, flagsSchema)
export type ProgramFlags = Readonly<Partial<Record<ProgramName, Flags>>>

/** Difference of a program's flags between two minors. Removed flags have their previous kind. */
const flagChangesSchema = z.partialRecord(z.enum(['added', 'changed', 'removed']), flagsSchema)
export type FlagChanges = Readonly<Partial<Record<'added' | 'changed' | 'removed', Flags>>>

const minorSchema = z.string().regex(/^\d+\.\d+$/)

/** Flags of all minors of a component, as the generator stores them. */
export interface FlagTable {
  /** Flags of the oldest minor. */
  readonly base: { readonly minor: string; readonly flags: ProgramFlags }
  /** Differences of each later minor from the previous minor, oldest first. */
  readonly changes: readonly {
    readonly minor: string
    readonly programs: Readonly<Partial<Record<ProgramName, FlagChanges>>>
  }[]
}

export const flagTableSchema = z.strictObject({
  base: z.strictObject({ minor: minorSchema, flags: programFlagsSchema }),
  changes: z.array(
    z.strictObject({ minor: minorSchema, programs: z.partialRecord(programNameSchema, flagChangesSchema) }),
  ),
})

/** A removed flag that is not in any generated flag list. */
export const removedFlagSchema = z.strictObject({
  program: programNameSchema,
  /** Flag name without dashes. A trailing star matches any suffix. */
  flag: z.string().regex(/^\w[\w.-]{0,99}\*?$/),
  /** First minor version of the program that refuses to start with the flag. */
  removedIn: minorSchema,
})
export type RemovedFlag = Readonly<z.infer<typeof removedFlagSchema>>
