import { expect, test } from 'vitest'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

function checkResolver(servers: string[], spec: readonly string[] = []) {
  const linux = { resolver: { file: '/etc/resolv.conf', servers, systemdResolved: false } }
  return checkCaseBriefly({ spec, facts: { w1: { linux }, etcd1: { linux } } })
}

test('CoreDNS must not ask itself', () => {
  expect(checkResolver(['127.0.0.53', '::1'])).toEqual(['w1 warning HOST_RESOLVER_LOOP'])
  expect(checkResolver(['127.0.0.1', '192.0.2.53'])).toEqual([])
})

test('CoreDNS must have an upstream server', () => {
  expect(checkResolver([])).toEqual(['w1 warning HOST_NO_RESOLVER'])
})

test('servers and files that a person has named are theirs', () => {
  expect(checkResolver([], ['dns: { forward: [192.0.2.53] }'])).toEqual([])
  expect(checkResolver([], ['components: { kubelet: { config: { resolvConf: /etc/mine } } }'])).toEqual([])
  expect(checkResolver([], ['components: { kubelet: { args: { resolv-conf: /etc/mine } } }'])).toEqual([])
})

test('the file is named', () => {
  const linux = { resolver: { file: '/etc/r', servers: ['127.0.0.1'], systemdResolved: false } }
  expect(checkCase({ facts: { w1: { linux } } })[0]?.message).toBe(
    '/etc/r names only 127.0.0.1: CoreDNS would ask itself',
  )
})
