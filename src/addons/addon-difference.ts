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
  /** The field holds a secret, so its values are not shown. */
  hidden: z.literal(true).optional(),
})

const conflict = z.strictObject({ path: z.string(), manager: z.string() })

const objectChangeSchema = z.discriminatedUnion('change', [
  z.strictObject({ ...reference, change: z.literal('none') }),
  z.strictObject({ ...reference, change: z.literal('create') }),
  z.strictObject({
    ...reference,
    change: z.literal('change'),
    fields: z.array(field),
    /** Fields of other managers that are taken over. */
    taken: z.array(conflict).optional(),
  }),
  z.strictObject({
    ...reference,
    change: z.literal('conflict'),
    conflicts: z.array(conflict),
    hint: z.string(),
  }),
  /** The API refuses the manifest. */
  z.strictObject({ ...reference, change: z.literal('refused'), reason: z.string() }),
  /** The change cannot be predicted, because a dry run is not possible. */
  z.strictObject({ ...reference, change: z.literal('unknown'), reason: z.string() }),
])
export type DesiredObjectChange = z.infer<typeof objectChangeSchema>

const prunedObjectSchema = z.strictObject({
  ...reference,
  /**
   * `remove` deletes the object; `forget` leaves it alone and drops its inventory entry; `hold` keeps it
   * until it can be removed.
   */
  action: z.enum(['remove', 'forget', 'hold']),
  reason: z.enum(['gone', 'moved', 'found', 'foreign', 'moving', 'in use']).optional(),
})
export type PrunedObject = z.infer<typeof prunedObjectSchema>

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AddonDifference'),
  addon: z.string(),
  /** Digest of everything desired, without the values of Secrets. */
  digest: z.string(),
  /** A run was interrupted before all objects were ready. */
  unfinished: z.literal(true).optional(),
  objects: z.array(objectChangeSchema),
  toPrune: z.array(prunedObjectSchema),
  findings: z.array(findingSchema),
})
/** What applying an addon would change, as it is printed, stored and compared. It holds no secret. */
export type AddonDifference = z.infer<typeof document>

export const differenceFormat: Format<AddonDifference> = {
  kind: 'AddonDifference',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** True if none of the objects exists yet. */
export function isEntirelyNew({ objects }: AddonDifference): boolean {
  return objects.length > 0 && objects.every(({ change }) => change === 'create')
}

/** True if there is nothing to change. */
export function isEmptyDifference({ unfinished, objects, toPrune }: AddonDifference): boolean {
  if (unfinished === true) return false
  return objects.every(({ change }) => change === 'none') && toPrune.every(({ action }) => action === 'hold')
}
