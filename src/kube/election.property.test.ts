import { array, assert, asyncProperty, constantFrom, double, integer, oneof, record, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { defaultElectionTiming } from './election.ts'
import {
  simulateElection,
  type LeaderAction,
  type SimulatedContender,
  type TimeSpan,
} from './testing/election-simulator.ts'

const length = 120_000
const moment = integer({ min: 0, max: length })
const span = tuple(moment, integer({ min: 1000, max: 60_000 })).map(([from, long]): TimeSpan => ({
  from,
  to: from + long,
}))

function contenders(slowest: number, fastest: number) {
  const contender = record({
    from: integer({ min: 0, max: 20_000 }),
    to: integer({ min: 30_000, max: 2 * length }),
    // The extreme rates are generated more often, because errors occur first between the slowest and the
    // fastest clock.
    rate: oneof(constantFrom(slowest, fastest), double({ min: slowest, max: fastest, noNaN: true })),
    frozen: array(span, { maxLength: 3 }),
    cut: array(
      tuple(span, constantFrom('there', 'back')).map(([one, way]) => ({ ...one, way })),
      { maxLength: 3 },
    ),
    delays: array(constantFrom(1, 20, 100, 300, 1500, 4000), { minLength: 1, maxLength: 5 }),
    end: constantFrom('killed', 'stopped'),
  })
  return array(contender, { minLength: 2, maxLength: 5 }).map((some) =>
    some.map((one, at): SimulatedContender => ({ ...one, name: `c${at}` })),
  )
}

/** Lists leaseTransitions values that two different holders used. */
function findShared(actions: readonly LeaderAction[]): string[] {
  const holders = new Map<number, string>()
  return actions.flatMap(({ fence: { holder, transitions } }) => {
    const known = holders.get(transitions) ?? holder
    holders.set(transitions, known)
    return known === holder ? [] : [`${known} and ${holder} are both ${transitions}`]
  })
}

/** Lists actions that were sent after a holder with more leaseTransitions had already acted. */
function findLate(actions: readonly LeaderAction[]): LeaderAction[] {
  let highest = -1
  return actions.filter(({ fence: { transitions } }) => {
    highest = Math.max(highest, transitions)
    return transitions < highest
  })
}

const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 100)

test('with similar clock rates, no leader acts after another has started, through freezes, network cuts and kills', async () => {
  await assert(
    asyncProperty(contenders(0.9, 1.1), async (some) => {
      const { actions } = await simulateElection(some, defaultElectionTiming, { length })
      expect(findLate(actions)).toEqual([])
      expect(findShared(actions)).toEqual([])
    }),
    { numRuns },
  )
})

test('with any clock rates, no two leaders have the same fence number', async () => {
  await assert(
    asyncProperty(contenders(0.1, 4), async (some) => {
      const { actions } = await simulateElection(some, defaultElectionTiming, { length })
      expect(findShared(actions)).toEqual([])
    }),
    { numRuns },
  )
})

test('after the lease is deleted, hosts accept one leader at a time, and soon accept one again', async () => {
  const reliable = { rate: 1, frozen: [], cut: [], delays: [5], end: 'killed' as const }
  await assert(
    asyncProperty(
      contenders(0.9, 1.1),
      array(moment, { minLength: 1, maxLength: 3 }),
      async (some, removals) => {
        const killed = some.map((contender): SimulatedContender => ({
          ...contender,
          to: Math.min(contender.to, length),
          end: 'killed',
        }))
        const all = [...killed, { ...reliable, name: 'last', from: length, to: Infinity }]
        const { accepted } = await simulateElection(all, defaultElectionTiming, {
          length: length + 60_000,
          removals,
        })
        expect(findLate(accepted)).toEqual([])
        expect(accepted.some(({ at }) => at > length + 50_000)).toBe(true)
      },
    ),
    { numRuns },
  )
})

test('after a leader dies, another contender acts within twenty seconds', async () => {
  const rate = double({ min: 0.98, max: 1.02, noNaN: true })
  const delays = array(integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 })
  await assert(
    asyncProperty(
      integer({ min: 10_000, max: 60_000 }),
      tuple(rate, delays),
      array(tuple(rate, delays, integer({ min: 0, max: 5000 })), { minLength: 1, maxLength: 4 }),
      async (death, [fast, own], others) => {
        const reliable = { frozen: [], cut: [], end: 'killed' as const }
        const some: SimulatedContender[] = [
          { ...reliable, name: 'first', from: 0, to: death, rate: fast, delays: own },
          ...others.map(([other, theirs, from], at) => ({
            ...reliable,
            ...{ name: `c${at}`, from: 500 + from, to: Infinity, rate: other, delays: theirs },
          })),
        ]
        const { actions } = await simulateElection(some, defaultElectionTiming, { length: death + 20_000 })
        const leader = actions.findLast(({ at }) => at < death)?.fence.holder
        const next = actions.find(({ at, fence }) => at >= death && fence.holder !== leader)
        expect(leader !== 'first' || next !== undefined).toBe(true)
      },
    ),
    { numRuns },
  )
})
