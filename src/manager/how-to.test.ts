import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/how-to/add-a-controller.md'), 'utf8')
const shown = [...page.matchAll(/^`(src\/[^`]+)`:\n\n```ts\n(.*?)```\n/gms)].map(
  ([, file = '', code = '']) => [file, code] as const,
)

test('the how-to page shows all files of a controller', () => {
  expect(shown.map(([file]) => file)).toEqual([
    'src/manager/controllers/version-skew.ts',
    'src/manager/table.ts',
    'src/manager/controllers/version-skew.test.ts',
  ])
})

test.each(shown)('the how-to page shows %s without a difference', (file, code) => {
  expect(code).toBe(readFileSync(join(root, file), 'utf8'))
})
