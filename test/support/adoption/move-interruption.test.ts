import { expect, test } from 'vitest'
import { planMoveInterruptions } from './move-interruption.ts'

const hosts = ['cp1', 'cp2', 'w1']

test('the same seed gives the same interruptions, another seed gives others', () => {
  expect(planMoveInterruptions(7, 20, hosts)).toEqual(planMoveInterruptions(7, 20, hosts))
  expect(planMoveInterruptions(7, 20, hosts)).not.toEqual(planMoveInterruptions(8, 20, hosts))
})

test('nine rounds have every kind with every run, and a point in every ninth of a run', () => {
  const rounds = planMoveInterruptions(3, 9, hosts)
  const pairs = rounds.map(({ kind, run }) => `${kind} ${run.command} ${run.next}`)
  expect(new Set(pairs).size).toBe(9)
  expect(new Set(rounds.map(({ point }) => Math.floor(point * 9))).size).toBe(9)
})

test('twenty rounds interrupt with each kind at least six times', () => {
  const rounds = planMoveInterruptions(1, 20, hosts)
  expect(rounds).toHaveLength(20)
  for (const kind of ['operator-killed', 'host-power-cut', 'partition'])
    expect(rounds.filter((round) => round.kind === kind).length).toBeGreaterThanOrEqual(6)
})
