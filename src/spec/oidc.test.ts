import { expect, test } from 'vitest'
import type { Finding } from '../contract/finding.ts'
import { readOidcFlags } from './oidc.ts'
import { readCluster } from './read-cluster.ts'

const issuer = 'https://id.example.com'
const required = { 'oidc-issuer-url': issuer, 'oidc-client-id': 'kubernetes' }

function findingsOf(args: Readonly<Record<string, string>>): readonly Finding[] {
  const text = [
    'apiVersion: hyperkube.dev/v1',
    'kind: Cluster',
    'metadata: { name: test }',
    'spec:',
    '  kubernetes: 1.37.1',
    '  components:',
    '    apiServer:',
    '      args:',
    ...Object.entries(args).map(([flag, value]) => `        ${flag}: ${JSON.stringify(value)}`),
    '  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane] }]',
  ].join('\n')
  return readCluster({ file: 'cluster.yml', text }).findings
}

test('flags other than oidc flags give no OIDC authenticator', () => {
  expect(readOidcFlags({ v: '2' })).toBeUndefined()
})

test('OIDC defaults are those of kube-apiserver', () => {
  expect(readOidcFlags(required)).toEqual({
    issuer,
    audience: 'kubernetes',
    username: { claim: 'sub', prefix: `${issuer}#` },
  })
})

test.each([
  [{ 'oidc-username-claim': 'email' }, { claim: 'email', prefix: '' }],
  [
    { 'oidc-username-claim': 'email', 'oidc-username-prefix': 'oidc:' },
    { claim: 'email', prefix: 'oidc:' },
  ],
  [{ 'oidc-username-prefix': '-' }, { claim: 'sub', prefix: '' }],
  [{ 'oidc-username-prefix': '' }, { claim: 'sub', prefix: `${issuer}#` }],
])('OIDC username flags %o are translated to claim and prefix', (flags, username) => {
  expect(readOidcFlags({ ...required, ...flags })).toMatchObject({ username })
})

test('groups, the required claim and the CA file are translated', () => {
  const flags = {
    'oidc-groups-claim': 'roles',
    'oidc-groups-prefix': 'oidc:',
    'oidc-required-claim': 'hd = a=b,c',
    'oidc-ca-file': 'oidc-ca.pem',
  }
  expect(readOidcFlags({ ...required, ...flags })).toMatchObject({
    groups: { claim: 'roles', prefix: 'oidc:' },
    requiredClaim: { claim: 'hd', requiredValue: 'a=b,c' },
    caFile: 'oidc-ca.pem',
  })
  expect(findingsOf({ ...required, ...flags })).toEqual([])
})

test.each<readonly [string, Readonly<Record<string, string>>, string]>([
  ['a flag without an equivalent', { 'oidc-signing-algs': 'RS256' }, 'OIDC_NOT_TRANSLATED oidc-signing-algs'],
  ['an unknown oidc flag', { 'oidc-new': 'x' }, 'OIDC_NOT_TRANSLATED oidc-new'],
  ['an absolute path to a CA file', { 'oidc-ca-file': '/etc/ca.pem' }, 'OIDC_NOT_TRANSLATED oidc-ca-file'],
  [
    'an absolute Windows path to a CA file',
    { 'oidc-ca-file': String.raw`C:\ca.pem` },
    'OIDC_NOT_TRANSLATED oidc-ca-file',
  ],
  ['a required claim without a value', { 'oidc-required-claim': 'hd' }, 'OIDC_INVALID oidc-required-claim'],
  ['an empty claim', { 'oidc-username-claim': '' }, 'OIDC_INVALID oidc-username-claim'],
  ['an empty client id', { 'oidc-client-id': '' }, 'OIDC_INVALID oidc-client-id'],
  ['an issuer that is not a URL', { 'oidc-issuer-url': 'id.example.com' }, 'OIDC_INVALID oidc-issuer-url'],
  ['an issuer with a query', { 'oidc-issuer-url': `${issuer}?a` }, 'OIDC_INVALID oidc-issuer-url'],
  ['an issuer with a password', { 'oidc-issuer-url': 'https://a:b@c' }, 'OIDC_INVALID oidc-issuer-url'],
  [
    'the issuer of service accounts',
    { 'oidc-issuer-url': 'https://kubernetes.default.svc.cluster.local' },
    'OIDC_INVALID oidc-issuer-url',
  ],
])('%s is refused', (_, flags, expected) => {
  const [first, ...more] = findingsOf({ ...required, ...flags })
  expect(more).toEqual([])
  expect(first).toMatchObject({
    severity: 'error',
    component: 'kube-apiserver',
    position: { file: 'cluster.yml' },
  })
  expect(`${first?.code} ${first?.path?.replace('spec.components.apiServer.args.', '')}`).toBe(expected)
})

test('authentication-config together with oidc flags is refused', () => {
  expect(findingsOf({ ...required, 'authentication-config': '/etc/mine.yaml' })).toMatchObject([
    { code: 'FLAG_WEAKENS', severity: 'warning' },
    { code: 'OIDC_NOT_TRANSLATED', severity: 'error' },
  ])
})

test('groups without a prefix are reported', () => {
  expect(findingsOf({ ...required, 'oidc-groups-claim': 'groups' })).toMatchObject([
    { code: 'FLAG_WEAKENS', severity: 'warning', path: 'spec.components.apiServer.args.oidc-groups-claim' },
  ])
})
