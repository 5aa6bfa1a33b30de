import type { Addon } from './addon.ts'
import type { AddonDifference } from './addon-difference.ts'
import { digestOf } from './addon-digest.ts'
import { referenceOf } from './reference.ts'

/** What putting an addon into a cluster would change that has nothing of it. */
export function entirely(addon: Addon): AddonDifference {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonDifference',
    addon: addon.name,
    digest: digestOf(addon),
    objects: addon.manifests.map((manifest) => ({ ...referenceOf(manifest), change: 'create' })),
    unwished: [],
    findings: [],
  }
}
