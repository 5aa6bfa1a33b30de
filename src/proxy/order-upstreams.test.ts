import { expect, test } from 'vitest'
import { type Candidate, order } from './order-upstreams.ts'
import { type Observation, observe, unknownUpstream } from './upstreams.ts'

const settle = 5000

function candidate(server: string, seen: readonly Observation['kind'][], local = false): Candidate {
  const upstream = seen.reduce(
    (before, kind, index) => observe(before, { kind, reason: kind }, index, index),
    unknownUpstream(0),
  )
  return { server, upstream, local }
}

test('the well take turns', () => {
  const three = ['a', 'b', 'c'].map((name) => candidate(name, ['ready']))
  const firsts = [0, 1, 2, 3, 4, 5].map((turn) => order(three, turn, 0, settle)[0])
  expect(firsts).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
})

test('the local one comes first while it is well, and is one among others when it is not', () => {
  const others = ['a', 'b'].map((name) => candidate(name, ['ready']))
  for (const turn of [0, 1, 2]) {
    expect(order([...others, candidate('here', ['ready'], true)], turn, 0, settle)[0]).toBe('here')
    expect(order([...others, candidate('here', ['silent', 'silent'], true)], turn, 0, settle)[2]).toBe('here')
  }
})

test('one that comes and goes is second choice until it stays', () => {
  const flapping = candidate('here', ['silent', 'silent', 'ready'], true)
  const steady = candidate('a', ['ready'])
  expect(order([flapping, steady], 0, 100, settle)).toEqual(['a', 'here'])
  expect(order([flapping, steady], 0, 10_000, settle)).toEqual(['here', 'a'])
})

test('when all are unwell, the one that failed longest ago is tried first', () => {
  const long = candidate('long', ['silent', 'silent'])
  const short = candidate('short', ['ready', 'ready', 'silent', 'silent'])
  expect(order([short, long], 0, 100, settle)).toEqual(['long', 'short'])
})
