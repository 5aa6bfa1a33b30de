import { type Registry, webRegistry } from '../../catalog/registry/registry.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context } from '../command.ts'

/** Registries as a cluster's hosts ask them: by their mirrors first. */
export function registryFor({ web }: Pick<Context, 'web'>, { spec }: Cluster): Registry {
  const mirrors = new Map(spec.registries.map((registry) => [registry.host, registry.mirrors]))
  return webRegistry(web, (host) => mirrors.get(host) ?? [])
}

/** Whether somebody on the way could choose which image is found. */
export function hasPlainMirror({ spec }: Cluster): boolean {
  return spec.registries.some(({ mirrors }) => mirrors.some((mirror) => mirror.startsWith('http:')))
}
