import { describe, expect, test } from 'vitest'
import type { KubeObject } from './object.ts'
import { type ObjectChange, formatObjectKey, ObjectStore } from './object-store.ts'

function object(name: string, uid: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, resourceVersion } }
}

function collect(changes: Iterable<ObjectChange<unknown>>): ObjectChange<unknown>[] {
  return [...changes]
}

test('an object key is namespace/name, or the name alone', () => {
  expect(formatObjectKey({ namespace: 'default', name: 'a' })).toBe('default/a')
  expect(formatObjectKey({ name: 'a' })).toBe('a')
})

describe('an object store', () => {
  test('yields added, modified and deleted objects', () => {
    const store = new ObjectStore<string>()
    expect(collect(store.upsert(object('a', 'u1', '1'), 'x'))).toEqual([
      { type: 'added', key: 'a', object: 'x' },
    ])
    expect(collect(store.upsert(object('a', 'u1', '2'), 'y'))).toEqual([
      { type: 'modified', key: 'a', object: 'y', before: 'x' },
    ])
    expect(store.current).toEqual(new Map([['a', 'y']]))
    expect(collect(store.remove('a'))).toEqual([{ type: 'deleted', key: 'a', before: 'y' }])
    expect(collect(store.remove('a'))).toEqual([])
    expect(store.current.size).toBe(0)
  })

  test('yields nothing when only unselected fields have changed, but stores the version', () => {
    const store = new ObjectStore<{ phase: string }>()
    collect(store.upsert(object('a', 'u1', '1'), { phase: 'Fine' }))
    expect(store.has(object('a', 'u1', '1'))).toBe(true)
    expect(store.has(object('a', 'u1', '2'))).toBe(false)
    expect(collect(store.upsert(object('a', 'u1', '2'), { phase: 'Fine' }))).toEqual([])
    expect(store.has(object('a', 'u1', '2'))).toBe(true)
  })

  test('yields a deletion and an addition for an object with a new uid', () => {
    const store = new ObjectStore<string>()
    collect(store.upsert(object('a', 'u1', '1'), 'x'))
    expect(collect(store.upsert(object('a', 'u2', '5'), 'x'))).toEqual([
      { type: 'deleted', key: 'a', before: 'x' },
      { type: 'added', key: 'a', object: 'x' },
    ])
  })

  test('contains at each change only the changes that it has yielded', () => {
    const store = new ObjectStore<string>()
    for (const name of ['a', 'b']) collect(store.upsert(object(name, name, '1'), name))
    const known: string[] = []
    for (const { type } of store.upsert(object('a', 'other', '2'), 'c')) {
      known.push(`${type}: ${[...store.current.values()].join(' ')}`)
    }
    for (const { type } of store.retainOnly(new Set())) {
      known.push(`${type}: ${[...store.current.values()].join(' ')}`)
    }
    expect(known).toEqual(['deleted: b', 'added: b c', 'deleted: c', 'deleted: '])
  })

  test('yields deletions of all objects that are not retained', () => {
    const store = new ObjectStore<string>()
    for (const name of ['a', 'b', 'c']) collect(store.upsert(object(name, name, '1'), name))
    expect(collect(store.retainOnly(new Set(['b'])))).toEqual([
      { type: 'deleted', key: 'a', before: 'a' },
      { type: 'deleted', key: 'c', before: 'c' },
    ])
    expect([...store.current.keys()]).toEqual(['b'])
  })
})
