import { expect, test } from 'vitest'
import { listImports, findRoom, findWrongImports } from './arrows.ts'

test('rooms', () => {
  expect(findRoom('src/kit/errors.ts')).toBe('src/kit')
  expect(findRoom('src/main.ts')).toBe('src')
  expect(findRoom('lab/hosts/host.ts')).toBe('lab')
})

test('imports of every form are found', () => {
  // The import statements are assembled. Otherwise they would count as imports of this file.
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
