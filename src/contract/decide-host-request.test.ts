import { describe, expect, test } from 'vitest'
import { type AskedHost, decideAsk } from './decide-host-request.ts'
import type { HostRequest, HostResult } from './host-resource.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const fence = { holder: 'a', transitions: 4 }
const wish = { id: 'x', ask: { type: 'check' as const }, within: 60_000 }
const asked: HostRequest = {
  ...{ id: 'x', fence, generation: 2, until: '2026-11-16T08:01:00.000Z' },
  ask: { type: 'check' },
}

function host(requests: readonly unknown[] = [], status: AskedHost['status'] = {}): AskedHost {
  return { spec: { requests }, status: { generation: 2, ...status } }
}

const refused = (reason: 'fence' | 'generation' | 'late' | 'unknown'): HostResult => ({
  ...{ id: 'x', outcome: 'refused', reason },
})

test('it is asked in the name of the term, of the generation that the host has seen', () => {
  expect(decideAsk(host(), wish, fence, now)).toEqual({ kind: 'write', requests: [asked] })
})

test('what is asked already is not asked again', () => {
  expect(decideAsk(host([asked]), wish, fence, now)).toEqual({ kind: 'open' })
})

test('what another term has asked is asked in the name of this one, and not for longer', () => {
  const former = { ...asked, fence: { holder: 'b', transitions: 3 }, until: '2026-11-16T08:00:30.000Z' }
  expect(decideAsk(host([former]), wish, fence, now)).toEqual({
    kind: 'write',
    requests: [{ ...former, fence }],
  })
})

test('an answer is one; what has one makes room', () => {
  const done: HostResult = { id: 'x', outcome: 'done', at: '2026-11-16T08:00:00.000Z', details: [] }
  expect(decideAsk(host([asked], { results: [done] }), wish, fence, now)).toEqual({
    kind: 'answered',
    result: done,
  })
  const other = { ...wish, id: 'y' }
  expect(decideAsk(host([asked, 'newer'], { results: [done] }), other, fence, now)).toMatchObject({
    requests: ['newer', { id: 'y' }],
  })
})

describe('what was refused', () => {
  test.each(['late', 'unknown'] as const)('as %s is answered', (reason) => {
    expect(decideAsk(host([asked], { results: [refused(reason)] }), wish, fence, now).kind).toBe('answered')
  })

  test('because an operator came is asked anew, with what the host has seen now', () => {
    const step = decideAsk(
      host([asked], { results: [refused('generation')], generation: 3 }),
      wish,
      fence,
      now,
    )
    expect(step).toEqual({ kind: 'write', requests: [{ ...asked, generation: 3 }] })
  })

  test('because of the fence needs a higher one, and is asked anew with that', () => {
    const highest = { holder: 'b', transitions: 7 }
    const seen = host([asked], { results: [refused('fence')], highest })
    expect(decideAsk(seen, wish, fence, now)).toEqual({ kind: 'outranked', seen: highest })
    const raised = { holder: 'a', transitions: 8 }
    expect(decideAsk(seen, wish, raised, now)).toEqual({
      kind: 'write',
      requests: [{ ...asked, fence: raised }],
    })
  })
})

test('where somebody with a higher fence has asked already, nothing is written', () => {
  const newer = { ...asked, id: 'y', fence: { holder: 'b', transitions: 5 } }
  expect(decideAsk(host([newer]), wish, fence, now)).toEqual({ kind: 'outranked', seen: newer.fence })
})

test('too many are too many', () => {
  const others = Array.from({ length: 32 }, (_, number) => ({ ...asked, id: `y${number}` }))
  expect(decideAsk(host(others), wish, fence, now)).toEqual({ kind: 'full' })
})
