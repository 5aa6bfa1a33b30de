import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import type { ElectionResult } from '../kube/election.ts'
import type { ControllerDefinition } from './controller.ts'
import { versionSkew } from './controllers/version-skew.ts'
import { waitUntil, createManagerBench } from './testing/manager-bench.ts'

let ca: TestCa

beforeAll(async () => {
  ca = await createTestCa()
})

test('a controller cannot watch what its definition does not list', async () => {
  await using one = await createManagerBench(ca, [{ ...versionSkew, watches: [] }])
  const manager = await one.start('a')
  await expect(manager.result).rejects.toThrow('version-skew does not list nodes among its watches')
  expect(one.cluster.holder).toBe('')
})

test('a manager without controllers leads until it is stopped', async () => {
  await using one = await createManagerBench(ca, [])
  const manager = await one.start('a')
  await waitUntil('the manager to be ready', async () => (await manager.get('/readyz')).status === 200)
  await waitUntil('the lease to be renewed', () => one.cluster.writes.length > 3)
  expect(manager.lines).toEqual(['is leader', 'is leader, running no controllers'])
  manager.stop.abort()
  expect(await manager.result).toBe<ElectionResult>('stopped')
})

describe('leader election', () => {
  test('one manager leads and the other is ready; a stopped leader releases the lease at once', async () => {
    await using one = await createManagerBench(ca, [versionSkew])
    const a = await one.start('a')
    await waitUntil('a to lead', async () => (await a.get('/readyz')).text === 'ok')
    const b = await one.start('b')
    await waitUntil('b to wait', async () => (await b.get('/readyz')).text === 'ok')
    expect(one.cluster.holder).toBe('a_1')
    expect((await b.get('/metrics')).text).toContain(
      'leader_election_master_status{name="hyperkube-controller-manager"} 0',
    )
    a.stop.abort()
    expect(await a.result).toBe<ElectionResult>('stopped')
    await waitUntil('b to lead', () => b.lines.length > 2)
    expect(one.cluster.holder).toBe('b_1')
    expect(b.lines).toEqual(['a_1 is leader', 'is leader', 'is leader, running version-skew'])
  })

  test('a leader that cannot renew the lease ends', async () => {
    await using one = await createManagerBench(ca, [versionSkew])
    const a = await one.start('a', { duration: 1000, deadline: 700, retry: 100, grace: 2000 })
    await waitUntil('a to lead', () => one.cluster.holder === 'a_1')
    one.cluster.unreachable = true
    expect(await a.result).toBe<ElectionResult>('lost')
    expect(a.lines.at(-1)).toBe('LEADERSHIP_LOST: no longer the leader: the lease was not renewed in time')
    await expect(a.get('/livez')).rejects.toThrow('fetch failed')
  })
})

describe('health', () => {
  test('each check can be requested alone', async () => {
    await using one = await createManagerBench(ca, [versionSkew])
    const manager = await one.start('a')
    await waitUntil('the manager to be ready', async () => (await manager.get('/readyz')).status === 200)
    expect(await manager.get('/healthz?verbose')).toEqual({
      status: 200,
      text: '[+]ping ok\n[+]version-skew ok\nhealthz check passed\n',
    })
    expect((await manager.get('/healthz/version-skew')).status).toBe(200)
    expect((await manager.get('/healthz/unknown')).status).toBe(404)
    expect((await manager.get('/nowhere')).status).toBe(404)
    expect(await manager.get('/livez?verbose')).toEqual({
      status: 200,
      text: '[+]ping ok\nlivez check passed\n',
    })
    expect((await manager.get('/readyz?verbose')).text).toBe(
      '[+]leader-election ok\n[+]informer-nodes ok\nreadyz check passed\n',
    )
  })

  test('a controller that fails ends the manager with an error, and another manager leads', async () => {
    let failures = 0
    const broken: ControllerDefinition = {
      name: 'broken',
      aliases: [],
      summary: 'fails once',
      byDefault: true,
      watches: [],
      rules: [],
      build: () => ({
        run: async (signal) => {
          if (failures++ === 0) throw new Error('no idea')
          await once(signal, 'abort')
        },
      }),
    }
    await using one = await createManagerBench(ca, [versionSkew, broken])
    const first = await one.start('a')
    await expect(first.result).rejects.toMatchObject({
      code: 'MANAGER_CONTROLLER_FAILED',
      message: 'the controller broken failed',
    })
    // The first process released the lease, so the next process gets it without waiting until it expires.
    expect(one.cluster.holder).toBe('')
    const second = await one.start('b')
    await waitUntil('b to lead', () => one.cluster.holder === 'b_1')
    expect((await second.get('/healthz')).status).toBe(200)
  })

  test('a manager without an API server is live but not ready', async () => {
    await using one = await createManagerBench(ca, [versionSkew])
    one.cluster.unreachable = true
    const manager = await one.start('a')
    expect((await manager.get('/livez')).status).toBe(200)
    expect(await manager.get('/readyz')).toMatchObject({ status: 500 })
  })
})
