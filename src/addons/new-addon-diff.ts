import type { Addon } from './addon.ts'
import type { AddonDifference } from './addon-difference.ts'
import { computeAddonDigest } from './addon-digest.ts'
import { toReference } from './reference.ts'

/** Computes the difference for a cluster that has no object of this addon yet. */
export function diffNewAddon(addon: Addon): AddonDifference {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonDifference',
    addon: addon.name,
    digest: computeAddonDigest(addon),
    objects: addon.manifests.map((manifest) => ({ ...toReference(manifest), change: 'create' })),
    toPrune: [],
    findings: [],
  }
}
