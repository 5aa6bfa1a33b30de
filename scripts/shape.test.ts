import { expect, test } from 'vitest'
import { findCycles, measureShape } from './shape.ts'

const modules = (table: Record<string, readonly string[]>) =>
  new Map(
    Object.entries(table).map(([file, imports]) => [
      file,
      imports.map((target) => `import '${target}'\n`).join(''),
    ]),
  )

test('modules unreachable from src/main.ts are listed, except tests and testing/', () => {
  const shape = measureShape(
    modules({
      'src/main.ts': ['./cli/a.ts'],
      'src/cli/a.ts': [],
      'src/cli/a.test.ts': ['./b.ts'],
      'src/cli/b.ts': [],
      'src/cli/testing/c.ts': [],
    }),
  )
  expect(shape.reachable).toEqual(['src/cli/a.ts', 'src/main.ts'])
  expect(shape.unreachable).toEqual(['src/cli/b.ts'])
})

test('two folders of one room that import each other are a pair, including nested folders', () => {
  const { twoWayPairs } = measureShape(
    modules({
      'src/agent/heal/a.ts': ['../server/b.ts'],
      'src/agent/server/b.ts': [],
      'src/agent/server/deep/c.ts': ['../../heal/d.ts', '../b.ts'],
      'src/agent/heal/d.ts': ['./a.ts'],
    }),
  )
  expect(twoWayPairs).toEqual(['src/agent: heal and server'])
})

test('a cycle is found once, with all of its modules', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ])
  expect(findCycles(imports).map((group) => group.toSorted())).toEqual([['a', 'b', 'c']])
})
