import type { Machine } from '../hosts/machine.ts'

export interface DocumentOptions {
  /** Whether the cluster shall have the addons that come with hyperkube: whoever asks for less gets it sooner. */
  readonly addons?: boolean
  /** Whom CoreDNS asks for names outside the cluster, if not whom the hosts ask. */
  readonly forward?: readonly string[]
}

/** What a person would write of a lab's hosts: those named cp are control planes, and workers too where there are no others. */
export function clusterDocument(
  kubernetes: string,
  mirror: string,
  hosts: readonly Machine[],
  { addons = false, forward }: DocumentOptions = {},
): object {
  const [first] = hosts
  const alone = hosts.every(({ name }) => name.startsWith('cp'))
  const rolesOf = ({ name }: Machine): string[] => [
    ...(name.startsWith('cp') ? ['control-plane'] : []),
    ...(alone || !name.startsWith('cp') ? ['worker'] : []),
  ]
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'lab' },
    spec: {
      kubernetes,
      artifacts: { mirror },
      registries: ['registry.k8s.io', 'docker.io'].map((host) => ({ host, mirrors: [mirror] })),
      ...(addons
        ? forward === undefined
          ? {}
          : { dns: { forward } }
        : { dns: 'none', metrics: 'none', ingress: 'none', storage: 'none' }),
      // A lab's disk is the machine's own, and may be fuller than a kubelet likes.
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
      hosts: hosts.map((host) => ({ name: host.name, address: host.address, roles: rolesOf(host) })),
    },
  }
}
