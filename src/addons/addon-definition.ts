import type { Manifest } from '../kube/object.ts'
import type { AddonInput } from './addon-input.ts'
import type { builtInAddons } from '../spec/addons.ts'

/** An addon that comes with hyperkube. */
export interface AddonDefinition {
  readonly name: (typeof builtInAddons)[number]
  /** A few words for people. */
  readonly description: string
  /** Key of its settings in cluster.yml. */
  readonly setting: 'dns' | 'metrics' | 'ingress' | 'storage'
  /** Names of its images in the catalog. The first image is the main program. */
  readonly images: readonly [string, ...string[]]
  /** Empty where cluster.yml says `none`. */
  readonly buildManifests: (input: AddonInput) => readonly Manifest[]
}

export function findAddonImage({ images }: Pick<AddonInput, 'images'>, name: string): string {
  return images[name] ?? ''
}
