import { expect, test } from 'vitest'
import { milestones } from './milestones.ts'
import { renderTable, formatSpread } from './table.ts'

test('a spread is the median, the minimum and the maximum', () => {
  expect(formatSpread([3, 1, 2])).toBe('2.0 (1.0–3.0)')
  expect(formatSpread([1, 2])).toBe('1.5 (1.0–2.0)')
  expect(formatSpread([])).toBe('–')
})

test('a table has a row for each milestone and each cost', () => {
  const result = {
    times: new Map(milestones.map((milestone, index) => [milestone, (index + 1) * 1000])),
    usage: { cpuSeconds: 12.34, peakBytes: 3 * 2 ** 30 },
  }
  expect(renderTable([{ title: 'bare 1+1', results: [result] }])).toMatchInlineSnapshot(`
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
  const [, , first, ...rest] = renderTable([{ title: 'bare', results: [result, result] }]).split('\n')
  expect(first).toContain('| 1.0 (1.0–1.0) |')
  expect(rest[0]).toMatch(/\| – +\|$/)
})
