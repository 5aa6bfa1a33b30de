import { expect, test } from 'vitest'
import { listExportedDeclarations, pruneDeclarations } from './declarations.ts'

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`

const files = new Map([
  [
    'src/sdk/a.d.ts',
    lines(
      "import { z } from 'zod';",
      "import type { Deep as Inner, Unused } from '../deep/b.ts';",
      "export { helper as help, type Shape } from '../deep/b.ts';",
      "export type { Unused } from '../deep/c.ts';",
      'declare const schema: z.ZodObject<{ inner: z.ZodType<Inner>; }>;',
      'declare const unused: Unused;',
      '/** A document. */',
      'export type Document = z.infer<typeof schema>;',
    ),
  ],
  [
    'src/deep/b.d.ts',
    lines(
      '/** Deep. */',
      'export interface Deep extends Base<import("./c.ts").Other> { readonly schema: string; }',
      'interface Base<T> { readonly value: T; }',
      'export declare class Shape implements Base<string> { #private; readonly value: string; }',
      'export declare function helper(shape: Shape): void;',
      'export interface Secret { readonly key: string; }',
    ),
  ],
  ['src/deep/c.d.ts', lines('export interface Other {}', 'export interface Unused {}')],
])

test('only what the exports of the entry use remains', () => {
  const pruned = pruneDeclarations(files, ['src/sdk/a.d.ts'])
  expect(pruned.get('src/sdk/a.d.ts')).toBe(
    lines(
      "import type { z } from 'zod';",
      "import type { Deep as Inner } from '../deep/b.js';",
      "export { helper as help } from '../deep/b.js';",
      "export type { Shape } from '../deep/b.js';",
      "export type { Unused } from '../deep/c.js';",
      'declare const schema: z.ZodObject<{ inner: z.ZodType<Inner>; }>;',
      '/** A document. */',
      'export type Document = z.infer<typeof schema>;',
      'export {};',
    ),
  )
  expect(pruned.get('src/deep/b.d.ts')).toBe(
    lines(
      '/** Deep. */',
      'export interface Deep extends Base<import("./c.js").Other> { readonly schema: string; }',
      'interface Base<T> { readonly value: T; }',
      'export declare class Shape implements Base<string> { #private; readonly value: string; }',
      'export declare function helper(shape: Shape): void;',
      'export {};',
    ),
  )
  expect(pruned.get('src/deep/c.d.ts')).toBe(lines('export interface Other {}', 'export interface Unused {}'))
})

test('exports are listed with the declarations of other modules', () => {
  const listed = listExportedDeclarations(pruneDeclarations(files, ['src/sdk/a.d.ts']), 'src/sdk/a.d.ts')
  expect(listed.map(({ name, text }) => [name, text.split('\n')[0]])).toEqual([
    ['help', 'export declare function helper(shape: Shape): void;'],
    ['Shape', 'export declare class Shape implements Base<string> { #private; readonly value: string; }'],
    ['Unused', 'export interface Unused {}'],
    ['Document', '/** A document. */'],
  ])
})
