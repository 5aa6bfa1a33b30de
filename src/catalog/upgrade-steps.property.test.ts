import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxKubeletSkew } from '../kit/version-skew.ts'
import { type ClusterVersions, countWorkerDrains, planUpgradeSteps } from './upgrade-steps.ts'
import { parseVersion, upgradePath } from './version.ts'

const minorOf = (version: string): number => parseVersion(version)[1]

interface Upgrade {
  readonly from: ClusterVersions
  readonly known: readonly string[]
  readonly to: string
}

const oldest = 20

/** A cluster whose workers are up to three minors behind, and a newer version, with any patches. */
const upgrades: fc.Arbitrary<Upgrade> = fc
  .record({
    first: fc.integer({ min: oldest + maxKubeletSkew, max: 40 }),
    behind: fc.integer({ min: 0, max: maxKubeletSkew }),
    length: fc.integer({ min: 0, max: 12 }),
    patches: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 40, maxLength: 40 }),
  })
  .map(({ first, behind, length, patches }) => {
    const known = patches.map((patch, index) => `1.${oldest + index}.${patch}`)
    const version = (minor: number): string => known[minor - oldest] ?? ''
    return {
      from: { kubernetes: version(first), workers: version(first - behind) },
      known,
      to: version(first + length),
    }
  })

function plan({ from, known, to }: Upgrade): readonly ClusterVersions[] {
  return planUpgradeSteps(from, upgradePath(from.kubernetes, to, known))
}

test('at every moment workers are at most three minors older than the API servers, and never newer', () => {
  fc.assert(
    fc.property(upgrades, (upgrade) => {
      let before = upgrade.from
      for (const after of plan(upgrade)) {
        expect(minorOf(after.kubernetes) - minorOf(before.kubernetes)).toBeLessThanOrEqual(1)
        // API servers change first, so workers of the previous state meet API servers of the next state.
        for (const workers of [before.workers, after.workers]) {
          const skew = minorOf(after.kubernetes) - minorOf(workers)
          expect(skew).toBeGreaterThanOrEqual(0)
          expect(skew).toBeLessThanOrEqual(maxKubeletSkew)
        }
        before = after
      }
    }),
  )
})

test('the last state has the requested version on all hosts', () => {
  fc.assert(
    fc.property(upgrades, (upgrade) => {
      const last = plan(upgrade).at(-1) ?? upgrade.from
      expect(last).toEqual({ kubernetes: upgrade.to, workers: upgrade.to })
    }),
  )
})

test('no plan within the skew policy drains workers fewer times', () => {
  fc.assert(
    fc.property(upgrades, (upgrade) => {
      expect(countWorkerDrains(upgrade.from, plan(upgrade))).toBe(findFewestDrains(upgrade))
    }),
  )
})

/** Finds the minimum by trying all choices: after each version of the API servers, workers follow or wait. */
function findFewestDrains({ from, to }: Upgrade): number {
  const search = (server: number, workers: number): number => {
    if (server - workers > maxKubeletSkew) return Infinity
    const choices =
      workers === server ? [[workers, 0] as const] : [[workers, 0] as const, [server, 1] as const]
    return Math.min(
      ...choices.map(([next, drains]) => {
        if (server === minorOf(to)) return next === server ? drains : Infinity
        return drains + search(server + 1, next)
      }),
    )
  }
  return search(minorOf(from.kubernetes), minorOf(from.workers))
}

test('an upgrade that is resumed after any state ends the same, through the same states', () => {
  fc.assert(
    fc.property(upgrades, fc.nat(), (upgrade, point) => {
      const steps = plan(upgrade)
      const done = steps.slice(0, point % (steps.length + 1))
      const rest = plan({ ...upgrade, from: done.at(-1) ?? upgrade.from })
      expect([...done, ...rest]).toEqual(steps)
    }),
  )
})
