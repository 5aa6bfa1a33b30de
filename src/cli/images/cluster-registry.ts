import { type Registry, remoteRegistry } from '../../catalog/registry/registry.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command.ts'

/** Reads registries as the hosts do: mirrors first. */
export function createClusterRegistry({ web }: Pick<CommandContext, 'web'>, { spec }: Cluster): Registry {
  const mirrors = new Map(spec.registries.map((registry) => [registry.host, registry.mirrors]))
  return remoteRegistry(web, (host) => mirrors.get(host) ?? [])
}

/** True if an attacker on the network could choose the image. */
export function hasUnencryptedMirror({ spec }: Cluster): boolean {
  return spec.registries.some(({ mirrors }) => mirrors.some((mirror) => mirror.startsWith('http:')))
}
