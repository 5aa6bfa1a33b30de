import type { Cluster } from '../spec/cluster.ts'

/** The API server of a control plane in cluster.yml. */
export interface ControlPlane {
  readonly name: string
  /** Address for operators: HOST:PORT. */
  readonly server: string
}

export function listControlPlanes({ spec }: Cluster): ControlPlane[] {
  return spec.hosts
    .filter(({ roles }) => roles.includes('control-plane'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, address }) => ({
      name,
      server: `${address.includes(':') ? `[${address}]` : address}:${spec.api.port}`,
    }))
}
