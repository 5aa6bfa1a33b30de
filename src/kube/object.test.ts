import { expect, test } from 'vitest'
import { satisfies } from './object.ts'

const role = { metadata: { name: 'a' }, rules: [{ apiGroups: [''], verbs: ['get'] }] }

test('what the API adds does not matter', () => {
  expect(satisfies({ ...role, metadata: { name: 'a', uid: '1' }, status: {} }, role)).toBe(true)
  expect(satisfies({ ...role, rules: [{ apiGroups: [''], verbs: ['get'], extra: 1 }] }, role)).toBe(true)
})

test('what is missing, other, or more in a list does', () => {
  expect(satisfies({ metadata: { name: 'a' } }, role)).toBe(false)
  expect(satisfies({ ...role, rules: [{ apiGroups: [''], verbs: ['list'] }] }, role)).toBe(false)
  expect(satisfies({ ...role, rules: [...role.rules, { apiGroups: ['apps'], verbs: ['get'] }] }, role)).toBe(
    false,
  )
  expect(satisfies(undefined, role)).toBe(false)
})
