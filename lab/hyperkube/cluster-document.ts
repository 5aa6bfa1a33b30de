import type { Machine } from '../hosts/machine.ts'

/** What a person would write of a lab's hosts: those named cp are control planes, and workers too where there are no others. */
export function clusterDocument(kubernetes: string, mirror: string, hosts: readonly Machine[]): object {
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
      registries: [{ host: 'registry.k8s.io', mirrors: [mirror] }],
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
