import { expect, test } from 'vitest'
import type { AddonDifference } from '../../addons/addon-difference.ts'
import { diffNewAddon } from '../../addons/diff-addon.ts'
import { formatAddonChanges } from './addons-text.ts'

const paint = (_colour: string, text: string): string => text
const manifest = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
})
const newAddon = diffNewAddon({ name: 'coredns', manifests: [manifest('a'), manifest('b')] })
const reference = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
const changed: AddonDifference = {
  ...newAddon,
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
  toPrune: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'old', action: 'remove' }],
}
const plain = { wide: false, diff: false }

test('new objects are counted, changed and removed objects are listed', () => {
  expect(formatAddonChanges({ differences: [newAddon, changed] }, plain, paint)).toBe(`
addons
  + coredns: 2 objects new
  ~ shop: 1 object changed, 1 object removed
      ~ Deployment shop/web
      - Secret shop/old
      an earlier run was interrupted before the addon was ready
`)
  expect(formatAddonChanges({ differences: [] }, plain, paint)).toBe('')
})

test('an outdated record is shown, although no object changes', () => {
  const { unfinished: _unfinished, ...rest } = changed
  const outdated: AddonDifference = { ...rest, outdatedRecord: true, objects: [], toPrune: [] }
  expect(formatAddonChanges({ differences: [outdated] }, plain, paint)).toContain(
    'shop: nothing to change\n      only the record of the applied manifests changes\n',
  )
})

test('wide lists every object, and diff shows changed fields without secret values', () => {
  const text = formatAddonChanges({ differences: [newAddon, changed] }, { wide: true, diff: true }, paint)
  expect(text).toContain('      + ConfigMap shop/a\n')
  expect(text).toContain('          spec.replicas: 1 → 2\n          data.word: the secret value changes\n')
})
