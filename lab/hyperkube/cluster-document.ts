import type { Machine } from '../hosts/machine.ts'

export interface ClusterDocumentOptions {
  /** Whether the cluster gets the addons that come with hyperkube; without them it is ready sooner. */
  readonly addons?: boolean
  /** Servers to which CoreDNS forwards names outside the cluster. Default: the name servers of the hosts. */
  readonly forward?: readonly string[]
}

/**
 * Builds a cluster.yml for hosts of a lab. Hosts whose name starts with `cp` are control planes, and also
 * workers if there are no other hosts.
 */
export function buildClusterDocument(
  kubernetes: string,
  mirror: string,
  hosts: readonly Machine[],
  { addons = false, forward }: ClusterDocumentOptions = {},
): object {
  const [first] = hosts
  const onlyControlPlanes = hosts.every(({ name }) => name.startsWith('cp'))
  const chooseRoles = ({ name }: Machine): string[] => [
    ...(name.startsWith('cp') ? ['control-plane'] : []),
    ...(onlyControlPlanes || !name.startsWith('cp') ? ['worker'] : []),
  ]
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'lab' },
    spec: {
      kubernetes,
      // The mirror of a lab serves components that were built from source, so their digests come from the
      // mirror.
      artifacts: { mirror, digests: 'mirror' },
      registries: ['registry.k8s.io', 'docker.io'].map((host) => ({ host, mirrors: [mirror] })),
      ...(addons
        ? forward === undefined
          ? {}
          : { dns: { forward } }
        : { dns: 'none', metrics: 'none', ingress: 'none', storage: 'none' }),
      // Lab hosts use the disk of the machine that runs the lab. It may be fuller than the kubelet's default
      // eviction thresholds allow.
      components: {
        kubelet: {
          config: {
            evictionHard: {
              'memory.available': '100Mi',
              'nodefs.available': '1%',
              'imagefs.available': '1%',
            },
          },
        },
      },
      ssh: { user: 'root', key: first?.ssh.keyFile },
      hosts: hosts.map((host) => ({ name: host.name, address: host.address, roles: chooseRoles(host) })),
    },
  }
}
