import { expect, test } from 'vitest'
import {
  computeGrowth,
  isLinear,
  type ManagerFigures,
  percentile,
  type ScaleStep,
} from './manager-scale-figures.ts'

test('a percentile is the smallest value that covers the share', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index)
  expect([0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([100, 198, 200])
  expect(percentile([7], 0.99)).toBe(7)
})

test('growth is computed per cost and compared with the growth of the cluster', () => {
  const figures = (factor: number): ManagerFigures => ({
    ...{ sync: 1000 * factor, resident: 50 + factor, peak: 60, cpuShare: 0.01 * factor, latencies: [factor] },
  })
  const step = (nodes: number): ScaleStep => ({
    ...{ nodes, pods: 10 * nodes, own: figures(nodes / 500), upstream: figures(1) },
  })
  const all = computeGrowth(step(500), step(5000))
  expect(all.find(({ what }) => what === 'time to sync')).toMatchObject({ own: 10, upstream: 1 })
  expect(all.every(({ own }) => isLinear(own, 10))).toBe(true)
  expect([isLinear(15, 10), isLinear(15.1, 10)]).toEqual([true, false])
})
