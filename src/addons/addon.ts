import type { Manifest } from '../kube/object.ts'

/** A set of objects that is applied, kept as desired, and removed as a whole. */
export interface Addon {
  /** Valid as a label value: lower-case letters, digits and dashes. */
  readonly name: string
  readonly manifests: readonly Manifest[]
  /** Take over fields that other field managers own. */
  readonly force?: boolean
  /** False: do not wait until workloads are ready; it is enough that all objects exist. */
  readonly wait?: boolean
}

/** Label on every object with the name of its addon. */
export const addonLabel = 'hyperkube.dev/addon'

/** Adds the addon label to all manifests. */
export function labelManifests({ name, manifests }: Pick<Addon, 'name' | 'manifests'>): Manifest[] {
  return manifests.map((manifest) => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...Object(manifest.metadata['labels']), [addonLabel]: name },
    },
  }))
}
