import { z } from 'zod'
import type { KubeObject } from '../kube/object.ts'
import { fieldManager } from '../kube/write-objects.ts'
import { addonLabel } from './addon.ts'
import type { InventoryEntry } from './inventory.ts'

const ownedMetadata = z.looseObject({
  creationTimestamp: z.string(),
  labels: z.record(z.string(), z.string()),
  managedFields: z.array(
    z.looseObject({
      manager: z.string().optional(),
      operation: z.string().optional(),
      subresource: z.string().optional(),
      time: z.string().optional(),
    }),
  ),
})

/**
 * True if hyperkube created the object for this addon. The label alone is not enough, because users can set
 * it. If a user created the object, hyperkube's first apply is later than the creation.
 */
export function isCreatedByAddon({ metadata }: KubeObject, addon: string): boolean {
  const parsed = ownedMetadata.safeParse(metadata)
  if (!parsed.success || parsed.data.labels[addonLabel] !== addon) return false
  const { creationTimestamp, managedFields } = parsed.data
  return managedFields.some(
    ({ manager, operation, subresource = '', time }) =>
      manager === fieldManager &&
      operation === 'Apply' &&
      subresource === '' &&
      time !== undefined &&
      Date.parse(time) <= Date.parse(creationTimestamp),
  )
}

/** True if the entry records exactly this object, not another one with the same name. */
export function isEntryObject(entry: InventoryEntry, object: KubeObject, addon: string): boolean {
  return entry.uid === undefined ? isCreatedByAddon(object, addon) : entry.uid === object.metadata.uid
}
