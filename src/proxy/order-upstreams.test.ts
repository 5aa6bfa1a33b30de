import { expect, test } from 'vitest'
import { type UpstreamCandidate, orderUpstreams } from './order-upstreams.ts'
import { type UpstreamObservation, applyObservation, createUpstream } from './upstreams.ts'

const settle = 5000

function candidate(
  server: string,
  kinds: readonly UpstreamObservation['kind'][],
  local = false,
): UpstreamCandidate {
  const upstream = kinds.reduce(
    (before, kind, index) => applyObservation(before, { kind, reason: kind }, index, index),
    createUpstream(0),
  )
  return { server, upstream, local }
}

test('healthy servers take turns', () => {
  const three = ['a', 'b', 'c'].map((name) => candidate(name, ['ready']))
  const firsts = [0, 1, 2, 3, 4, 5].map((turn) => orderUpstreams(three, turn, 0, settle)[0])
  expect(firsts).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
})

test('the local one comes first while it is healthy, and is one among others when it is not', () => {
  const others = ['a', 'b'].map((name) => candidate(name, ['ready']))
  for (const turn of [0, 1, 2]) {
    expect(orderUpstreams([...others, candidate('here', ['ready'], true)], turn, 0, settle)[0]).toBe('here')
    expect(
      orderUpstreams([...others, candidate('here', ['silent', 'silent'], true)], turn, 0, settle)[2],
    ).toBe('here')
  }
})

test('one that comes and goes is second choice until it stays', () => {
  const flapping = candidate('here', ['silent', 'silent', 'ready'], true)
  const steady = candidate('a', ['ready'])
  expect(orderUpstreams([flapping, steady], 0, 100, settle)).toEqual(['a', 'here'])
  expect(orderUpstreams([flapping, steady], 0, 10_000, settle)).toEqual(['here', 'a'])
})

test('when all are unhealthy, the one that failed longest ago is tried first', () => {
  const long = candidate('long', ['silent', 'silent'])
  const short = candidate('short', ['ready', 'ready', 'silent', 'silent'])
  expect(orderUpstreams([short, long], 0, 100, settle)).toEqual(['long', 'short'])
})
