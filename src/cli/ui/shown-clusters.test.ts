import { expect, test } from 'vitest'
import { findClusterFile } from '../command/shared-flags.ts'
import { createInMemoryContext, runHyperkube } from '../testing/run-in-memory.ts'
import { loadShownClusters } from './shown-clusters.ts'

const fleetFile = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
spec: { clusters: [clusters/*/cluster.yml] }
`
const clusterFile = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop, fleet: ../../fleet.yml }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
`
const files = { 'fleet.yml': fleetFile, 'clusters/shop/cluster.yml': clusterFile }
const clusters = [{ name: 'shop', file: 'clusters/shop/cluster.yml' }]

test('fleet.yml shows all its clusters, cluster.yml shows one', async () => {
  const { context } = createInMemoryContext(files)
  expect(await loadShownClusters(context, 'fleet.yml')).toEqual({ fleet: 'retail', clusters })
  expect(await loadShownClusters(context, 'clusters/shop/cluster.yml')).toEqual({
    fleet: undefined,
    clusters,
  })
})

test('a fleet.yml is preferred, then a cluster.yml', async () => {
  const { context } = createInMemoryContext(files)
  const find = async (exists: (path: string) => Promise<boolean>): Promise<string> =>
    findClusterFile(['any-file'], context.environment, { exists })
  expect(await find(context.exists)).toBe('fleet.yml')
  expect(await find(async () => false)).toBe('cluster.yml')
})

test('an invalid file ends the command with its findings', async () => {
  const { code, stdout, stderr } = await runHyperkube('ui', { 'cluster.yml': 'kind: Cluster\n' })
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain('cluster.yml:1:1')
})

test.each(['http', '70000', '-1'])('--port %s is a usage error', async (port) => {
  expect((await runHyperkube(`ui --port=${port}`, files)).code).toBe(2)
})
