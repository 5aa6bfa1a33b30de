import { array, assert, asyncProperty, constantFrom, double, integer, oneof, record, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { usualElection } from './election.ts'
import { course, type Deed, type Life, type Span } from './testing/election-simulator.ts'

const length = 120_000
const moment = integer({ min: 0, max: length })
const span = tuple(moment, integer({ min: 1000, max: 60_000 })).map(([from, long]): Span => ({
  from,
  to: from + long,
}))

function lives(slowest: number, fastest: number) {
  const life = record({
    from: integer({ min: 0, max: 20_000 }),
    to: integer({ min: 30_000, max: 2 * length }),
    // What goes wrong goes wrong first between the slowest and the fastest.
    rate: oneof(constantFrom(slowest, fastest), double({ min: slowest, max: fastest, noNaN: true })),
    frozen: array(span, { maxLength: 3 }),
    cut: array(
      tuple(span, constantFrom('there', 'back')).map(([one, way]) => ({ ...one, way })),
      { maxLength: 3 },
    ),
    delays: array(constantFrom(1, 20, 100, 300, 1500, 4000), { minLength: 1, maxLength: 5 }),
    end: constantFrom('killed', 'stopped'),
  })
  return array(life, { minLength: 2, maxLength: 5 }).map((some) =>
    some.map((one, at): Life => ({ ...one, name: `c${at}` })),
  )
}

/** Two who have the same number. */
function shared(deeds: readonly Deed[]): string[] {
  const holders = new Map<number, string>()
  return deeds.flatMap(({ fence: { holder, transitions } }) => {
    const known = holders.get(transitions) ?? holder
    holders.set(transitions, known)
    return known === holder ? [] : [`${known} and ${holder} are both ${transitions}`]
  })
}

/** What was sent out after somebody with a higher number had begun. */
function late(deeds: readonly Deed[]): Deed[] {
  let highest = -1
  return deeds.filter(({ fence: { transitions } }) => {
    highest = Math.max(highest, transitions)
    return transitions < highest
  })
}

const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 100)

test('while clocks run nearly alike, none acts once another has begun, whatever is frozen, cut, slow or killed', async () => {
  await assert(
    asyncProperty(lives(0.9, 1.1), async (some) => {
      const { deeds } = await course(some, usualElection, { length })
      expect(late(deeds)).toEqual([])
      expect(shared(deeds)).toEqual([])
    }),
    { numRuns },
  )
})

test('whatever clocks do, no two have the same number: who asks hosts with an old one is refused', async () => {
  await assert(
    asyncProperty(lives(0.1, 4), async (some) => {
      const { deeds } = await course(some, usualElection, { length })
      expect(shared(deeds)).toEqual([])
    }),
    { numRuns },
  )
})

test('when the lease is removed and nobody remembers its number, hosts still obey one, and soon one again', async () => {
  const well = { rate: 1, frozen: [], cut: [], delays: [5], end: 'killed' as const }
  await assert(
    asyncProperty(lives(0.9, 1.1), array(moment, { minLength: 1, maxLength: 3 }), async (some, removals) => {
      const mortal = some.map((life): Life => ({ ...life, to: Math.min(life.to, length), end: 'killed' }))
      const all = [...mortal, { ...well, name: 'last', from: length, to: Infinity }]
      const { done } = await course(all, usualElection, { length: length + 60_000, removals })
      expect(late(done)).toEqual([])
      expect(done.some(({ at }) => at > length + 50_000)).toBe(true)
    }),
    { numRuns },
  )
})

test('whoever leads and dies, another one acts within twenty seconds', async () => {
  const rate = double({ min: 0.98, max: 1.02, noNaN: true })
  const delays = array(integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 })
  await assert(
    asyncProperty(
      integer({ min: 10_000, max: 60_000 }),
      tuple(rate, delays),
      array(tuple(rate, delays, integer({ min: 0, max: 5000 })), { minLength: 1, maxLength: 4 }),
      async (death, [fast, own], others) => {
        const well = { frozen: [], cut: [], end: 'killed' as const }
        const some: Life[] = [
          { ...well, name: 'first', from: 0, to: death, rate: fast, delays: own },
          ...others.map(([other, theirs, from], at) => ({
            ...well,
            ...{ name: `c${at}`, from: 500 + from, to: Infinity, rate: other, delays: theirs },
          })),
        ]
        const { deeds } = await course(some, usualElection, { length: death + 20_000 })
        const leader = deeds.findLast(({ at }) => at < death)?.fence.holder
        const next = deeds.find(({ at, fence }) => at >= death && fence.holder !== leader)
        expect(leader !== 'first' || next !== undefined).toBe(true)
      },
    ),
    { numRuns },
  )
})
