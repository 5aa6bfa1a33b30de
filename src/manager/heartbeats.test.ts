import { expect, test } from 'vitest'
import { Heartbeats, silentAfterMs } from './heartbeats.ts'

function buildHost(name: string, heartbeat?: string) {
  return {
    name,
    uid: undefined,
    names: undefined,
    etcdMember: false,
    openRequests: [],
    status: { heartbeat },
  }
}

const wall = (): Date => new Date('2001-01-01T00:10:00Z')

test('a host without new heartbeats is silent while another host reports, until its next heartbeat', () => {
  let now = 0
  const heartbeats = new Heartbeats({ time: { now: () => now }, now: wall })
  for (const name of ['a', 'b']) heartbeats.observe(buildHost(name, '2001-01-01T00:00:00Z'))
  now = silentAfterMs
  heartbeats.observe(buildHost('a', '2001-01-01T00:02:00Z'))
  heartbeats.observe(buildHost('b', '2001-01-01T00:00:00Z'))
  expect(['a', 'b'].map((name) => heartbeats.isSilent(name))).toEqual([false, true])
  heartbeats.observe(buildHost('b', '1999-01-01T00:00:00Z'))
  expect(heartbeats.isSilent('b')).toBe(false)
})

test('while no host reports, a host is silent only after a longer time', () => {
  let now = 0
  const heartbeats = new Heartbeats({ time: { now: () => now }, now: wall })
  heartbeats.observe(buildHost('a', '2001-01-01T00:00:00Z'))
  now = 2 * silentAfterMs
  expect(heartbeats.isSilent('a')).toBe(false)
  now = 3 * silentAfterMs
  expect(heartbeats.isSilent('a')).toBe(true)
})

test('a host without heartbeats and a forgotten host are silent', () => {
  const heartbeats = new Heartbeats({ time: { now: () => 0 }, now: wall })
  heartbeats.observe(buildHost('a'))
  heartbeats.observe(buildHost('b', '2001-01-01T00:00:00Z'))
  heartbeats.forget('b')
  expect(['a', 'b'].map((name) => heartbeats.isSilent(name))).toEqual([true, true])
})

test('a host whose first observed heartbeat is old is silent until its next heartbeat', () => {
  const heartbeats = new Heartbeats({ time: { now: () => 0 }, now: wall })
  heartbeats.observe(buildHost('a', '2000-12-31T23:00:00Z'))
  expect(heartbeats.isSilent('a')).toBe(true)
  heartbeats.observe(buildHost('a', '2000-12-31T23:02:00Z'))
  expect(heartbeats.isSilent('a')).toBe(false)
})
