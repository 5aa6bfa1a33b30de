import { z } from 'zod'
import { findingSchema } from '../contract/finding.ts'
import type { Format } from '../contract/versioned.ts'

const reference = {
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
}

const field = z.strictObject({
  path: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  /** It holds a secret, and is not shown. */
  hidden: z.literal(true).optional(),
})

const conflict = z.strictObject({ path: z.string(), manager: z.string() })

const wished = z.discriminatedUnion('change', [
  z.strictObject({ ...reference, change: z.literal('none') }),
  z.strictObject({ ...reference, change: z.literal('create') }),
  z.strictObject({
    ...reference,
    change: z.literal('change'),
    fields: z.array(field),
    /** Fields that others have set, and that are taken over. */
    taken: z.array(conflict).optional(),
  }),
  z.strictObject({
    ...reference,
    change: z.literal('conflict'),
    conflicts: z.array(conflict),
    hint: z.string(),
  }),
  /** The API does not take it as it is. */
  z.strictObject({ ...reference, change: z.literal('refused'), reason: z.string() }),
  /** It cannot be told before it is done. */
  z.strictObject({ ...reference, change: z.literal('unknown'), reason: z.string() }),
])
export type WishedObject = z.infer<typeof wished>

const unwished = z.strictObject({
  ...reference,
  /** Removed; left alone and forgotten; or kept until it can go. */
  act: z.enum(['remove', 'forget', 'hold']),
  why: z.enum(['gone', 'moved', 'found', 'foreign', 'moving', 'in use']).optional(),
})
export type UnwishedObject = z.infer<typeof unwished>

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AddonDifference'),
  addon: z.string(),
  /** Of all that is wished, but for what is in Secrets. */
  digest: z.string(),
  /** A run was cut before all of it was ready. */
  unfinished: z.literal(true).optional(),
  objects: z.array(wished),
  unwished: z.array(unwished),
  findings: z.array(findingSchema),
})
/** What would be changed for an addon, as it is shown, kept and compared. It holds no secret. */
export type AddonDifference = z.infer<typeof document>

export const differenceFormat: Format<AddonDifference> = {
  kind: 'AddonDifference',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** Whether nothing of it is there yet. */
export function isEntirelyNew({ objects }: AddonDifference): boolean {
  return objects.length > 0 && objects.every(({ change }) => change === 'create')
}

/** Whether there is nothing to do. */
export function isNone({ unfinished, objects, unwished: gone }: AddonDifference): boolean {
  if (unfinished === true) return false
  return objects.every(({ change }) => change === 'none') && gone.every(({ act }) => act === 'hold')
}
