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
 * True if hyperkube created the object for this addon. A user can set the same label, but cannot apply with
 * our field manager. An object that a user created and hyperkube applied later is older than our first field.
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

/** True if the entry records exactly this object, not another one of the same name. */
export function isEntryObject(entry: InventoryEntry, object: KubeObject, addon: string): boolean {
  return entry.uid === undefined ? isCreatedByAddon(object, addon) : entry.uid === object.metadata.uid
}
