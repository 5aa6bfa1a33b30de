import type { Manifest } from '../kube/object.ts'
import type { AddonInput } from './addon-input.ts'
import type { builtInAddons } from '../spec/addons.ts'

/** An addon that comes with hyperkube. */
export interface AddonDefinition {
  readonly name: (typeof builtInAddons)[number]
  /** Short description of the addon, shown to operators. */
  readonly description: string
  /** Key of the addon's settings in cluster.yml. */
  readonly setting: 'dns' | 'metrics' | 'ingress' | 'storage'
  /** Names of the addon's images in the catalog. The first image is the main program. */
  readonly images: readonly [string, ...string[]]
  /** Builds the objects of the addon. Empty if the setting in cluster.yml is `none`. */
  readonly buildManifests: (input: AddonInput) => readonly Manifest[]
}

export function findAddonImage({ images }: Pick<AddonInput, 'images'>, name: string): string {
  return images[name] ?? ''
}
