import { expect, test } from 'vitest'
import { updateMinorEvidence } from './minor-evidence.ts'

const results = { etcd: '3.6.16', date: '2026-11-17', programs: 7, flags: 600 }
const listRows = (page: string): string[] => page.match(/^\| \d.*$/gm) ?? []

test('a run replaces its own row and keeps the rest, and rows are sorted by version', () => {
  const notes = '## Not run\n\nA reason.\n'
  const first = updateMinorEvidence(notes, { ...results, kubernetes: '1.9.3' })
  const second = updateMinorEvidence(first, { ...results, kubernetes: '1.10.8', upSeconds: 41.4 })
  const third = updateMinorEvidence(second, {
    ...results,
    kubernetes: '1.9.3',
    conformance: { passed: 30, seconds: 90.2 },
  })
  expect(listRows(second)).toEqual([
    '| 1.10.8 | 3.6.16 | 2026-11-17 | 7 programs | 600 | 41 s |  |',
    '| 1.9.3 | 3.6.16 | 2026-11-17 | 7 programs | 600 |  |  |',
  ])
  expect(listRows(third).at(-1)).toBe(
    '| 1.9.3 | 3.6.16 | 2026-11-17 | 7 programs | 600 |  | 30 of 30 passed in 90 s |',
  )
  expect(listRows(third).slice(0, -1)).toEqual(listRows(second).slice(0, -1))
  expect(third.endsWith(`\n\n${notes}`)).toBe(true)
})
