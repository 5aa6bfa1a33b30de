import { describe, expect, test } from 'vitest'
import { checkControllerNames, selectControllers } from './select-controllers.ts'
import type { ControllerDefinition } from './controller.ts'
import { controllers } from './table.ts'

function buildDefinition(
  name: string,
  byDefault = true,
  aliases: readonly string[] = [],
): ControllerDefinition {
  const build = () => ({ run: async () => undefined })
  return { name, aliases, summary: name, byDefault, watches: [], rules: [], build }
}

const definitions = [buildDefinition('a'), buildDefinition('b', true, ['bee']), buildDefinition('c', false)]

// The selection follows the rules of kube-controller-manager.
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
])('the selectors %j select the controllers %j', (selectors, names) => {
  const selected = selectControllers(definitions, selectors === '' ? [] : selectors.split(','))
  expect(selected.map(({ name }) => name).join(' ')).toBe(names)
})

test.each([
  ['version-skw', 'did you mean version-skew?'],
  ['-version-skw', 'did you mean version-skew?'],
  ['**', 'hyperkube controller-manager list'],
])('the unknown controller %s is refused with a hint', (selector, hint) => {
  expect(() => selectControllers(controllers, [selector])).toThrow(
    expect.objectContaining({ code: 'MANAGER_CONTROLLER_UNKNOWN', hint }),
  )
})

describe('the check of controller names', () => {
  test('accepts the table of controllers', () => {
    expect(() => checkControllerNames(controllers)).not.toThrow()
  })

  test('refuses duplicate and invalid names', () => {
    expect(() => checkControllerNames([...definitions, buildDefinition('bee')])).toThrow(
      'two controllers are called bee',
    )
    expect(() => checkControllerNames([buildDefinition('a:b')])).toThrow('a:b is not a valid controller name')
  })
})
