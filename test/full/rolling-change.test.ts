import { beforeAll, expect, test } from 'vitest'
import { changeUnderLoad, findOverlaps, type RollingChange } from '../support/rolling-change.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const clusterNow = setUpCluster('rolling', '3+1', '1.37.1')
let cluster: UpCluster
let change: RollingChange

beforeAll(async () => {
  cluster = clusterNow()
  // Changes the lifetime of events, a setting that does not affect the load.
  change = await changeUnderLoad(cluster, 50, (document) =>
    document.setIn(['spec', 'components', 'apiServer', 'args'], { 'event-ttl': '2h' }),
  )
}, 900_000)

test('up brings a changed flag of the API server to all control planes', async () => {
  expect(change.up.code, change.up.stderr).toBe(0)
  for (const host of cluster.hosts.filter(({ name }) => name.startsWith('cp'))) {
    const { stdout } = await host.exec(['pgrep', '--full', '--list-full', '--', '--event-ttl=2h'])
    expect(stdout).toContain('kube-apiserver')
  }
})

test('restarts the API servers, and nothing else', () => {
  expect(change.restarts.map(({ host, service }) => `${host} ${service}`).toSorted()).toEqual([
    'cp1 kube-apiserver',
    'cp2 kube-apiserver',
    'cp3 kube-apiserver',
  ])
})

test('restarts one at a time', () => {
  expect(findOverlaps(change.restarts)).toEqual([])
})

test('no client of the proxy notices', () => {
  const { failed, retried, worst, watchGap } = change.figures
  expect({ failed, retried }).toEqual({ failed: [], retried: 0 })
  expect(Math.max(worst, watchGap)).toBeLessThan(2000)
})
