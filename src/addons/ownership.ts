import { z } from 'zod'
import type { KubeObject } from '../kube/object.ts'
import { fieldManager } from '../kube/write-objects.ts'
import { addonLabel } from './addon.ts'
import type { Entry } from './inventory.ts'

const marked = z.looseObject({
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
 * Whether an object was made by us for an addon. A user can write the same label, but cannot apply in our name; and what
 * a user has made, and we have applied to only later, has been there before our first field was.
 */
export function isMarked({ metadata }: KubeObject, addon: string): boolean {
  const parsed = marked.safeParse(metadata)
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

/** Whether an object is the very one that an entry of this addon's inventory is about, and no other of its name. */
export function isRecorded(entry: Entry, object: KubeObject, addon: string): boolean {
  return entry.uid === undefined ? isMarked(object, addon) : entry.uid === object.metadata.uid
}
