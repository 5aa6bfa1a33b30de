import { expect, test } from 'vitest'
import { formatError } from '../kit/errors.ts'
import { buildRefusalError, KubeError } from '../kube/kube-error.ts'
import { hideSecretValues } from './reference.ts'

const reference = { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'keys' }
const refusal = buildRefusalError('PATCH keys', {
  status: 500,
  reason: undefined,
  message: 'cannot convert 12345',
  causes: [],
})

test('a Secret value is hidden, also if only one of several servers returned it', () => {
  const unreachable = new KubeError('KUBE_UNREACHABLE', 'cp1: no connection')
  const cause = new AggregateError([unreachable, refusal])
  for (const error of [refusal, new KubeError('KUBE_SERVER', 'all 2 servers failed', { cause })])
    expect(formatError(hideSecretValues(error, reference))).toBe('Secret shop/keys: the API rejects it')
  expect(hideSecretValues(unreachable, reference)).toBe(unreachable)
})
