import type { Manifest } from '../kube/object.ts'
import type { AddonInput } from './addon-input.ts'
import type { builtInAddons } from '../spec/addons.ts'

/** An addon that comes with hyperkube. */
export interface AddonDefinition {
  readonly name: (typeof builtInAddons)[number]
  /** For people, in a few words. */
  readonly about: string
  /** Where cluster.yml has its settings. */
  readonly setting: 'dns' | 'metrics' | 'ingress' | 'storage'
  /** Names of its images in the catalog. The first one is the program itself. */
  readonly images: readonly [string, ...string[]]
  /** None where cluster.yml says `none`. */
  readonly manifests: (input: AddonInput) => readonly Manifest[]
}

export function imageOf({ images }: Pick<AddonInput, 'images'>, name: string): string {
  return images[name] ?? ''
}
