import { describe, expect, test } from 'vitest'
import { checkTable, choose } from './select-controllers.ts'
import type { ControllerRow } from './controller.ts'
import { controllers } from './table.ts'

function row(name: string, byDefault = true, aliases: readonly string[] = []): ControllerRow {
  const build = () => ({ run: async () => undefined })
  return { name, aliases, summary: name, byDefault, watches: [], rights: [], build }
}

const rows = [row('a'), row('b', true, ['bee']), row('c', false)]

// As kube-controller-manager's own rule has it.
test.each([
  ['*', 'a b'],
  ['', ''],
  ['a', 'a'],
  ['*,-a', 'b'],
  ['-a,*', 'b'],
  ['*,c', 'a b c'],
  ['c,-a', 'c'],
  ['bee', 'b'],
  ['*,-bee', 'a'],
  ['a,-a', 'a'],
  ['-a,a,*', 'b'],
  ['c,b,a', 'a b c'],
])('%j means %j', (words, names) => {
  const chosen = choose(rows, words === '' ? [] : words.split(','))
  expect(chosen.map(({ name }) => name).join(' ')).toBe(names)
})

test.each([
  ['version-skw', 'did you mean version-skew?'],
  ['-version-skw', 'did you mean version-skew?'],
  ['**', 'hyperkube controller-manager list'],
])('%s is no controller', (word, hint) => {
  expect(() => choose(controllers, [word])).toThrow(
    expect.objectContaining({ code: 'MANAGER_CONTROLLER_UNKNOWN', hint }),
  )
})

describe('the table', () => {
  test('is sound', () => {
    expect(() => checkTable(controllers)).not.toThrow()
  })

  test('has no name twice, and none that identities could not bear', () => {
    expect(() => checkTable([...rows, row('bee')])).toThrow('two controllers are called bee')
    expect(() => checkTable([row('a:b')])).toThrow('a:b is no name')
  })
})
