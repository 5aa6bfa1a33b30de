import { expect, test } from 'vitest'
import { listImports, findRoom, findWrongImports } from './arrows.ts'

test('findRoom returns the folder of a file', () => {
  expect(findRoom('src/kit/errors.ts')).toBe('src/kit')
  expect(findRoom('src/main.ts')).toBe('src')
  expect(findRoom('lab/hosts/host.ts')).toBe('lab')
})

test('imports of every form are found', () => {
  // The import statements are assembled from parts, because otherwise they would count as imports of this
  // file.
  const verb = 'import'
  const text = [
    `${verb} a from './a.ts'`,
    `export { b } from "../b.ts"`,
    `${verb} '../../c.ts'`,
    `const d = await ${verb}('./d.ts')`,
    `${verb} {\n  e,\n} from './e.ts'`,
  ].join('\n')
  expect(listImports('src/kit/x.ts', text)).toEqual([
    'src/kit/a.ts',
    'src/b.ts',
    'c.ts',
    'src/kit/d.ts',
    'src/kit/e.ts',
  ])
})

test('a wrong import and a room without a row are reported', () => {
  const files = new Map([
    ['src/kit/x.ts', `import { y } from '../../lab/y.ts'`],
    ['lab/y.ts', `import { run } from '../src/kit/command.ts'`],
    ['src/nowhere/z.ts', ''],
  ])
  expect(findWrongImports(files)).toEqual([
    'src/kit/x.ts: src/kit may not import from lab',
    'src/nowhere/z.ts: the room src/nowhere has no row in scripts/arrows.ts',
  ])
})

test('an import between folders of a large room needs a row, tests excepted', () => {
  const text = `import { cancel } from '../heal/healer.ts'`
  const files = new Map([
    ['src/agent/host/x.ts', text],
    ['src/agent/host/x.test.ts', text],
    ['src/agent/nowhere/y.ts', ''],
    ['src/kube/z.ts', `import { list } from './list.ts'`],
  ])
  expect(findWrongImports(files)).toEqual([
    'src/agent/host/x.ts: src/agent/host may not import from src/agent/heal',
    'src/agent/nowhere/y.ts: the folder src/agent/nowhere has no row in scripts/arrows.ts',
  ])
})
