import { expect, test } from 'vitest'
import { healRows } from './heal-rows.ts'
import { components, selectRows, assignHosts } from './heal-row.ts'

const rows = [
  { id: 'first', runs: 5 },
  { id: 'second', runs: 1 },
]

test('selectRows returns all rows with their own number of runs, or the requested rows and number', () => {
  expect(selectRows(rows, { rows: undefined, runs: undefined })).toEqual(rows)
  expect(selectRows(rows, { rows: '', runs: undefined })).toEqual(rows)
  expect(selectRows(rows, { rows: 'second,first', runs: '2' })).toEqual([
    { id: 'first', runs: 2 },
    { id: 'second', runs: 2 },
  ])
})

test('an unknown row and an invalid number of runs are refused', () => {
  expect(() => selectRows(rows, { rows: 'first,third', runs: undefined })).toThrow('there is no row third')
  for (const runs of ['0', '-1', '1.5', 'often']) {
    expect(() => selectRows(rows, { rows: undefined, runs })).toThrow('is not a number of runs')
  }
})

test('runs use the hosts in rotation', () => {
  expect(assignHosts({ hosts: ['cp1', 'cp2', 'cp3'], runs: 5 })).toEqual(['cp1', 'cp2', 'cp3', 'cp1', 'cp2'])
})

test('the table has unique faults, and a kill and a stop row for each component', () => {
  const ids = healRows.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const component of components) {
    expect(ids).toContain(`kill-${component}`)
    expect(ids).toContain(`stop-${component}`)
  }
  for (const { hosts } of healRows) expect(hosts.length).toBeGreaterThan(0)
})

test('all rows together take less than 95 minutes', () => {
  const seconds = healRows.reduce((total, row) => total + row.runs * row.seconds, 0)
  expect(seconds).toBeLessThan(95 * 60)
})
