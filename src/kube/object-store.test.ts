import { describe, expect, test } from 'vitest'
import type { KubeObject } from './object.ts'
import { type Change, keyOf, View } from './object-store.ts'

function object(name: string, uid: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, resourceVersion } }
}

function told(changes: Iterable<Change<unknown>>): Change<unknown>[] {
  return [...changes]
}

test('a key is as people write it', () => {
  expect(keyOf({ namespace: 'default', name: 'a' })).toBe('default/a')
  expect(keyOf({ name: 'a' })).toBe('a')
})

describe('a view', () => {
  test('tells what is new, what differs and what is gone', () => {
    const view = new View<string>()
    expect(told(view.put(object('a', 'u1', '1'), 'x'))).toEqual([{ type: 'added', key: 'a', object: 'x' }])
    expect(told(view.put(object('a', 'u1', '2'), 'y'))).toEqual([
      { type: 'modified', key: 'a', object: 'y', before: 'x' },
    ])
    expect(view.current).toEqual(new Map([['a', 'y']]))
    expect(told(view.remove('a'))).toEqual([{ type: 'deleted', key: 'a', before: 'y' }])
    expect(told(view.remove('a'))).toEqual([])
    expect(view.current.size).toBe(0)
  })

  test('says nothing where only what nobody wants has changed, and yet knows the version', () => {
    const view = new View<{ phase: string }>()
    told(view.put(object('a', 'u1', '1'), { phase: 'Fine' }))
    expect(view.has(object('a', 'u1', '1'))).toBe(true)
    expect(view.has(object('a', 'u1', '2'))).toBe(false)
    expect(told(view.put(object('a', 'u1', '2'), { phase: 'Fine' }))).toEqual([])
    expect(view.has(object('a', 'u1', '2'))).toBe(true)
  })

  test('tells another object of the same name as one that went and one that came', () => {
    const view = new View<string>()
    told(view.put(object('a', 'u1', '1'), 'x'))
    expect(told(view.put(object('a', 'u2', '5'), 'x'))).toEqual([
      { type: 'deleted', key: 'a', before: 'x' },
      { type: 'added', key: 'a', object: 'x' },
    ])
  })

  test('knows at each change no more than it has told', () => {
    const view = new View<string>()
    for (const name of ['a', 'b']) told(view.put(object(name, name, '1'), name))
    const known: string[] = []
    for (const { type } of view.put(object('a', 'other', '2'), 'c')) {
      known.push(`${type}: ${[...view.current.values()].join(' ')}`)
    }
    for (const { type } of view.keepOnly(new Set())) {
      known.push(`${type}: ${[...view.current.values()].join(' ')}`)
    }
    expect(known).toEqual(['deleted: b', 'added: b c', 'deleted: c', 'deleted: '])
  })

  test('keeps only what is still there', () => {
    const view = new View<string>()
    for (const name of ['a', 'b', 'c']) told(view.put(object(name, name, '1'), name))
    expect(told(view.keepOnly(new Set(['b'])))).toEqual([
      { type: 'deleted', key: 'a', before: 'a' },
      { type: 'deleted', key: 'c', before: 'c' },
    ])
    expect([...view.current.keys()]).toEqual(['b'])
  })
})
