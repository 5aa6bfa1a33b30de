import { expect, test } from 'vitest'
import type { HostRequest, HostRequestState, HostResult } from '../../contract/host-resource.ts'
import { decideNextRequest, type RequestDecisionInput } from './decide-next-request.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const later = '2026-11-16T09:00:00.000Z'
const state: HostRequestState = { apiVersion: 'hyperkube.dev/v1', kind: 'HostRequestState', started: [] }

function request(id: string, transitions = 4, more: Partial<HostRequest> = {}): HostRequest {
  const fence = { holder: `leader-${transitions}`, transitions }
  return { id, fence, generation: 2, until: later, action: { type: 'check' }, ...more }
}

function decideFor(requests: readonly unknown[], more: Partial<RequestDecisionInput> = {}) {
  return decideNextRequest({ requests, state, now, generation: 2, isLocked: false, ...more })
}

const refused = (id: string, reason: string) => ({ id, outcome: 'refused', reason })

test('the first of several requests is next', () => {
  const { next, refused: noRefusals, highestFence } = decideFor([request('a'), request('b')])
  expect([next?.id, noRefusals, highestFence?.transitions]).toEqual(['a', [], 4])
})

test('a started request never starts again, with or without a result', () => {
  const started = [{ id: 'a', until: later }]
  expect(decideFor([request('a'), request('b')], { state: { ...state, started } }).next?.id).toBe('b')
  const result: HostResult = { id: 'b', outcome: 'failed', at: later, details: [] }
  const both = { ...state, started: [...started, { id: 'b', until: later, result }] }
  expect(decideFor([request('a'), request('b')], { state: both })).toMatchObject({
    next: undefined,
    refused: [],
  })
})

test('a request with a lower fence than the highest known one is refused', () => {
  const stateWithFence = { ...state, highestFence: { holder: 'leader-5', transitions: 5 } }
  expect(decideFor([request('a', 4)], { state: stateWithFence })).toMatchObject({
    next: undefined,
    highestFence: { transitions: 5 },
    refused: [refused('a', 'fence')],
  })
  expect(decideFor([request('a', 4), request('b', 6)])).toMatchObject({
    next: { id: 'b' },
    highestFence: { transitions: 6 },
    refused: [refused('a', 'fence')],
  })
  // A fence with the same number and another holder is refused.
  const other = request('a', 5, { fence: { holder: 'x', transitions: 5 } })
  expect(decideFor([other], { state: stateWithFence }).refused).toEqual([refused('a', 'fence')])
})

test('the fence of a refused request also raises the highest fence', () => {
  const late = request('a', 9, { until: '2026-11-16T07:59:59.000Z' })
  expect(decideFor([late, request('b', 4)])).toMatchObject({
    next: undefined,
    highestFence: { transitions: 9 },
    refused: [refused('a', 'late'), refused('b', 'fence')],
  })
})

test('a request with an older generation is refused', () => {
  expect(decideFor([request('a')], { generation: 3 }).refused).toEqual([refused('a', 'generation')])
  expect(decideFor([request('a', 4, { generation: 3 })], { generation: 3 }).next?.id).toBe('a')
})

test('while an operator holds the lock, acceptable requests wait and are not refused', () => {
  expect(decideFor([request('a')], { isLocked: true })).toMatchObject({ next: undefined, refused: [] })
})

test('unknown actions and fields are refused, and do not prevent other requests', () => {
  const newer = { ...request('a'), action: { type: 'sing' } }
  const more = { ...request('b'), why: 'the very point of it' }
  expect(decideFor([newer, more, 'nonsense', null, request('c')])).toMatchObject({
    next: { id: 'c' },
    refused: [refused('a', 'unknown'), refused('b', 'unknown')],
  })
})
