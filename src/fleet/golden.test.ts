import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import { decideNext } from './decide-next.ts'
import { fleetRunFormat, resumeRun } from './fleet-run.ts'

const golden: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/fleet-run.v1.json'), 'utf8'),
)

test('a run that an earlier release saved is read completely', () => {
  expect(readVersioned(fleetRunFormat, golden)).toEqual(golden)
})

test('the saved run continues with its failed clusters', () => {
  const run = readVersioned(fleetRunFormat, golden)
  expect(decideNext(run)).toEqual({ type: 'end', state: 'stopped' })
  const resumed = resumeRun(run, 'me@here (process 2)')
  expect(decideNext(resumed)).toEqual({ type: 'start', cluster: 'bonn', wave: 1 })
  expect(resumed.clusters['bonn']).toEqual({ state: 'pending', before: 'degraded' })
  expect(resumed.clusters['berlin']).toEqual(run.clusters['berlin'])
})
