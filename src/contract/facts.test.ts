import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { factsFormat } from './facts.ts'
import { readVersioned } from './versioned.ts'

function golden(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8'))
}

/** The first was taken on a host of the lab; the second is written by hand, as no Windows was at hand. */
test.each(['facts-lab-host.v1.json', 'facts-windows-2022.v1.json'])('%s keeps being read', (name) => {
  const document = golden(name)
  expect(readVersioned(factsFormat, document)).toEqual(document)
})
