import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Format, readVersioned } from '../contract/versioned.ts'
import { decideNext } from './decide-next.ts'
import { desiredDocumentFormat } from './desired-document.ts'
import { fleetRunFormat, resumeRun } from './fleet-run.ts'
import { memberStateFormat } from './member-state.ts'

function readGolden(file: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'))
}

const golden = readGolden('fleet-run.v1.json')

test.each<[string, Format<unknown>]>([
  ['desired-document.v1.json', desiredDocumentFormat],
  ['fleet-member-state.v1.json', memberStateFormat],
])('%s is read without loss of a field', (file, format) => {
  expect(readVersioned(format, readGolden(file))).toEqual(readGolden(file))
})

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
