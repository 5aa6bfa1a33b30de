import type { Manifest } from '../kube/object.ts'

/** A set of objects that is applied, kept as desired, and removed as a whole. */
export interface Addon {
  /** Valid as a label value: lower-case letters, digits and dashes. */
  readonly name: string
  readonly manifests: readonly Manifest[]
  /** True to take over fields that other field managers own. */
  readonly force?: boolean
  /** False to wait only for CRDs and namespaces. Other objects only have to exist. */
  readonly wait?: boolean
}

/** Label on every object of an addon. Its value is the name of the addon. */
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
