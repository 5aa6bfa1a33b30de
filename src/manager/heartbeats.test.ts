import { expect, test } from 'vitest'
import { Heartbeats, silentAfter } from './heartbeats.ts'

function heard(name: string, heartbeat?: string) {
  return { name, uid: undefined, names: undefined, open: [], status: { heartbeat } }
}

const wall = (): Date => new Date('2001-01-01T00:10:00Z')

test('who is not heard while others are is silent after a while, and not any more with the next word', () => {
  let now = 0
  const heartbeats = new Heartbeats({ time: { now: () => now }, now: wall })
  for (const name of ['a', 'b']) heartbeats.hear(heard(name, '2001-01-01T00:00:00Z'))
  now = silentAfter
  heartbeats.hear(heard('a', '2001-01-01T00:02:00Z'))
  heartbeats.hear(heard('b', '2001-01-01T00:00:00Z'))
  expect(['a', 'b'].map((name) => heartbeats.isSilent(name))).toEqual([false, true])
  heartbeats.hear(heard('b', '1999-01-01T00:00:00Z'))
  expect(heartbeats.isSilent('b')).toBe(false)
})

test('where nobody is heard, it takes longer until that is believed', () => {
  let now = 0
  const heartbeats = new Heartbeats({ time: { now: () => now }, now: wall })
  heartbeats.hear(heard('a', '2001-01-01T00:00:00Z'))
  now = 2 * silentAfter
  expect(heartbeats.isSilent('a')).toBe(false)
  now = 3 * silentAfter
  expect(heartbeats.isSilent('a')).toBe(true)
})

test('who never gave a sign of life, or is gone, is silent', () => {
  const heartbeats = new Heartbeats({ time: { now: () => 0 }, now: wall })
  heartbeats.hear(heard('a'))
  heartbeats.hear(heard('b', '2001-01-01T00:00:00Z'))
  heartbeats.forget('b')
  expect(['a', 'b'].map((name) => heartbeats.isSilent(name))).toEqual([true, true])
})

test('the last words of somebody who went silent long ago are not from just now, but any new ones are', () => {
  const heartbeats = new Heartbeats({ time: { now: () => 0 }, now: wall })
  heartbeats.hear(heard('a', '2000-12-31T23:00:00Z'))
  expect(heartbeats.isSilent('a')).toBe(true)
  heartbeats.hear(heard('a', '2000-12-31T23:02:00Z'))
  expect(heartbeats.isSilent('a')).toBe(false)
})
