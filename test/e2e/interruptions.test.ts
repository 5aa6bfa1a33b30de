import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type Course, courseOf } from '../support/up-phases.ts'
import { interruptedRound } from '../support/interrupted-round.ts'
import { freshLab, mortalHosts } from '../support/lab.ts'
import { newOperator, type Operator } from '../support/operator.ts'

let lab: Lab
let operator: Operator
let course: Course

beforeAll(async () => {
  lab = await freshLab('interrupt')
  operator = await newOperator(lab, await mortalHosts(lab, ['cp1', 'w1']), '1.37.1')
  course = courseOf(await operator.plan())
})
afterAll(async () => {
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

test.each([
  { kind: 'cli-killed', host: 'cp1', point: 0.45 },
  { kind: 'host-power-cut', host: 'cp1', point: 0.55 },
] as const)(
  '$kind at $point of a first up: the next one finishes',
  { timeout: 600_000 },
  async (interruption) => {
    await operator.must(0, 'reset', '--yes')
    const { moment, ended, recovery, wrong } = await interruptedRound(operator, lab, { interruption, course })
    process.stderr.write(`${interruption.kind} at ${moment}: ${ended}; then ${recovery.toFixed(1)} s\n`)
    expect(wrong).toEqual([])
  },
)
