import { expect, test } from 'vitest'
import {
  defaultBackoff,
  findGiveUpStep,
  findNextAttemptTime,
  findReopenStep,
  legacyScriptBackoff,
  recordAttempt,
} from './backoff.ts'
import type { ReconcileStep } from './step.ts'
import { emptyReconcileState } from './worker.ts'

const start: ReconcileStep = { do: 'start', role: 'flanneld', basis: '' }

/** Returns the delays after the first `tries` attempts, in seconds. */
function listDelays(backoff: typeof defaultBackoff, step: ReconcileStep, tries: number): number[] {
  let [state, now] = [emptyReconcileState, 1_000_000]
  return Array.from({ length: tries }, () => {
    state = recordAttempt(state, step, now)
    const next = findNextAttemptTime({ state, backoff }, step)
    const delay = (next - now) / 1000
    now = next
    return delay
  })
}

test('by default a step is repeated at growing intervals and never given up', () => {
  expect(listDelays(defaultBackoff, start, 8)).toEqual([5, 10, 20, 40, 80, 120, 120, 120])
})

test.each([
  ['flanneld', 20],
  ['kubelet', 15],
  ['kube-proxy', 10],
] as const)(
  'with the legacy script policy, %s is tried six times, %i s apart, and again after 120 s',
  (role, seconds) => {
    const delays = listDelays(legacyScriptBackoff, { do: 'start', role, basis: '' }, 7)
    expect(delays).toEqual([seconds, seconds, seconds, seconds, seconds, 120, seconds])
  },
)

test('steps that the legacy script does not have use the default backoff', () => {
  expect(listDelays(legacyScriptBackoff, { do: 'start-hns' }, 3)).toEqual([5, 10, 20])
})

test('with the legacy script policy the connection to the API is reopened once, when three attempts are left', () => {
  let state = emptyReconcileState
  const takenSteps = Array.from({ length: 6 }, (_, index) => {
    const first = findReopenStep({ state, backoff: legacyScriptBackoff }, start)
    if (first !== undefined) state = recordAttempt(state, first, index * 20_000 + 19_000)
    const again = findReopenStep({ state, backoff: legacyScriptBackoff }, start)
    state = recordAttempt(state, start, index * 20_000 + 20_000)
    return [first?.do, again?.do]
  })
  expect(takenSteps).toEqual([[], [], [], ['reopen'], [], []].map(([first]) => [first, undefined]))
  expect(findReopenStep({ state, backoff: defaultBackoff }, start)).toBeUndefined()
})

test('with the legacy script policy six failed attempts are reported once, when the next one would be due', () => {
  let state = emptyReconcileState
  const findStep = (now: number, backoff = legacyScriptBackoff) =>
    findGiveUpStep({ state, backoff, now }, start)
  for (let index = 0; index < 6; index++) {
    expect(findStep(index * 20_000 + 20_000)).toBeUndefined()
    state = recordAttempt(state, start, index * 20_000 + 20_000)
  }
  expect(findStep(139_000)).toBeUndefined()
  expect(findStep(140_000, defaultBackoff)).toBeUndefined()
  const step = findStep(140_000)
  expect(step).toEqual({ do: 'give-up', role: 'flanneld' })
  if (step !== undefined) state = recordAttempt(state, step, 140_000)
  expect(findStep(200_000)).toBeUndefined()
})
