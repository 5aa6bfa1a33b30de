import { expect, test } from 'vitest'
import { componentOf, planOf } from '../../diff/testing/fixtures.ts'
import { day } from '../../pki/lifetime.ts'
import { lookEvery, usualRhythm } from './intervals.ts'

test('short lives are looked at more often', () => {
  const certificate = {
    authority: 'etcd',
    subject: { commonName: 'a', organizations: [] },
    names: { dns: [], ip: [] },
    usages: ['client'],
    owner: 'root',
    certificateFile: '/a.crt',
    keyFile: '/a.key',
  } as const
  const planWith = (...lifetimes: number[]) =>
    planOf(
      componentOf({
        name: 'etcd',
        certificates: lifetimes.map((lifetime) => ({ ...certificate, usages: ['client'], lifetime })),
      }),
    )
  expect(lookEvery(planWith(365 * day), usualRhythm)).toBe(600_000)
  expect(lookEvery(planWith(365 * day, 1_200_000), usualRhythm)).toBe(100_000)
  expect(lookEvery(planWith(), usualRhythm)).toBe(600_000)
})
