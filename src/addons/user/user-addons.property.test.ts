import { array, assert, constantFrom, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { manifestsIn } from './parse-manifests.ts'

/** Whatever a text holds, the answer is manifests or reasons, each at a line of it. */
function readable(text: string): boolean {
  const { manifests, findings } = manifestsIn({ name: 'a.yml', text, path: 'spec', inline: false })
  const lines = text.split(/\r\n|\n|\r/).length
  const placed = findings.every(({ position }) => position !== undefined && position.line <= lines)
  return placed && manifests.length + findings.length > 0
}

test('any text', () => {
  expect(() =>
    assert(property(string({ unit: 'binary', maxLength: 300 }), readable), { numRuns: 300 }),
  ).not.toThrow()
})

test('any text made of what manifests are made of', () => {
  const words =
    'apiVersion: v1|kind: List|kind: ConfigMap|metadata: {name: a}|items:|---|- |  |\n|&a |*a|<<: *a|0644|"|[|{'
  const text = array(constantFrom(...words.split('|')), { maxLength: 40 }).map((pieces) => pieces.join(''))
  expect(() => assert(property(text, readable), { numRuns: 1000 })).not.toThrow()
})
