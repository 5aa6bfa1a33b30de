import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { targets } from './executable/runtime.ts'
import { checkIntegrity, findLockedPackage } from './npm-package.ts'

test('package-lock.json pins the runtime of every target by its hash, in one version', async () => {
  const pinned = await Promise.all(
    Object.values(targets)
      .filter(({ pin }) => pin === undefined)
      .map(async (target) => findLockedPackage(target.package)),
  )
  expect(new Set(pinned.map(({ version }) => version)).size).toBe(1)
  for (const { integrity } of pinned) expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/)
  await expect(findLockedPackage('node-plan9-x64')).rejects.toThrow('no version and hash')
})

test('content that differs from the pinned hash is refused', () => {
  const integrity = `sha512-${'3'.repeat(86)}==`
  expect(() => checkIntegrity({ name: 'a', version: '1.0.0', integrity }, Buffer.from('other'))).toThrow(
    'a@1.0.0 has changed: sha512-',
  )
})

test.each(['.npmrc', 'docs/.npmrc'])('%s disables install scripts', async (file) => {
  const text = await readFile(join(import.meta.dirname, '..', file), 'utf8')
  expect(text.split('\n')).toContain('ignore-scripts=true')
})
