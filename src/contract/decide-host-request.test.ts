import { describe, expect, test } from 'vitest'
import { type HostRequestView, decideHostRequest } from './decide-host-request.ts'
import type { HostRequest, HostResult } from './host-resource.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const fence = { holder: 'a', transitions: 4 }
const desired = { id: 'x', action: { type: 'check' as const }, startTimeoutMs: 60_000 }
const request: HostRequest = {
  ...{ id: 'x', fence, generation: 2, until: '2026-11-16T08:01:00.000Z' },
  action: { type: 'check' },
}

function host(requests: readonly unknown[] = [], status: HostRequestView['status'] = {}): HostRequestView {
  return { spec: { requests }, status: { generation: 2, ...status } }
}

const refused = (reason: 'fence' | 'generation' | 'late' | 'unknown'): HostResult => ({
  ...{ id: 'x', outcome: 'refused', reason },
})

test('a new request has the current fence and the observed generation of the host', () => {
  expect(decideHostRequest(host(), desired, fence, now)).toEqual({ kind: 'write', requests: [request] })
})

test('an open request is not written again', () => {
  expect(decideHostRequest(host([request]), desired, fence, now)).toEqual({ kind: 'open' })
})

test('a request of a previous leader is rewritten with the current fence and the same deadline', () => {
  const previous = { ...request, fence: { holder: 'b', transitions: 3 }, until: '2026-11-16T08:00:30.000Z' }
  expect(decideHostRequest(host([previous]), desired, fence, now)).toEqual({
    kind: 'write',
    requests: [{ ...previous, fence }],
  })
})

test('a result is returned, and requests with a result are removed', () => {
  const done: HostResult = { id: 'x', outcome: 'done', at: '2026-11-16T08:00:00.000Z', details: [] }
  expect(decideHostRequest(host([request], { results: [done] }), desired, fence, now)).toEqual({
    kind: 'result',
    result: done,
  })
  const other = { ...desired, id: 'y' }
  expect(decideHostRequest(host([request, 'newer'], { results: [done] }), other, fence, now)).toMatchObject({
    requests: ['newer', { id: 'y' }],
  })
})

describe('a refused request', () => {
  test.each(['late', 'unknown'] as const)('with reason %s has a final result', (reason) => {
    expect(decideHostRequest(host([request], { results: [refused(reason)] }), desired, fence, now).kind).toBe(
      'result',
    )
  })

  test('with an old generation is written again with the current generation', () => {
    const step = decideHostRequest(
      host([request], { results: [refused('generation')], generation: 3 }),
      desired,
      fence,
      now,
    )
    expect(step).toEqual({ kind: 'write', requests: [{ ...request, generation: 3 }] })
  })

  test('with an old fence is written again only with a higher fence', () => {
    const highest = { holder: 'b', transitions: 7 }
    const view = host([request], { results: [refused('fence')], highestFence: highest })
    expect(decideHostRequest(view, desired, fence, now)).toEqual({ kind: 'outranked', highestFence: highest })
    const raised = { holder: 'a', transitions: 8 }
    expect(decideHostRequest(view, desired, raised, now)).toEqual({
      kind: 'write',
      requests: [{ ...request, fence: raised }],
    })
  })
})

test('nothing is written if a request with a higher fence exists', () => {
  const newer = { ...request, id: 'y', fence: { holder: 'b', transitions: 5 } }
  expect(decideHostRequest(host([newer]), desired, fence, now)).toEqual({
    kind: 'outranked',
    highestFence: newer.fence,
  })
})

test('more than 32 open requests are refused', () => {
  const others = Array.from({ length: 32 }, (_, number) => ({ ...request, id: `y${number}` }))
  expect(decideHostRequest(host(others), desired, fence, now)).toEqual({ kind: 'full' })
})
