import { array, assert, constantFrom, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { parseManifests } from './parse-manifests.ts'

/** True if the text gives manifests or findings, and the position of each finding is inside the text. */
function isReadable(text: string): boolean {
  const { manifests, findings } = parseManifests({ name: 'a.yml', text, path: 'spec', inline: false })
  const lines = text.split(/\r\n|\n|\r/).length
  const isPositioned = findings.every(({ position }) => position !== undefined && position.line <= lines)
  return isPositioned && manifests.length + findings.length > 0
}

test('any text gives manifests or findings with a position in the text', () => {
  expect(() =>
    assert(property(string({ unit: 'binary', maxLength: 300 }), isReadable), { numRuns: 300 }),
  ).not.toThrow()
})

test('any text of manifest fragments gives manifests or findings with a position in the text', () => {
  const words =
    'apiVersion: v1|kind: List|kind: ConfigMap|metadata: {name: a}|items:|---|- |  |\n|&a |*a|<<: *a|0644|"|[|{'
  const text = array(constantFrom(...words.split('|')), { maxLength: 40 }).map((pieces) => pieces.join(''))
  expect(() => assert(property(text, isReadable), { numRuns: 1000 })).not.toThrow()
})
