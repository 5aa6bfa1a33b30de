import { expect, test } from 'vitest'
import { buildComponent, buildPlan } from '../../diff/testing/fixtures.ts'
import { day } from '../../pki/lifetime.ts'
import { computeCheckInterval, defaultRenewalIntervals } from './intervals.ts'

test('certificates with a short lifetime are checked more often', () => {
  const certificate = {
    ca: 'etcd',
    subject: { commonName: 'a', organizations: [] },
    names: { dns: [], ip: [] },
    usages: ['client'],
    owner: 'root',
    certificateFile: '/a.crt',
    keyFile: '/a.key',
  } as const
  const planWith = (...lifetimes: number[]) =>
    buildPlan(
      buildComponent({
        name: 'etcd',
        certificates: lifetimes.map((lifetime) => ({ ...certificate, usages: ['client'], lifetime })),
      }),
    )
  expect(computeCheckInterval(planWith(365 * day), defaultRenewalIntervals)).toBe(600_000)
  expect(computeCheckInterval(planWith(365 * day, 1_200_000), defaultRenewalIntervals)).toBe(100_000)
  expect(computeCheckInterval(planWith(), defaultRenewalIntervals)).toBe(600_000)
})
