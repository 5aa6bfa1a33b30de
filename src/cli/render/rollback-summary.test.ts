import { expect, test } from 'vitest'
import { recorded, type Told } from './testing/fixtures.ts'
import { reduce } from './reduce-events.ts'
import { nothingYet } from './run-state.ts'
import { endSummary } from './summary.ts'

const failed = {
  outcome: 'failed',
  failure: { code: 'SERVICE_FAILED', message: 'kubelet.service does not come up' },
} as const
const back = {
  outcome: 'failed',
  failure: { code: 'ROLLOUT_WENT_BACK', message: 'w1 went back to what it was before, and is well' },
} as const
const step = 'network/w1'

const told: readonly Told[] = [
  [0, { type: 'run-started', command: 'upgrade --to 1.37.1' }],
  [1, { type: 'steps-planned', steps: [{ step, title: 'kubelet on w1', hosts: ['w1'], stage: 'network' }] }],
  [1, { type: 'step-started', step, stage: 'network' }],
  [1, { type: 'step-started', step, stage: 'network' }, 'w1'],
  [60, { type: 'step-ended', step, result: failed }, 'w1'],
  [90, { type: 'step-ended', step, result: back }],
  [91, { type: 'run-ended', result: back }],
]

test('why a host did not come up is said, what came of it, and what goes on with an upgrade', () => {
  const said = endSummary(reduce(nothingYet, recorded(told)), (_, text) => text)
  expect(said).toContain('w1: SERVICE_FAILED: kubelet.service does not come up')
  expect(said).toContain('ROLLOUT_WENT_BACK: w1 went back to what it was before, and is well')
  expect(said).toContain('→ once that is mended: hyperkube up')
})
