import { expect, test } from 'vitest'
import { satisfies } from './object.ts'

const role = { metadata: { name: 'a' }, rules: [{ apiGroups: [''], verbs: ['get'] }] }

test('an object with additional fields satisfies its manifest', () => {
  expect(satisfies({ ...role, metadata: { name: 'a', uid: '1' }, status: {} }, role)).toBe(true)
  expect(satisfies({ ...role, rules: [{ apiGroups: [''], verbs: ['get'], extra: 1 }] }, role)).toBe(true)
})

test('an object with missing or different fields or additional list items does not satisfy its manifest', () => {
  expect(satisfies({ metadata: { name: 'a' } }, role)).toBe(false)
  expect(satisfies({ ...role, rules: [{ apiGroups: [''], verbs: ['list'] }] }, role)).toBe(false)
  expect(satisfies({ ...role, rules: [...role.rules, { apiGroups: ['apps'], verbs: ['get'] }] }, role)).toBe(
    false,
  )
  expect(satisfies(undefined, role)).toBe(false)
})
