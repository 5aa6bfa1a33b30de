import { z } from 'zod'
import { type Addon, labelled } from '../../../addons/addon.ts'
import type { Live } from '../../../addons/live-objects.ts'
import { describeReference, keyOf, type Reference, referenceOf } from '../../../addons/reference.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { satisfies } from '../../../kube/satisfies.ts'
import { fieldManager } from '../../../kube/write-objects.ts'

export interface Drift {
  /** For people: Deployment kube-system/coredns. */
  readonly what: string
  readonly is: 'gone' | 'changed'
}

/**
 * What of an addon is not as it was put there. That the API writes some values in its own way is no drift: somebody else
 * than we must have written the object after us.
 */
export function driftOf(addon: Addon, live: Live): Drift[] {
  return labelled(addon).flatMap((manifest): Drift[] => {
    const object = live.get(keyOf(referenceOf(manifest)))
    const what = describeReference(referenceOf(manifest))
    if (object === undefined) return [{ what, is: 'gone' }]
    return satisfies(object, manifest) || !isTouched(object) ? [] : [{ what, is: 'changed' }]
  })
}

/** What is not there any more. */
export function goneOf(entries: readonly Reference[], live: Live): Drift[] {
  return entries
    .filter((entry) => !live.has(keyOf(entry)))
    .map((entry) => ({ what: describeReference(entry), is: 'gone' }))
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

/** Whether others have written more of it than its status since we did. */
function isTouched({ metadata }: KubeObject): boolean {
  const entries = managed.parse(metadata).managedFields.filter(({ subresource }) => subresource === '')
  const own = entries.filter(({ manager }) => manager === fieldManager).map(({ time }) => Date.parse(time))
  return entries.some(
    ({ manager, time }) => manager !== fieldManager && !(Date.parse(time) < Math.max(...own)),
  )
}
