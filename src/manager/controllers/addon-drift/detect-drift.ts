import { z } from 'zod'
import { type Addon, labelManifests } from '../../../addons/addon.ts'
import type { LiveObjects } from '../../../addons/live-objects.ts'
import {
  describeReference,
  formatReferenceKey,
  type ObjectReference,
  toReference,
} from '../../../addons/reference.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { satisfies } from '../../../kube/satisfies.ts'
import { fieldManager } from '../../../kube/write-objects.ts'

export interface AddonObjectDrift {
  /** Description for people, for example Deployment kube-system/coredns. */
  readonly description: string
  readonly state: 'gone' | 'changed'
}

/**
 * Finds objects that differ from the applied manifests. A difference counts only if another manager wrote the
 * object later, because the API normalizes values.
 */
export function detectAddonDrift(addon: Addon, live: LiveObjects): AddonObjectDrift[] {
  return labelManifests(addon).flatMap((manifest): AddonObjectDrift[] => {
    const object = live.get(formatReferenceKey(toReference(manifest)))
    const description = describeReference(toReference(manifest))
    if (object === undefined) return [{ description, state: 'gone' }]
    return satisfies(object, manifest) || !isChangedByOthers(object)
      ? []
      : [{ description, state: 'changed' }]
  })
}

/** Finds objects of the inventory that no longer exist. */
export function findMissingObjects(
  entries: readonly ObjectReference[],
  live: LiveObjects,
): AddonObjectDrift[] {
  return entries
    .filter((entry) => !live.has(formatReferenceKey(entry)))
    .map((entry) => ({ description: describeReference(entry), state: 'gone' }))
}

const managed = z.looseObject({
  managedFields: z
    .array(
      z.looseObject({
        manager: z.string().default(''),
        time: z.string().default(''),
        subresource: z.string().default(''),
      }),
    )
    .default([]),
})

/** True if another manager has written more than the status since hyperkube's last apply. */
function isChangedByOthers({ metadata }: KubeObject): boolean {
  const entries = managed.parse(metadata).managedFields.filter(({ subresource }) => subresource === '')
  const ownTimes = entries
    .filter(({ manager }) => manager === fieldManager)
    .map(({ time }) => Date.parse(time))
  return entries.some(
    ({ manager, time }) => manager !== fieldManager && !(Date.parse(time) < Math.max(...ownTimes)),
  )
}
