import { expect, test } from 'vitest'
import { formatError, HyperkubeError } from './errors.ts'

test('an error is formatted with host, component and causes', () => {
  const error = new HyperkubeError('UNIT_FAILED', 'the service did not start', {
    host: 'cp1',
    component: 'etcd',
    cause: new Error('address in use'),
  })
  expect(formatError(error)).toBe('cp1/etcd: the service did not start: address in use')
})

test('any thrown value is formatted', () => {
  expect(formatError('plain')).toBe('plain')
  expect(formatError(undefined)).toBe('undefined')
})
