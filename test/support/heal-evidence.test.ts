import { expect, test } from 'vitest'
import {
  formatWithoutAgentsPart,
  formatWithoutAgentsTable,
  formatEvidence,
  formatFaultsPart,
  formatHealTable,
  splitEvidence,
} from './heal-evidence.ts'
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
  firstFinding: 'HEALTH_NO_RESPONSE: w1 kubelet: no answer | in 5 s',
  named: 'first',
  leaderRestarts: undefined,
  problems: [],
}
const environment = {
  date: new Date('2026-01-02T03:04:05Z'),
  hyperkube: 'hyperkube 1.2.3',
  kubernetes: '1.37.1',
  shape: '3+2',
}

test('a row has the median of times, the sum of failed requests, and whether all runs passed', () => {
  const other = { ...run, detected: undefined, healed: 40_000, serviceFailed: 5, problems: ['slow'] }
  expect(
    formatHealTable([{ row, runs: [run, other] }])
      .split('\n')
      .at(-1),
  ).toBe('| kubelet SIGSTOP | 2 | 30.0 s | 38.0 s | by itself | 2 | 7 | 0 of 400 | no |')
})

test('a pipe in a finding is escaped, and the worst rating is shown', () => {
  const runs = [run, { ...run, named: 'too soon' as const }]
  const text = formatFaultsPart(environment, [{ row, runs }])
  expect(text).toContain('2026-01-02: hyperkube 1.2.3, Kubernetes 1.37.1')
  expect(text).toContain(
    '| kubelet SIGSTOP | restart kubelet | HEALTH_NO_RESPONSE: w1 kubelet: no answer \\| in 5 s | too soon |',
  )
})

test('restarts because of a lost lease are counted for faults without other restarts', () => {
  const untouched = { ...run, actions: [], leaderRestarts: 3 }
  expect(formatFaultsPart(environment, [{ row, runs: [untouched] }])).toContain(
    'because their lease was lost: 3',
  )
})

test('a fault that does not heal without agents is attributed to the agent', () => {
  const results = [
    { row, healed: undefined, problems: [] },
    { row: { id: 'kill-etcd', what: 'etcd SIGKILL' }, healed: 2500, problems: [] },
  ]
  expect(formatWithoutAgentsTable(results).split('\n').slice(2)).toEqual([
    '| kubelet SIGSTOP | – | the agent |',
    '| etcd SIGKILL | 2.5 s | systemd |',
  ])
})

test('each command writes its own part of the evidence and keeps the other part', () => {
  const first = formatEvidence({ faults: formatFaultsPart(environment, []), withoutAgents: '' })
  const both = formatEvidence({
    ...splitEvidence(first),
    withoutAgents: formatWithoutAgentsPart(environment, 90_000, []),
  })
  expect(both.startsWith(first)).toBe(true)
  expect(both).toContain('## Without agents')
  const again = formatEvidence({
    ...splitEvidence(both),
    faults: formatFaultsPart(environment, [{ row, runs: [run] }]),
  })
  expect(splitEvidence(again).withoutAgents).toBe(splitEvidence(both).withoutAgents)
  expect(again).toContain('kubelet SIGSTOP')
})
