import { type Registry, remoteRegistry } from '../../catalog/registry/registry.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command.ts'

/** Creates a registry client that tries the mirrors first, as hosts do. */
export function createClusterRegistry({ web }: Pick<CommandContext, 'web'>, { spec }: Cluster): Registry {
  const mirrors = new Map(spec.registries.map((registry) => [registry.host, registry.mirrors]))
  return remoteRegistry(web, (host) => mirrors.get(host) ?? [])
}

/** True if a mirror uses plain HTTP, so an attacker on the network could replace images. */
export function hasUnencryptedMirror({ spec }: Cluster): boolean {
  return spec.registries.some(({ mirrors }) => mirrors.some((mirror) => mirror.startsWith('http:')))
}
