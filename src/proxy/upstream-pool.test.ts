import { describe, expect, test } from 'vitest'
import { defaultProxyTiming } from './timing.ts'
import { findWaitingSince, UpstreamPool } from './upstream-pool.ts'

const never = -Infinity
const quiet = { clientSentAt: 100, serverSentAt: 150 }
const waits = { clientSentAt: 200, serverSentAt: 150 }

test.each([
  ['no client waits without connections', [], never, never, undefined],
  ['a client does not wait if the server sent last', [quiet], never, never, undefined],
  ['a client waits from the time it sent last', [quiet, waits], never, never, 200],
  ['the earliest waiting client counts', [{ ...waits, clientSentAt: 220 }, waits], never, never, 200],
  [
    'a client waits if the server never responded',
    [{ clientSentAt: 50, serverSentAt: never }],
    never,
    never,
    50,
  ],
  [
    'data to another client moves the start of a wait',
    [waits, { clientSentAt: 1, serverSentAt: 300 }],
    never,
    never,
    300,
  ],
  ['a wait ends with a later ready probe', [waits], never, 201, undefined],
  ['a wait does not end with a probe from before the wait', [waits], never, 199, 200],
  ['a slow dial counts as a wait', [quiet], 400, never, 400],
  ['the wait of a slow dial ends with a later ready probe', [quiet], 400, 401, undefined],
])('%s', (_, talks, lastSlowDialAt, lastReadyProbeAt, since) => {
  expect(findWaitingSince(talks, lastSlowDialAt, lastReadyProbeAt)).toBe(since)
})

describe('the time until the next tick', () => {
  const createPool = (): UpstreamPool => {
    const pool = new UpstreamPool(0, defaultProxyTiming, () => undefined)
    pool.setMembers(['a:1', 'b:1'], undefined, 0)
    for (const [index, server] of pool.servers.entries()) {
      server.lastProbeAt = index * 100
      pool.observe(server.name, { kind: 'ready' }, 0, 0)
    }
    return pool
  }

  test('ends when the first probe is due', () => {
    expect(createPool().findRestTime(300, 1000)).toBe(700)
    expect(createPool().findRestTime(1200, 1000)).toBe(0)
  })

  test.each<[string, (pool: UpstreamPool) => void]>([
    ['was never probed', (pool) => pool.setMembers(['a:1', 'b:1', 'c:1'], undefined, 0)],
    ['fails', (pool) => pool.observe('b:1', { kind: 'silent', reason: '' }, 1, 1)],
    ['is slow to accept', (pool) => pool.recordSlow('b:1', 1)],
    ['has a probe in flight', (pool) => void pool.findOrAdd('b:1', 0).probesInFlight++],
    ['is retired', (pool) => void pool.findOrAdd('c:1', 0)],
  ])('is zero while a server %s', (_, change) => {
    const pool = createPool()
    change(pool)
    expect(pool.findRestTime(300, 1000)).toBe(0)
  })
})
