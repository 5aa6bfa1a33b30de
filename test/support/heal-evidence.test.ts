import { expect, test } from 'vitest'
import { alonePart, aloneTable, evidenceText, faultsPart, healTable, readEvidence } from './heal-evidence.ts'
import type { HealRun } from './heal-figures.ts'

const row = { id: 'stop-kubelet', what: 'kubelet SIGSTOP', expects: 'heals' } as const
const run: HealRun = {
  host: 'w1',
  detected: 30_000,
  healed: 36_000,
  apiFailed: 1,
  serviceFailed: 2,
  acknowledged: 200,
  lost: 0,
  actions: ['restart kubelet'],
  told: 'HEALTH_NO_ANSWER: w1 kubelet: no answer | in 5 s',
  named: 'first',
  leftByThemselves: undefined,
  wrong: [],
}
const trial = {
  date: new Date('2026-01-02T03:04:05Z'),
  hyperkube: 'hyperkube 1.2.3',
  kubernetes: '1.37.1',
  shape: '3+2',
}

test('a row has the median of times, the sum of requests, and whether all runs were well', () => {
  const other = { ...run, detected: undefined, healed: 40_000, serviceFailed: 5, wrong: ['slow'] }
  expect(
    healTable([{ row, runs: [run, other] }])
      .split('\n')
      .at(-1),
  ).toBe('| kubelet SIGSTOP | 2 | 30.0 s | 38.0 s | by itself | 2 | 7 | 0 of 400 | no |')
})

test('what was told cannot end its cell, and the worst naming is shown', () => {
  const runs = [run, { ...run, named: 'too soon' as const }]
  const text = faultsPart(trial, [{ row, runs }])
  expect(text).toContain('2026-01-02: hyperkube 1.2.3, Kubernetes 1.37.1')
  expect(text).toContain(
    '| kubelet SIGSTOP | restart kubelet | HEALTH_NO_ANSWER: w1 kubelet: no answer \\| in 5 s | too soon |',
  )
})

test('services that ended by themselves are counted where nobody was to touch any', () => {
  const untouched = { ...run, actions: [], leftByThemselves: 3 }
  expect(faultsPart(trial, [{ row, runs: [untouched] }])).toContain('because their lease was lost: 3')
})

test('what nobody heals without an agent is its', () => {
  const results = [
    { row, healed: undefined, wrong: [] },
    { row: { id: 'kill-etcd', what: 'etcd SIGKILL' }, healed: 2500, wrong: [] },
  ]
  expect(aloneTable(results).split('\n').slice(2)).toEqual([
    '| kubelet SIGSTOP | – | the agent |',
    '| etcd SIGKILL | 2.5 s | systemd |',
  ])
})

test('each command writes its part, and leaves the other', () => {
  const first = evidenceText({ faults: faultsPart(trial, []), alone: '' })
  const both = evidenceText({ ...readEvidence(first), alone: alonePart(trial, 90_000, []) })
  expect(both.startsWith(first)).toBe(true)
  expect(both).toContain('## Without agents')
  const again = evidenceText({ ...readEvidence(both), faults: faultsPart(trial, [{ row, runs: [run] }]) })
  expect(readEvidence(again).alone).toBe(readEvidence(both).alone)
  expect(again).toContain('kubelet SIGSTOP')
})
