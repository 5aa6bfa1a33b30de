import { describe, expect, test } from 'vitest'
import { listProxyBypass } from './download-route.ts'
import { readCluster } from './read-cluster.ts'

const base = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
`
const proxy = "proxy: { https: 'http://proxy.example:3128'"

function read(...lines: readonly string[]) {
  return readCluster({ file: 'cluster.yml', text: [base, ...lines.map((line) => `  ${line}`)].join('\n') })
}

describe('spec.proxy', () => {
  test.each([
    [`${proxy}, username: me }`, 'SPEC_PROXY_LOGIN', 'the login of the proxy has no password'],
    [`${proxy}, password: { secret: proxy } }`, 'SPEC_PROXY_LOGIN', 'the login of the proxy has no username'],
    ["proxy: { https: 'socks5://proxy.example' }", 'SPEC_WRONG_VALUE', 'must be an http or https URL'],
    [`${proxy}, no: ['a,b'] }`, 'SPEC_WRONG_VALUE', 'must be an address, a network'],
    [`${proxy}, no: ['a"b'] }`, 'SPEC_WRONG_VALUE', 'must be an address, a network'],
  ])('%s is refused', (line, code, message) => {
    expect(read(line).findings).toMatchObject([
      { code, severity: 'error', message: expect.stringContaining(message) },
    ])
  })

  test('a login is refused for Windows hosts, whose users could read it', () => {
    const text = `${base}    - { name: win1, address: 10.0.0.2, os: windows, roles: [worker] }
  ${proxy}, username: me, password: { secret: proxy } }
`
    const { findings } = readCluster({ file: 'cluster.yml', text })
    expect(findings.map(({ code }) => code)).toContain('SPEC_PROXY_WINDOWS')
  })

  test('targets inside the cluster are always exceptions', () => {
    const { cluster } = read(
      `${proxy}, no: [corp.example, 10.0.0.1] }`,
      'network: { pods: 172.20.0.0/16, services: 172.21.0.0/16, domain: k8s.corp }',
      "api: { endpoint: 'api.corp.example:6443' }",
    )
    if (cluster === undefined) throw new Error('cluster.yml is invalid')
    expect(listProxyBypass(cluster, ['10.0.0.1', 'cp1'])).toEqual([
      'localhost',
      '127.0.0.0/8',
      '::1',
      '172.20.0.0/16',
      '172.21.0.0/16',
      '.svc',
      '.k8s.corp',
      'api.corp.example',
      '10.0.0.1',
      'cp1',
      'corp.example',
    ])
  })

  test('an IPv6 address has brackets only with a port', () => {
    const { cluster } = read(`${proxy}, no: ['[fd00::5]', '[fd00::6]:5000', 'fd00::7', 'fd00:8::/64'] }`)
    if (cluster === undefined) throw new Error('cluster.yml is invalid')
    const entries = listProxyBypass(cluster, [])
    expect(entries.slice(-4)).toEqual(['fd00::5', '[fd00::6]:5000', 'fd00::7', 'fd00:8::/64'])
  })
})

test('a registry without verification of its certificate is a warning', () => {
  const { cluster, findings } = read('registries: [{ host: registry.corp.example, skipVerify: true }]')
  expect(cluster).toBeDefined()
  expect(findings).toMatchObject([
    { code: 'SPEC_SKIP_VERIFY', severity: 'warning', hint: expect.stringContaining('ca: ') },
  ])
})
