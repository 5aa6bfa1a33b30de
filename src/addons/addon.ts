import type { Manifest } from '../kube/object.ts'

/** Something that is put into a cluster as a whole, kept as it is wished, and taken away as a whole. */
export interface Addon {
  /** As a label may be: lower-case letters, digits and dashes. */
  readonly name: string
  readonly manifests: readonly Manifest[]
  /** Take fields that others own. */
  readonly force?: boolean
  /** False: it is enough that all of it is there. */
  readonly wait?: boolean
}

/** Says on every object which addon it is of. */
export const addonLabel = 'hyperkube.dev/addon'

/** The manifests as they are applied: each says which addon it is of. */
export function labelled({ name, manifests }: Pick<Addon, 'name' | 'manifests'>): Manifest[] {
  return manifests.map((manifest) => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...Object(manifest.metadata['labels']), [addonLabel]: name },
    },
  }))
}
