import { expect, test } from 'vitest'
import { findDefinitionProblems } from './check-definitions.ts'
import { findBlockingWebhooks } from './check-webhooks.ts'

const service = { namespace: 'policy', name: 'guard' }

function buildConfiguration(rule: object, more: object = {}) {
  const rules = [{ apiGroups: [''], resources: ['pods'], operations: ['*'], ...rule }]
  return {
    metadata: { name: 'guard' },
    webhooks: [{ name: 'guard.example.com', clientConfig: { service }, rules, ...more }],
  }
}

function buildSlice(ready: boolean) {
  const labels = { 'kubernetes.io/service-name': 'guard' }
  return {
    metadata: { name: 'guard-x', namespace: 'policy', labels },
    endpoints: [{ addresses: ['10.1.0.7'], conditions: { ready } }],
  }
}

const countBlocking = (rule: object, more: object = {}): number =>
  findBlockingWebhooks([buildConfiguration(rule, more)], []).length

test('a webhook that fails closed blocks if no endpoint of its service is ready', () => {
  expect(findBlockingWebhooks([buildConfiguration({})], [buildSlice(false)])).toMatchObject([
    {
      code: 'REHEARSAL_WEBHOOK_BLOCKS',
      message:
        'the webhook guard.example.com of guard must allow writes of pods, and its service policy/guard has no ready endpoint',
    },
  ])
  expect(findBlockingWebhooks([buildConfiguration({})], [buildSlice(true)])).toEqual([])
  expect(countBlocking({}, { failurePolicy: 'Ignore' })).toBe(0)
})

test.each([
  [{ resources: ['pods/eviction'] }, 1],
  [{ resources: ['*/eviction'] }, 1],
  [{ resources: ['pods/*'] }, 1],
  [{ resources: ['*/*'] }, 1],
  [{ resources: ['*'] }, 1],
  [{ apiGroups: ['*'], resources: ['leases'] }, 1],
  [{ resources: ['leases'] }, 0],
  [{ resources: ['configmaps'] }, 0],
  [{ resources: ['*/scale'] }, 0],
  [{ apiGroups: ['apps'], resources: ['*'] }, 0],
])('the rule %j intercepts writes of an upgrade: %i', (rule, expected) => {
  expect(countBlocking(rule)).toBe(expected)
})

test('a CRD has a problem if it stores an unknown version or is not established', () => {
  const condition = (type: string, status: string) => ({ type, status, reason: '', message: 'why' })
  const definition = { metadata: { name: 'widgets.example.com' }, spec: { versions: [{ name: 'v1' }] } }
  const healthy = { storedVersions: ['v1'], conditions: [condition('Established', 'True')] }
  expect(findDefinitionProblems({ ...definition, status: healthy })).toEqual([])
  const broken = {
    storedVersions: ['v1', 'v1beta1'],
    conditions: [condition('Established', 'False'), condition('Other', 'False')],
  }
  expect(findDefinitionProblems({ ...definition, status: broken })).toEqual([
    'stores objects as v1beta1, which is not one of its versions',
    'has the condition Established=False: why',
  ])
})
