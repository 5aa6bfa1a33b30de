import { expect, test } from 'vitest'
import type { HostRequest, HostResult } from '../../contract/host-resource.ts'
import type { HostRequestMemory } from '../../contract/host-request-state.ts'
import { decide, type Seen } from './decide-next-request.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const later = '2026-11-16T09:00:00.000Z'
const memory: HostRequestMemory = { apiVersion: 'hyperkube.dev/v1', kind: 'HostRequestMemory', begun: [] }

function request(id: string, transitions = 4, more: Partial<HostRequest> = {}): HostRequest {
  const fence = { holder: `leader-${transitions}`, transitions }
  return { id, fence, generation: 2, until: later, ask: { type: 'check' }, ...more }
}

function decided(requests: readonly unknown[], more: Partial<Seen> = {}) {
  return decide({ requests, memory, now, generation: 2, taken: false, ...more })
}

const refused = (id: string, reason: string) => ({ id, outcome: 'refused', reason })

test('the first of what is asked comes next, and one at a time', () => {
  const { next, refused: none, highest } = decided([request('a'), request('b')])
  expect([next?.id, none, highest?.transitions]).toEqual(['a', [], 4])
})

test('what was begun is never begun again, whatever became of it', () => {
  const begun = [{ id: 'a', until: later }]
  expect(decided([request('a'), request('b')], { memory: { ...memory, begun } }).next?.id).toBe('b')
  const result: HostResult = { id: 'b', outcome: 'failed', at: later, details: [] }
  const both = { ...memory, begun: [...begun, { id: 'b', until: later, result }] }
  expect(decided([request('a'), request('b')], { memory: both })).toMatchObject({
    next: undefined,
    refused: [],
  })
})

test('nothing is done for a lower fence than was ever shown, or stands beside it', () => {
  const seen = { ...memory, highest: { holder: 'leader-5', transitions: 5 } }
  expect(decided([request('a', 4)], { memory: seen })).toMatchObject({
    next: undefined,
    highest: { transitions: 5 },
    refused: [refused('a', 'fence')],
  })
  expect(decided([request('a', 4), request('b', 6)])).toMatchObject({
    next: { id: 'b' },
    highest: { transitions: 6 },
    refused: [refused('a', 'fence')],
  })
  // The same number of somebody else.
  const other = request('a', 5, { fence: { holder: 'x', transitions: 5 } })
  expect(decided([other], { memory: seen }).refused).toEqual([refused('a', 'fence')])
})

test('also what is refused shows how high a fence is', () => {
  const late = request('a', 9, { until: '2026-11-16T07:59:59.000Z' })
  expect(decided([late, request('b', 4)])).toMatchObject({
    next: undefined,
    highest: { transitions: 9 },
    refused: [refused('a', 'late'), refused('b', 'fence')],
  })
})

test('what was decided before an operator came is not done', () => {
  expect(decided([request('a')], { generation: 3 }).refused).toEqual([refused('a', 'generation')])
  expect(decided([request('a', 4, { generation: 3 })], { generation: 3 }).next?.id).toBe('a')
})

test('while somebody else decides, what may be done waits, and is not refused', () => {
  expect(decided([request('a')], { taken: true })).toMatchObject({ next: undefined, refused: [] })
})

test('what this agent does not know is said, and keeps it from nothing else', () => {
  const newer = { ...request('a'), ask: { type: 'sing' } }
  const more = { ...request('b'), why: 'the very point of it' }
  expect(decided([newer, more, 'nonsense', null, request('c')])).toMatchObject({
    next: { id: 'c' },
    refused: [refused('a', 'unknown'), refused('b', 'unknown')],
  })
})
