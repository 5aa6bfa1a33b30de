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
  /** True if the field holds a secret. Its values are then left out. */
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
    /** Fields that this apply takes over from other field managers. */
    taken: z.array(conflict).optional(),
  }),
  z.strictObject({
    ...reference,
    change: z.literal('conflict'),
    conflicts: z.array(conflict),
    hint: z.string(),
  }),
  /** The API rejects the manifest. */
  z.strictObject({ ...reference, change: z.literal('refused'), reason: z.string() }),
  /** The change is unknown, because a dry run is not possible. */
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
  reason: z.enum(['gone', 'moved', 'found', 'foreign', 'policy', 'moving', 'in use']).optional(),
})
export type PrunedObject = z.infer<typeof prunedObjectSchema>

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AddonDifference'),
  addon: z.string(),
  /** Digest of all desired objects, without the values of Secrets. */
  digest: z.string(),
  /** True if an earlier run was interrupted before all objects were ready. */
  unfinished: z.literal(true).optional(),
  /**
   * True if no object would change, but the cluster records other manifests as applied. Controllers look for
   * drift only in addons with a current record.
   */
  outdatedRecord: z.literal(true).optional(),
  objects: z.array(objectChangeSchema),
  toPrune: z.array(prunedObjectSchema),
  findings: z.array(findingSchema),
})
/**
 * Changes that applying an addon would make. Commands print, store and compare this document, so it holds no
 * secret.
 */
export type AddonDifference = z.infer<typeof document>

export const differenceFormat: Format<AddonDifference> = {
  kind: 'AddonDifference',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** True if every object of the addon would be created. */
export function isEntirelyNew({ objects }: AddonDifference): boolean {
  return objects.length > 0 && objects.every(({ change }) => change === 'create')
}

/** True if applying the addon would change nothing. */
export function isEmptyDifference(difference: AddonDifference): boolean {
  const { unfinished, outdatedRecord, objects, toPrune } = difference
  if (unfinished === true || outdatedRecord === true) return false
  return objects.every(({ change }) => change === 'none') && toPrune.every(({ action }) => action === 'hold')
}

/** True if an object of an addon that was applied before is missing or was changed. */
export function hasDrift({ objects }: AddonDifference): boolean {
  return objects.some(({ change }) => change !== 'none')
}
