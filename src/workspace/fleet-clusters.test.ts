import { expect, test } from 'vitest'
import { loadFleet } from './fleet-clusters.ts'

const fleet = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
spec:
  clusters: [clusters/*/cluster.yml]
  defaults:
    - values: { components: { kubelet: { maxPods: 60 } } }
`
const buildCluster = (name: string): string => `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: ${name}, fleet: ../../fleet.yml }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
`
const files: Readonly<Record<string, string>> = {
  'fleet.yml': fleet,
  'clusters/berlin/cluster.yml': buildCluster('berlin'),
  'clusters/bonn/cluster.yml': `${buildCluster('bonn')}  hostz: 1\n`,
  'clusters/boston/cluster.yml': buildCluster('boston'),
}

test('all clusters of a fleet are loaded with one read of fleet.yml', async () => {
  const reads: string[] = []
  const result = await loadFleet(
    {
      exists: async (path) => path in files,
      listDirectory: async () => ['berlin', 'bonn', 'boston'],
      async readFile(path) {
        reads.push(path)
        const text = files[path]
        if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
        return text
      },
    },
    'fleet.yml',
  )
  expect(reads.filter((path) => path === 'fleet.yml')).toHaveLength(1)
  const clusters = result.ok ? result.clusters : []
  expect(clusters.map(({ name, cluster }) => [name, cluster?.spec.components.kubelet])).toEqual([
    ['berlin', expect.objectContaining({ maxPods: 60 })],
    ['bonn', undefined],
    ['boston', expect.objectContaining({ maxPods: 60 })],
  ])
})
