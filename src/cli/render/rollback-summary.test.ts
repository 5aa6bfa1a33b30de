import { expect, test } from 'vitest'
import { toEvents, type RecordedEvent } from './testing/fixtures.ts'
import { reduceEvents } from './reduce-events.ts'
import { initialRunState } from './run-state.ts'
import { formatEndSummary } from './summary.ts'

const failed = {
  outcome: 'failed',
  failure: { code: 'SERVICE_FAILED', message: 'kubelet.service does not start' },
} as const
const rolledBack = {
  outcome: 'failed',
  failure: { code: 'ROLLOUT_ROLLED_BACK', message: 'the rollback of w1 succeeded' },
} as const
const step = 'network/w1'

const entries: readonly RecordedEvent[] = [
  [0, { type: 'run-started', command: 'upgrade --to 1.37.1' }],
  [1, { type: 'steps-planned', steps: [{ step, title: 'kubelet on w1', hosts: ['w1'], stage: 'network' }] }],
  [1, { type: 'step-started', step, stage: 'network' }],
  [1, { type: 'step-started', step, stage: 'network' }, 'w1'],
  [60, { type: 'step-ended', step, result: failed }, 'w1'],
  [90, { type: 'step-ended', step, result: rolledBack }],
  [91, { type: 'run-ended', result: rolledBack }],
]

test('the summary contains the failure of a host, its rollback and the command that resumes an upgrade', () => {
  const summary = formatEndSummary(reduceEvents(initialRunState, toEvents(entries)), (_, text) => text)
  expect(summary).toContain('w1: SERVICE_FAILED: kubelet.service does not start')
  expect(summary).toContain('ROLLOUT_ROLLED_BACK: the rollback of w1 succeeded')
  expect(summary).toContain('→ fix the errors above, then run: hyperkube up')
})
