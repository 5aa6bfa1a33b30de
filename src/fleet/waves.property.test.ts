import { array, assert, boolean, constantFrom, integer, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { WaveSize } from '../spec/fleet.ts'
import { planWaves } from './waves.ts'

const size = oneof(
  integer({ min: 1, max: 300 }),
  integer({ min: 1, max: 100 }).map((percent): WaveSize => `${percent}%`),
)
const members = array(boolean(), { minLength: 1, maxLength: 60 }).map((flags) =>
  flags.map((isCanary, index) => ({
    name: `c${index}`,
    labels: { stage: isCanary ? 'canary' : 'stable' },
  })),
)
const input = record({
  clusters: members,
  waves: array(size, { minLength: 1, maxLength: 6 }),
  canary: constantFrom(undefined, { stage: 'canary' }),
})

test('every cluster is in exactly one wave, and no wave is empty', () => {
  assert(
    property(input, ({ clusters, waves, canary }) => {
      const planned = planWaves(clusters, { waves, ...(canary === undefined ? {} : { canary }) })
      expect(planned.flatMap((wave) => wave.clusters).toSorted()).toEqual(
        clusters.map(({ name }) => name).toSorted(),
      )
      expect(planned.filter((wave) => wave.clusters.length === 0)).toEqual([])
    }),
  )
})

test('canaries are in the first wave, alone', () => {
  assert(
    property(input, ({ clusters, waves }) => {
      const canaries = clusters.filter(({ labels }) => labels.stage === 'canary').map(({ name }) => name)
      const [first] = planWaves(clusters, { waves, canary: { stage: 'canary' } })
      expect(canaries.length === 0 || first?.clusters.join() === canaries.join()).toBe(true)
    }),
  )
})

test('waves have the usual sizes', () => {
  const clusters = Array.from({ length: 200 }, (_, index) => ({ name: `c${index}`, labels: {} }))
  const sizes = planWaves(clusters, { waves: [1, '10%', '50%', '100%'] }).map((wave) => wave.clusters.length)
  expect(sizes).toEqual([1, 19, 80, 100])
})
