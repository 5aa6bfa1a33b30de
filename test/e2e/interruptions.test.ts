import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type UpPhases, listUpPhases } from '../support/up-phases.ts'
import { runInterruptedRound } from '../support/interrupted-round.ts'
import { openFreshLab, startHostsOnDisk } from '../support/lab.ts'
import { createOperator, type Operator } from '../support/operator.ts'

let lab: Lab
let operator: Operator
let phases: UpPhases

beforeAll(async () => {
  lab = await openFreshLab('interrupt')
  operator = await createOperator(lab, await startHostsOnDisk(lab, ['cp1', 'w1']), '1.37.1')
  phases = listUpPhases(await operator.plan())
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
  'after $kind at $point of the first up, the next up completes',
  { timeout: 600_000 },
  async (interruption) => {
    await operator.must(0, 'reset', '--yes')
    const { moment, ended, recovery, problems } = await runInterruptedRound(operator, lab, {
      interruption,
      phases,
    })
    process.stderr.write(`${interruption.kind} at ${moment}: ${ended}; then ${recovery.toFixed(1)} s\n`)
    expect(problems).toEqual([])
  },
)
