import { expect, test } from 'vitest'
import { apiSchema, listSharedApiNames, selectApiEndpoint } from './api.ts'

test.each([
  [{}, undefined, []],
  [{ virtualIP: '10.0.0.10' }, '10.0.0.10:6443', ['10.0.0.10']],
  [{ virtualIP: '10.0.0.10', port: 443 }, '10.0.0.10:443', ['10.0.0.10']],
  [{ endpoint: '[2001:db8::1]:6443' }, '[2001:db8::1]:6443', ['2001:db8::1']],
  [
    { endpoint: 'k8s.example.com:6443', virtualIP: '10.0.0.10' },
    'k8s.example.com:6443',
    ['k8s.example.com', '10.0.0.10'],
  ],
])('the endpoint of %j for clients is %j', (settings, endpoint, names) => {
  const api = apiSchema.parse(settings)
  expect(selectApiEndpoint(api)).toBe(endpoint)
  expect(listSharedApiNames(api)).toEqual(names)
})

test.each([
  ['api.example', false],
  ['api.example:6443', true],
  ['api.example:0', false],
  ['10.0.0.10:99999', false],
  ['[2001:db8::1]:443', true],
  ['2001:db8::1:443', false],
  ['[2001:db8::1:443', false],
  ['[api.example]:443', false],
])('%s is an endpoint: %s', (endpoint, expected) => {
  expect(apiSchema.safeParse({ endpoint }).success).toBe(expected)
})
