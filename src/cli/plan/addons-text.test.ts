import { expect, test } from 'vitest'
import { entirely } from '../../addons/new-addon-diff.ts'
import type { AddonDifference } from '../../addons/addon-difference.ts'
import { addonsText } from './addons-text.ts'

const paint = (_colour: string, text: string): string => text
const manifest = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
})
const fresh = entirely({ name: 'coredns', manifests: [manifest('a'), manifest('b')] })
const reference = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
const changed: AddonDifference = {
  ...fresh,
  addon: 'shop',
  unfinished: true,
  objects: [
    {
      ...reference,
      change: 'change',
      fields: [
        { path: 'spec.replicas', before: 1, after: 2 },
        { path: 'data.word', hidden: true },
      ],
    },
    { ...reference, name: 'same', change: 'none' },
  ],
  unwished: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'old', act: 'remove' }],
}
const plain = { wide: false, diff: false }

test('what is new is counted, what changes is named', () => {
  expect(addonsText({ differences: [fresh, changed] }, plain, paint)).toBe(`
addons
  + coredns: 2 objects new
  ~ shop: 1 object changed, 1 object removed
      ~ Deployment shop/web
      - Secret shop/old
      to be waited for: a run was cut
`)
  expect(addonsText({ differences: [] }, plain, paint)).toBe('')
})

test('all of it is named, and what changes inside, for those who ask', () => {
  const text = addonsText({ differences: [fresh, changed] }, { wide: true, diff: true }, paint)
  expect(text).toContain('      + ConfigMap shop/a\n')
  expect(text).toContain(
    '          spec.replicas: 1 → 2\n          data.word: is a secret, and another one\n',
  )
})
