import { HyperkubeError } from '../../kit/errors.ts'
import { nearest } from '../../kit/suggest.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { dropWord, putWord } from '../yaml-edit.ts'

/** The settings that switch those that come with us. */
export const settingOf: Readonly<Record<string, 'dns' | 'metrics' | 'ingress' | 'storage'>> = {
  coredns: 'dns',
  'metrics-server': 'metrics',
  traefik: 'ingress',
  'local-path': 'storage',
}

/** Those of a cluster, and whether each is on. */
export function switches({ spec }: Cluster): ReadonlyMap<string, boolean> {
  return new Map([
    ...Object.entries(settingOf).map(([name, setting]) => [name, spec[setting] !== 'none'] as const),
    ...spec.addons.map(({ name, enabled }) => [name, enabled] as const),
  ])
}

/** A cluster.yml with one of its addons on or off: all else in it stays as somebody has written it. */
export function switched(text: string, cluster: Cluster, name: string, on: boolean): string {
  const setting = settingOf[name]
  if (setting === undefined) {
    const path = ['spec', 'addons', indexOf(cluster, name)]
    return on ? dropWord(text, path, 'enabled') : putWord(text, path, 'enabled', 'false')
  }
  return on ? dropWord(text, ['spec'], setting) : putWord(text, ['spec'], setting, 'none')
}

function indexOf(cluster: Cluster, name: string): number {
  refuseUnknown(cluster, name)
  return cluster.spec.addons.findIndex((addon) => addon.name === name)
}

export function refuseUnknown(cluster: Cluster, name: string): void {
  const known = [...switches(cluster).keys()]
  if (known.includes(name)) return
  const meant = nearest(name, known)
  throw new HyperkubeError('ADDON_UNKNOWN', `there is no addon ${name}`, {
    hint: meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`,
  })
}
