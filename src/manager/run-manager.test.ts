import { beforeAll, describe, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import type { Ending } from '../kube/election.ts'
import type { ControllerRow } from './controller.ts'
import { versionSkew } from './controllers/version-skew/version-skew.ts'
import { soon, stage } from './testing/manager-bench.ts'

let authority: TestAuthority

beforeAll(async () => {
  authority = await testAuthority()
})

test('what a row does not say that it watches, its controller does not get', async () => {
  await using one = await stage(authority, [{ ...versionSkew, watches: [] }])
  const manager = await one.start('a')
  await expect(manager.ending).rejects.toThrow('version-skew does not say that it watches nodes')
  expect(one.cluster.holder).toBe('')
})

test('with nothing to do it leads all the same, until it is stopped', async () => {
  await using one = await stage(authority, [])
  const manager = await one.start('a')
  await soon('it to be ready', async () => (await manager.ask('/readyz')).status === 200)
  await soon('it to renew', () => one.cluster.writes.length > 3)
  expect(manager.lines).toEqual(['was elected', 'leads, with no controllers'])
  manager.stop.abort()
  expect(await manager.ending).toBe<Ending>('stopped')
})

describe('of two managers', () => {
  test('one leads, the other is ready; who is stopped lets the other one in at once', async () => {
    await using one = await stage(authority, [versionSkew])
    const a = await one.start('a')
    await soon('a to lead', async () => (await a.ask('/readyz')).text === 'ok')
    const b = await one.start('b')
    await soon('b to wait', async () => (await b.ask('/readyz')).text === 'ok')
    expect(one.cluster.holder).toBe('a_1')
    expect((await b.ask('/metrics')).text).toContain(
      'leader_election_master_status{name="hyperkube-controller-manager"} 0',
    )
    a.stop.abort()
    expect(await a.ending).toBe<Ending>('stopped')
    await soon('b to lead', () => b.lines.length > 2)
    expect(one.cluster.holder).toBe('b_1')
    expect(b.lines).toEqual(['a_1 leads', 'was elected', 'leads, with version-skew'])
  })

  test('who cannot renew the lease ends', async () => {
    await using one = await stage(authority, [versionSkew])
    const a = await one.start('a', { duration: 1000, deadline: 700, retry: 100, grace: 2000 })
    await soon('a to lead', () => one.cluster.holder === 'a_1')
    one.cluster.away = true
    expect(await a.ending).toBe<Ending>('lost')
    expect(a.lines.at(-1)).toBe(
      'LEADERSHIP_LOST: no longer the leader: the lease could not be renewed in time',
    )
    await expect(a.ask('/livez')).rejects.toThrow('fetch failed')
  })
})

describe('health', () => {
  test('each check can be asked alone, and says what is wrong', async () => {
    const broken: ControllerRow = {
      name: 'broken',
      aliases: [],
      summary: 'breaks',
      byDefault: true,
      watches: [],
      rights: [],
      build: () => ({ run: async () => Promise.reject(new Error('no idea')) }),
    }
    await using one = await stage(authority, [versionSkew, broken])
    const manager = await one.start('a')
    await soon('it to break', async () => (await manager.ask('/healthz')).status === 500)
    expect(await manager.ask('/healthz')).toEqual({
      status: 500,
      text: '[+]ping ok\n[+]version-skew ok\n[-]broken failed: no idea\nhealthz check failed\n',
    })
    expect((await manager.ask('/healthz/version-skew')).status).toBe(200)
    expect((await manager.ask('/healthz/broken')).status).toBe(500)
    expect((await manager.ask('/healthz/nobody')).status).toBe(404)
    expect((await manager.ask('/nowhere')).status).toBe(404)
    expect(await manager.ask('/livez?verbose')).toEqual({
      status: 200,
      text: '[+]ping ok\nlivez check passed\n',
    })
    await soon('it to be ready', async () => (await manager.ask('/readyz')).status === 200)
    expect((await manager.ask('/readyz?verbose')).text).toBe(
      '[+]leader-election ok\n[+]informer-nodes ok\nreadyz check passed\n',
    )
  })

  test('without an API it lives, and is not ready', async () => {
    await using one = await stage(authority, [versionSkew])
    one.cluster.away = true
    const manager = await one.start('a')
    expect((await manager.ask('/livez')).status).toBe(200)
    expect(await manager.ask('/readyz')).toMatchObject({ status: 500 })
  })
})
