import { HyperkubeError } from '../../kit/errors.ts'
import { suggestWord } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { removeKey, setScalar } from '../../workspace/yaml-edit.ts'

/** The setting in cluster.yml of each built-in addon. */
export const addonSettings: Readonly<
  Record<string, 'dns' | 'metrics' | 'ingress' | 'storage' | 'loadBalancer'>
> = {
  coredns: 'dns',
  'metrics-server': 'metrics',
  traefik: 'ingress',
  'local-path': 'storage',
  metallb: 'loadBalancer',
}

/** Lists all addons of a cluster, and whether each addon is enabled. */
export function listAddonSwitches({ spec }: Cluster): ReadonlyMap<string, boolean> {
  return new Map([
    ...Object.entries(addonSettings).map(([name, setting]) => [name, spec[setting] !== 'none'] as const),
    ...spec.addons.map(({ name, enabled }) => [name, enabled] as const),
  ])
}

/** Enables or disables an addon in the text of cluster.yml. The rest of the text is kept. */
export function setAddonEnabled(text: string, cluster: Cluster, name: string, on: boolean): string {
  const setting = addonSettings[name]
  if (setting === undefined) {
    const path = ['spec', 'addons', findAddonIndex(cluster, name)]
    return on ? removeKey(text, path, 'enabled') : setScalar(text, path, 'enabled', 'false')
  }
  if (!on) return setScalar(text, ['spec'], setting, 'none')
  if (setting === 'loadBalancer') {
    throw new HyperkubeError('ADDON_NEEDS_SETTINGS', `${name} has no default addresses`, {
      hint: 'set spec.loadBalancer.addresses in cluster.yml',
    })
  }
  return removeKey(text, ['spec'], setting)
}

function findAddonIndex(cluster: Cluster, name: string): number {
  requireKnownAddon(cluster, name)
  return cluster.spec.addons.findIndex((addon) => addon.name === name)
}

export function requireKnownAddon(cluster: Cluster, name: string): void {
  const known = [...listAddonSwitches(cluster).keys()]
  if (known.includes(name)) return
  const suggestion = suggestWord(name, known)
  throw new HyperkubeError('ADDON_UNKNOWN', `there is no addon ${name}`, {
    hint: suggestion === undefined ? `known addons: ${known.join(', ')}` : `did you mean ${suggestion}?`,
  })
}
