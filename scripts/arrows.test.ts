import { expect, test } from 'vitest'
import { importsOf, roomOf, wrongArrows } from './arrows.ts'

test('rooms', () => {
  expect(roomOf('src/kit/errors.ts')).toBe('src/kit')
  expect(roomOf('src/main.ts')).toBe('src')
  expect(roomOf('lab/hosts/host.ts')).toBe('lab')
})

test('imports of every form are seen', () => {
  // Not spelled out, or this very file would be read as importing them.
  const verb = 'import'
  const text = [
    `${verb} a from './a.ts'`,
    `export { b } from "../b.ts"`,
    `${verb} '../../c.ts'`,
    `const d = await ${verb}('./d.ts')`,
    `${verb} {\n  e,\n} from './e.ts'`,
  ].join('\n')
  expect(importsOf('src/kit/x.ts', text)).toEqual([
    'src/kit/a.ts',
    'src/b.ts',
    'c.ts',
    'src/kit/d.ts',
    'src/kit/e.ts',
  ])
})

test('an arrow the wrong way and a room without a row are told', () => {
  const files = new Map([
    ['src/kit/x.ts', `import { y } from '../../lab/y.ts'`],
    ['lab/y.ts', `import { run } from '../src/kit/command.ts'`],
    ['src/nowhere/z.ts', ''],
  ])
  expect(wrongArrows(files)).toEqual([
    'src/kit/x.ts: src/kit may not import from lab',
    'src/nowhere/z.ts: the room src/nowhere has no row in scripts/arrows.ts',
  ])
})
