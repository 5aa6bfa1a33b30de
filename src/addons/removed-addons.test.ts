import { expect, test } from 'vitest'
import type { Manifest } from '../kube/object.ts'
import type { Inventory } from './inventory.ts'
import { toReference } from './reference.ts'
import { findRemovedAddons } from './removed-addons.ts'
import { buildConfigMap, buildNamespace, buildWidget, widgetCrd } from './testing/manifests.ts'

function buildInventory(addon: string, ...manifests: readonly Manifest[]): Inventory {
  return { addon, entries: manifests.map(toReference) }
}

test('an addon is removed before the addons with its CRDs and namespaces', () => {
  const inventories = [
    buildInventory('base', buildNamespace('n')),
    buildInventory('operator', widgetCrd, buildConfigMap('settings', 'x', 'n')),
    buildInventory('kept', buildWidget('kept')),
    buildInventory('widgets', buildWidget('w')),
  ]
  const kept = [{ name: 'kept', manifests: [] }]
  expect(findRemovedAddons(inventories, kept)).toEqual(['widgets', 'operator', 'base'])
})

test('addons that need each other are all removed', () => {
  const one = buildInventory('one', buildNamespace('a'), buildConfigMap('c', 'x', 'b'))
  const other = buildInventory('other', buildNamespace('b'), buildConfigMap('c', 'x', 'a'))
  expect(findRemovedAddons([one, other], [])).toEqual(['one', 'other'])
})
