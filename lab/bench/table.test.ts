import { expect, test } from 'vitest'
import { milestones } from './milestones.ts'
import { type Column, formatSpread, renderRatios, renderTable } from './table.ts'

test('a spread is the median, the minimum and the maximum', () => {
  expect(formatSpread([3, 1, 2], 1)).toBe('2.0 (1.0–3.0)')
  expect(formatSpread([1, 2], 1)).toBe('1.5 (1.0–2.0)')
  expect(formatSpread([], 1)).toBe('–')
})

test('a table has a row for each milestone and each cost', () => {
  const result = {
    times: new Map(milestones.map((milestone, index) => [milestone, (index + 1) * 1000])),
    usage: { cpuSeconds: 12.34, peakBytes: 3 * 2 ** 30 },
  }
  expect(renderTable([{ contender: 'bare', shape: '1+1', results: [result] }])).toMatchInlineSnapshot(`
    "|                                                  | bare 1+1         |
    | ------------------------------------------------ | ---------------- |
    | etcd healthy (s)                                 | 1.0 (1.0–1.0)    |
    | an API server ready (s)                          | 2.0 (2.0–2.0)    |
    | all API servers ready (s)                        | 3.0 (3.0–3.0)    |
    | all nodes Ready (s)                              | 4.0 (4.0–4.0)    |
    | a pod Running on every node (s)                  | 5.0 (5.0–5.0)    |
    | HTTP across nodes (s)                            | 6.0 (6.0–6.0)    |
    | ClusterIP answers (s)                            | 7.0 (7.0–7.0)    |
    | addons usable (s)                                | 8.0 (8.0–8.0)    |
    | CPU of all hosts (s)                             | 12.3 (12.3–12.3) |
    | peak memory of all hosts, page cache apart (GiB) | 3.0 (3.0–3.0)    |"
  `)
})

test('a milestone that was not measured has no value', () => {
  const result = { times: new Map([['etcd healthy', 1000] as const]), usage: { cpuSeconds: 1, peakBytes: 0 } }
  const [, , first, ...rest] = renderTable([
    { contender: 'bare', shape: '1+1', results: [result, result] },
  ]).split('\n')
  expect(first).toContain('| 1.0 (1.0–1.0) |')
  expect(rest[0]).toMatch(/\| – +\|$/)
})

function buildColumn(contender: string, shape: string, ...seconds: readonly number[]): Column {
  const results = seconds.map((value) => ({
    times: new Map([['etcd healthy', value * 1000] as const]),
    usage: { cpuSeconds: 2 * value, peakBytes: 2 ** 30 },
  }))
  return { contender, shape, results }
}

test('ratios are computed per run and per shape', () => {
  const columns = [
    buildColumn('bare', '1+1', 10, 20, 40),
    buildColumn('kubeadm', '1+1', 20, 20, 40),
    buildColumn('hyperkube', '1+1', 15, 40, 50),
    buildColumn('hyperkube', '3+2', 1, 1, 1),
  ]
  const [header, , etcd, ...others] = renderRatios(columns).split('\n')
  expect(header?.match(/\w+ ÷ \w+, \S+/g)).toEqual([
    'kubeadm ÷ bare, 1+1',
    'hyperkube ÷ bare, 1+1',
    'hyperkube ÷ kubeadm, 1+1',
  ])
  // Each ratio compares two results of the same run. Dividing the medians of all runs would give 40 ÷ 20 =
  // 2.00 for hyperkube and bare.
  expect(etcd).toMatch(
    /^\| etcd healthy +\| 1\.00 \(1\.00–2\.00\) +\| 1\.50 \(1\.25–2\.00\) +\| 1\.25 \(0\.75–2\.00\) +\|$/,
  )
  expect(others.at(-2)).toContain('| 1.50 (1.25–2.00)')
  expect(others[0]).toContain('| –')
})

test('a run without a counterpart has no ratio, and a single contender has no table', () => {
  const ratios = renderRatios([buildColumn('bare', '1+1', 10), buildColumn('hyperkube', '1+1', 10, 30)])
  expect(ratios).toContain('| 1.00 (1.00–1.00)')
  expect(renderRatios([buildColumn('bare', '1+1', 10)])).toBe('')
})
