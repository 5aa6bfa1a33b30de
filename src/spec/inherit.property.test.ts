import { array, assert, dictionary, letrec, oneof, property, record, constantFrom, integer } from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readDocument } from './document.ts'
import { readFleet } from './read-fleet.ts'
import { inheritFrom, type MergedDocument } from './inherit.ts'

const key = constantFrom('a', 'b', 'c', '__proto__', 'constructor')
const tree = letrec((tie) => ({
  value: oneof(
    { depthSize: 'small' },
    integer({ min: 0, max: 3 }),
    array(integer({ min: 0, max: 3 }), { maxLength: 2 }),
    tie('map'),
  ),
  map: dictionary(key, tie('value'), { maxKeys: 3 }),
})).map

/** `components.kubelet.config` accepts any JSON, so it holds random trees. */
function wrap(config: unknown): object {
  return { components: { kubelet: { config } } }
}

function merge(own: unknown, defaults: readonly unknown[]): MergedDocument {
  const fleet = readFleet({
    file: 'fleet.yml',
    text: stringify({
      ...{ apiVersion: 'hyperkube.dev/v1', kind: 'Fleet', metadata: { name: 'retail' } },
      spec: { clusters: ['cluster.yml'], defaults: defaults.map((config) => ({ values: wrap(config) })) },
    }),
  })
  const document = readDocument({
    file: 'cluster.yml',
    text: stringify({ metadata: { name: 'shop' }, spec: wrap(own) }),
  })
  if (!fleet.ok || !document.ok) throw new Error('the generated files are not valid')
  return inheritFrom(fleet, document.document)
}

function readConfig({ value }: Pick<MergedDocument, 'value'>): unknown {
  const fields: { spec: { components: { kubelet: { config: unknown } } } } = JSON.parse(JSON.stringify(value))
  return fields.spec.components.kubelet.config
}

/** The definition of precedence: the value of the last layer that has one; maps are merged key by key. */
function expected(layers: readonly unknown[]): unknown {
  const last = layers.at(-1)
  if (!isMap(last)) return last
  const start = layers.findLastIndex((layer) => !isMap(layer)) + 1
  const maps = layers.slice(start).filter(isMap)
  const keys = new Set(maps.flatMap((map) => Object.keys(map)))
  return Object.fromEntries(
    [...keys].map((name) => [
      name,
      expected(maps.flatMap((map) => (Object.hasOwn(map, name) ? [map[name]] : []))),
    ]),
  )
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

test('cluster.yml wins over the last default, which wins over the earlier ones', () => {
  assert(
    property(record({ own: tree, defaults: array(tree, { maxLength: 3 }) }), ({ own, defaults }) => {
      expect(readConfig(merge(own, defaults))).toEqual(
        JSON.parse(JSON.stringify(expected([...defaults, own]))),
      )
    }),
  )
})

test('exactly the values that cluster.yml lacks are reported as inherited, with a line of fleet.yml', () => {
  assert(
    property(record({ own: tree, defaults: array(tree, { maxLength: 3 }) }), ({ own, defaults }) => {
      const merged = merge(own, defaults)
      const ownLeaves = new Set(listLeaves(own, 'spec.components.kubelet.config'))
      const added = listLeaves(readConfig(merged), 'spec.components.kubelet.config').filter(
        (path) => !ownLeaves.has(path),
      )
      expect(merged.inherited.map(({ path }) => path).toSorted()).toEqual(added.toSorted())
      for (const { position } of merged.inherited) expect(position.file).toBe('fleet.yml')
    }),
  )
})

function listLeaves(value: unknown, path: string): string[] {
  if (!isMap(value) || Object.keys(value).length === 0) return [path]
  return Object.entries(value).flatMap(([name, part]) => listLeaves(part, `${path}.${name}`))
}
