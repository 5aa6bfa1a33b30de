import { expect, test } from 'vitest'
import { planUpgrade } from '../../actions/plan-upgrade.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { formatUpgradePlan } from './upgrade-text.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'

function buildCluster(versions: string) {
  const { cluster } = readCluster({
    file: 'cluster.yml',
    text: `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  ${versions}
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: w1, address: 10.0.0.2, roles: [worker] }
    - { name: w2, address: 10.0.0.3, roles: [worker] }
`,
  })
  if (cluster === undefined) throw new Error('the cluster is not valid')
  return cluster
}

const kubelets = (cp1: string, workers: string) =>
  new Map([
    ['cp1', cp1],
    ['w1', workers],
    ['w2', workers],
  ])

test('the whole path is shown, with etcd, drains and snapshots', () => {
  const cluster = buildCluster('kubernetes: 1.32.5')
  const running = { servers: ['1.32.5'], kubelets: kubelets('1.32.5', '1.32.5') }
  const plan = planUpgrade(
    shippedCatalog,
    cluster,
    ['1.33.13', '1.34.10', '1.35.8', '1.36.4', '1.37.1'],
    running,
  )
  expect(formatUpgradePlan(cluster, plan, { snapshot: true })).toMatchInlineSnapshot(`
    "upgrade of shop from Kubernetes 1.32.5 to 1.37.1, in 5 steps:
      1. control planes 1.33.13, etcd 3.5.35, workers stay at 1.32.5, after a snapshot
      2. control planes 1.34.10, etcd 3.6.16, workers stay at 1.32.5, after a snapshot
      3. control planes 1.35.8, etcd 3.6.16, workers 1.35.8, after a snapshot
      4. control planes 1.36.4, etcd 3.6.16, workers stay at 1.35.8, after a snapshot
      5. control planes 1.37.1, etcd 3.7.3, workers 1.37.1, after a snapshot
      drains of each worker (w1 and w2): 2
      snapshots, each verified by a restore: 5
    "
  `)
})

test('an interrupted state is finished first, without a snapshot', () => {
  const cluster = buildCluster('kubernetes: 1.36.4\n  workers: { kubernetes: 1.35.8 }')
  const running = { servers: ['1.36.4', '1.35.8'], kubelets: kubelets('1.35.8', '1.35.8') }
  const plan = planUpgrade(shippedCatalog, cluster, ['1.37.1'], running)
  expect(formatUpgradePlan(cluster, plan, { snapshot: true })).toMatchInlineSnapshot(`
    "upgrade of shop from Kubernetes 1.36.4 (workers 1.35.8) to 1.37.1, in 2 steps:
      1. control planes 1.36.4, etcd 3.6.16, workers 1.35.8, finishes an interrupted change
      2. control planes 1.37.1, etcd 3.7.3, workers 1.37.1, after a snapshot
      drains of each worker (w1 and w2): 1
      snapshots, each verified by a restore: 1
    "
  `)
})

test('a cluster that has the version already is only brought to it', () => {
  const cluster = buildCluster('kubernetes: 1.37.1')
  const plan = planUpgrade(shippedCatalog, cluster, [], {
    servers: ['1.37.1'],
    kubelets: kubelets('1.37.1', '1.37.1'),
  })
  expect(formatUpgradePlan(cluster, plan, { snapshot: false })).toContain(
    'shop has Kubernetes 1.37.1 in cluster.yml; bringing all hosts to it',
  )
})
