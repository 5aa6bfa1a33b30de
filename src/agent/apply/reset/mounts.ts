import type { LinuxHost } from '../../host/host.ts'
import type { LinuxLeftoverStep } from './leftover-step.ts'

const namespaceDirectory = '/run/netns'

export const unmountAll: LinuxLeftoverStep = async ({ mounts, files }, { mounts: prefixes }) => {
  const mounted = (await mounts.list()).filter((path) => prefixes.some((prefix) => isBelow(path, prefix)))
  for (const path of mounted) await mounts.unmount(path)
  const removedNamespaces = prefixes.some((prefix) => prefix.startsWith(namespaceDirectory))
    ? await removeNamespaces({ files })
    : []
  return [...mounted, ...removedNamespaces]
}

/**
 * True if a mount is below a prefix. A prefix that ends with a dash is the beginning of a name. A mount at
 * the prefix itself belongs to the administrator.
 */
function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix.endsWith('-') ? prefix : `${prefix}/`)
}

/** Removes network namespaces of pods. A namespace is a plain file once it is unmounted. */
async function removeNamespaces({ files }: Pick<LinuxHost, 'files'>): Promise<string[]> {
  const entries = (await files.list(namespaceDirectory)) ?? []
  const podNamespaces = entries
    .filter(({ name }) => name.startsWith('cni-'))
    .map(({ name }) => `${namespaceDirectory}/${name}`)
  for (const path of podNamespaces) await files.remove(path)
  return podNamespaces
}
