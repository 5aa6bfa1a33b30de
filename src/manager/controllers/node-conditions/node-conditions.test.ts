import { beforeAll, describe, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { type Hours, hours } from '../../testing/fast-time-bench.ts'
import { hostPath, TestHosts } from '../../testing/fake-hosts.ts'
import { soon } from '../../testing/manager-bench.ts'
import { diskCordoner } from './disk-cordoner.ts'
import { nodeKeeper } from './node-conditions.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

function nodeOf({ stage }: Hours, name: string) {
  return JSON.parse(JSON.stringify(stage.cluster.objects.get(`/api/v1/nodes/${name}`)))
}

function statusesOf(long: Hours, name: string): string[] {
  const conditions: { type: string; status: string }[] = nodeOf(long, name).status.conditions ?? []
  return conditions.map(({ type, status }) => `${type} ${status}`)
}

const kubelets = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }
const well = ['Ready True', 'HyperkubeAgentReady True', 'HyperkubeHealthy True', 'HyperkubeDiskHealthy True']

function putAll(long: Hours, ...names: readonly string[]): TestHosts {
  const hosts = new TestHosts(long.stage.cluster, long.now)
  for (const name of names) {
    long.stage.cluster.putNode(name, 'v1.37.1')
    long.stage.cluster.objects.change(`/api/v1/nodes/${name}`, { status: { conditions: [kubelets] } })
    hosts.put(name)
  }
  return hosts
}

describe('node-keeper', () => {
  test('says at nodes how their hosts are, beside what others say, with all rights of the row and no others', async () => {
    await using long = await hours(authority, [nodeKeeper])
    const { cluster, authorizer } = long.stage
    const hosts = putAll(long, 'a', 'b')
    cluster.putNode('foreign', 'v1.37.1')
    let trouble = 2
    cluster.intercept = ({ method }) => {
      if (method !== 'PATCH' || trouble === 0) return undefined
      return trouble-- === 2
        ? { cut: 'before' }
        : { status: 500, json: { kind: 'Status', reason: 'InternalError' } }
    }
    const manager = await long.start('m')
    await long.pass(2, manager, () => hosts.beat())
    await soon(
      'both to be well',
      () => statusesOf(long, 'a').length === 4 && statusesOf(long, 'b').length === 4,
    )
    expect(statusesOf(long, 'a')).toEqual(well)
    expect(nodeOf(long, 'foreign').status.conditions).toBeUndefined()
    await long.pass(15, manager, () => hosts.beat('b'))
    expect(statusesOf(long, 'b')).toContain('HyperkubeAgentReady Unknown')
    expect(statusesOf(long, 'a')).toEqual(well)
    await long.pass(4, manager, () => hosts.beat())
    expect(statusesOf(long, 'b')).toEqual(well)
    cluster.objects.remove(hostPath('b'))
    await soon('nothing to be said of it any more', () => statusesOf(long, 'b').length === 1)
    expect(statusesOf(long, 'b')).toEqual(['Ready True'])
    expect(authorizer.refused).toEqual([])
    expect(authorizer.unused).toEqual([])
  })

  test('says it once, and nothing more on a healthy cluster, also not when kubelets give signs of life', async () => {
    await using long = await hours(authority, [nodeKeeper])
    const { cluster } = long.stage
    const hosts = putAll(long, 'a', 'b', 'c')
    const manager = await long.start('m')
    await soon('all to be said', () => cluster.deeds.length === 3)
    await long.pass(60, manager, () => hosts.beat())
    expect(cluster.deeds).toHaveLength(3)
  })
})

describe('disk-cordoner', () => {
  const failing = [{ component: 'etcd', probe: 'disk', since: '2026-11-16T08:00:00.000Z', code: 'DISK_SLOW' }]

  test('is off by default, and cordons and uncordons with all rights of the row and no others', async () => {
    expect(diskCordoner.byDefault).toBe(false)
    await using long = await hours(authority, [diskCordoner])
    const { cluster, authorizer } = long.stage
    const hosts = putAll(long, 'a', 'admins')
    cluster.objects.change('/api/v1/nodes/admins', { spec: { unschedulable: true } })
    const manager = await long.start('m')
    for (const name of ['a', 'admins']) hosts.change(name, { failing })
    await soon('a to be cordoned', () => nodeOf(long, 'a').spec?.unschedulable === true)
    expect(nodeOf(long, 'admins').metadata.annotations).toBeUndefined()
    for (const name of ['a', 'admins']) hosts.change(name, { failing: [] })
    await long.pass(5, manager, () => hosts.beat())
    expect(nodeOf(long, 'a').spec.unschedulable).toBe(true)
    await long.pass(15, manager, () => hosts.beat())
    expect(nodeOf(long, 'a')).toMatchObject({ spec: { unschedulable: false }, metadata: { annotations: {} } })
    expect(nodeOf(long, 'admins').spec.unschedulable).toBe(true)
    expect(cluster.events).toMatchObject([{ reason: 'DiskFails' }, { reason: 'DiskWell' }])
    expect(authorizer.refused).toEqual([])
    expect(authorizer.unused.filter((right) => !right.endsWith('patch events'))).toEqual([])
  })

  test('what somebody takes away stays so while the disk fails', async () => {
    await using long = await hours(authority, [diskCordoner])
    const hosts = putAll(long, 'a')
    const manager = await long.start('m')
    hosts.change('a', { failing })
    await soon('it to be cordoned', () => nodeOf(long, 'a').spec?.unschedulable === true)
    long.stage.cluster.objects.change('/api/v1/nodes/a', { spec: { unschedulable: false } })
    await long.pass(20, manager, () => hosts.beat())
    expect(nodeOf(long, 'a').spec.unschedulable).toBe(false)
  })

  test('writes nothing on a healthy cluster', async () => {
    await using long = await hours(authority, [diskCordoner])
    const hosts = putAll(long, 'a', 'b')
    const manager = await long.start('m')
    await long.pass(60, manager, () => hosts.beat())
    expect(long.stage.cluster.deeds).toEqual([])
  })
})
