import { expect, test } from 'vitest'
import { readCluster } from './read-cluster.ts'
import { selectPodSecurity } from './security.ts'

function read(security: string): ReturnType<typeof readCluster> {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: lab }
spec:
  kubernetes: 1.37.1
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }]
  security: ${security}
`
  return readCluster({ file: 'cluster.yml', text })
}

test.each([
  ['{}', 'baseline'],
  ['{ profile: default }', 'baseline'],
  ['{ profile: cis }', 'restricted'],
  ['{ profile: cis, podSecurity: baseline }', 'baseline'],
  ['{ podSecurity: restricted }', 'restricted'],
])('security %s gives namespaces without a label the level %s', (security, level) => {
  const { cluster } = read(security)
  expect(cluster && selectPodSecurity(cluster.spec.security)).toBe(level)
})

test.each([
  ['{ profile: cis }', []],
  ['{ podSecurity: privileged, audit: { maxAge: 1 } }', []],
  ['{ profile: cis, podSecurity: baseline }', ['spec.security.podSecurity']],
  [
    '{ profile: cis, audit: { maxAge: 7, maxBackups: 2, maxSize: 100 } }',
    ['spec.security.audit.maxAge', 'spec.security.audit.maxBackups'],
  ],
])('security %s gives warnings at paths %j', (security, paths) => {
  const { cluster, findings } = read(security)
  expect(cluster).toBeDefined()
  const expected = paths.map((path) => ({ code: 'SPEC_PROFILE_WEAKENED', severity: 'warning', path }))
  expect(findings).toMatchObject(expected)
  expect(findings).toHaveLength(paths.length)
})

test('an unknown profile is refused', () => {
  expect(read('{ profile: hard }').findings).toMatchObject([{ code: 'SPEC_WRONG_VALUE' }])
})
