import { expect, test } from 'vitest'
import { formatError, HyperkubeError } from './errors.ts'

test('a description names host and component and keeps the causes', () => {
  const error = new HyperkubeError('UNIT_FAILED', 'the service did not start', {
    host: 'cp1',
    component: 'etcd',
    cause: new Error('address in use'),
  })
  expect(formatError(error)).toBe('cp1/etcd: the service did not start: address in use')
})

test('anything thrown can be described', () => {
  expect(formatError('plain')).toBe('plain')
  expect(formatError(undefined)).toBe('undefined')
})
