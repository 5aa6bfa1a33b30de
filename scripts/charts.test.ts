import { expect, test } from 'vitest'
import { readSeconds, renderHealingChart, renderUpChart } from './charts.ts'

test.each([
  ['58.8 (58.0–65.4)', 58.8],
  ['1 min 06 s', 66],
  ['2.8 s', 2.8],
  ['862 ms', 0.862],
  ['4,326', 4326],
])('readSeconds reads %s as seconds', (text, seconds) => {
  expect(readSeconds(text)).toBe(seconds)
})

test('readSeconds refuses a value that is not a duration', () => {
  expect(() => readSeconds('–')).toThrow('not a duration')
})

test('the chart of up fails when the evidence has no such table', () => {
  expect(() => renderUpChart('# Empty\n')).toThrow('no table with a column hyperkube 3+2')
})

test('the healing chart shows only faults with the most runs', () => {
  const evidence = `Written by \`npm\` on 2026-01-02: hyperkube 0.0.0, Kubernetes 1.37.1,

| fault | runs | healed after |
| --- | --- | --- |
| etcd SIGKILL | 5 | 2.8 s |
| kubelet SIGSTOP | 5 | 40.8 s |
| the agent SIGSTOP | 1 | 1 min 41 s |
`
  const chart = renderHealingChart(evidence)
  expect(chart).toContain('40.8 s')
  expect(chart).toContain('2026-01-02, hyperkube 0.0.0, Kubernetes 1.37.1.')
  expect(chart).not.toContain('1 min 41 s')
})
