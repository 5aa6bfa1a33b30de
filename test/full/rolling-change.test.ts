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

test('up applies a changed API server flag to all control planes', async () => {
  expect(change.up.code, change.up.stderr).toBe(0)
  for (const host of cluster.hosts.filter(({ name }) => name.startsWith('cp'))) {
    const { stdout } = await host.exec(['pgrep', '--full', '--list-full', '--', '--event-ttl=2h'])
    expect(stdout).toContain('kube-apiserver')
  }
})

test('up restarts only the API servers', () => {
  expect(change.restarts.map(({ host, service }) => `${host} ${service}`).toSorted()).toEqual([
    'cp1 kube-apiserver',
    'cp2 kube-apiserver',
    'cp3 kube-apiserver',
  ])
})

test('up restarts one API server at a time', () => {
  expect(findOverlaps(change.restarts)).toEqual([])
})

test('no request through the proxy fails or waits longer than two seconds', () => {
  const { failed, retried, worst, watchGap } = change.figures
  expect({ failed, retried }).toEqual({ failed: [], retried: 0 })
  expect(Math.max(worst, watchGap)).toBeLessThan(2000)
})
