import type { LinuxHost } from '../../host/host.ts'
import type { Step } from './linux-leftover-step.ts'

const namespaces = '/run/netns'

export const unmountAll: Step = async ({ mounts, files }, { mounts: places }) => {
  const mounted = (await mounts.list()).filter((path) => places.some((place) => isBelow(path, place)))
  for (const path of mounted) await mounts.unmount(path)
  const spaces = places.some((place) => place.startsWith(namespaces)) ? await removeNamespaces({ files }) : []
  return [...mounted, ...spaces]
}

/** A place that ends with a dash is the beginning of a name; the mount of a place itself is the administrator's. */
function isBelow(path: string, place: string): boolean {
  return path.startsWith(place.endsWith('-') ? place : `${place}/`)
}

/** The networks of pods: files, once nothing is mounted on them any more. */
async function removeNamespaces({ files }: Pick<LinuxHost, 'files'>): Promise<string[]> {
  const entries = (await files.list(namespaces)) ?? []
  const ours = entries
    .filter(({ name }) => name.startsWith('cni-'))
    .map(({ name }) => `${namespaces}/${name}`)
  for (const path of ours) await files.remove(path)
  return ours
}
