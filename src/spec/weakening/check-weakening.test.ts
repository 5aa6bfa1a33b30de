import { expect, test } from 'vitest'
import type { Finding } from '../../contract/finding.ts'
import { readCluster } from '../read-cluster.ts'

/** Reads a cluster.yml whose settings of components begin in line 7. */
function findingsOf(lines: readonly string[], host = ''): readonly Finding[] {
  const text = [
    'apiVersion: hyperkube.dev/v1',
    'kind: Cluster',
    'metadata: { name: test }',
    'spec:',
    '  kubernetes: 1.37.1',
    '  components:',
    ...(lines.length === 0 ? ['    etcd: {}'] : lines.map((line) => `    ${line}`)),
    '  hosts:',
    `    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker]${host} }`,
  ].join('\n')
  return readCluster({ file: 'cluster.yml', text }).findings
}

function codesOf(lines: readonly string[]): string[] {
  return findingsOf(lines).map(({ severity, code, path }) => `${severity} ${code} ${path}`)
}

test('a weak configuration value is reported with its position', () => {
  const found = findingsOf(['kubelet:', '  config:', '    authorization:', '      mode: AlwaysAllow'])
  expect(found).toEqual([
    {
      code: 'CONFIG_WEAKENS',
      severity: 'error',
      component: 'kubelet',
      path: 'spec.components.kubelet.config.authorization.mode',
      position: { file: 'cluster.yml', line: 10, column: 17 },
      message:
        'weakens the cluster: every authenticated client, also every pod, can execute commands in all pods of the node',
      hint: 'remove it',
    },
  ])
})

test('a setting of a single host names this host', () => {
  const found = findingsOf([], ', components: { kubelet: { config: { readOnlyPort: 10255 } } }')
  expect(found).toMatchObject([
    {
      code: 'CONFIG_WEAKENS',
      host: 'cp1',
      path: 'spec.hosts[0].components.kubelet.config.readOnlyPort',
      position: { line: 9 },
    },
  ])
})

test('null is reported only for settings with a weak upstream default', () => {
  expect(
    codesOf(['kubelet: { config: { authentication: null, authorization: null, readOnlyPort: null } }']),
  ).toEqual([])
  expect(
    codesOf(['kubelet: { config: { seccompDefault: null, tlsCipherSuites: null, podPidsLimit: null } }']),
  ).toEqual([
    'warning CONFIG_WEAKENS spec.components.kubelet.config.seccompDefault',
    'error CONFIG_WEAKENS spec.components.kubelet.config.tlsCipherSuites',
    'warning CONFIG_WEAKENS spec.components.kubelet.config.podPidsLimit',
  ])
})

test.each(['true', '1', 't', 'T', 'TRUE', 'True'])(
  'anonymous-auth is reported for every spelling of true: %s',
  (value) => {
    expect(codesOf([`apiServer: { args: { anonymous-auth: "${value}" } }`])).toEqual([
      'error FLAG_WEAKENS spec.components.apiServer.args.anonymous-auth',
    ])
  },
)

test.each(['.*', '^https?://.*$', '//[^/]+$', '^https://a$,//.*'])(
  'an open pattern of CORS origins is reported: %s',
  (value) => {
    expect(codesOf([`apiServer: { args: { cors-allowed-origins: ${JSON.stringify(value)} } }`])).toEqual([
      'error FLAG_WEAKENS spec.components.apiServer.args.cors-allowed-origins',
    ])
  },
)

test('every weakness of one flag value is reported', () => {
  const path = 'spec.components.apiServer.args.disable-admission-plugins'
  const value = 'NodeRestriction, PodSecurity,ResourceQuota,Priority'
  expect(codesOf([`apiServer: { args: { disable-admission-plugins: "${value}" } }`])).toEqual([
    `error FLAG_WEAKENS ${path}`,
    `error FLAG_WEAKENS ${path}`,
    `warning FLAG_WEAKENS ${path}`,
  ])
})

test.each([
  ['apiServer', 'tls-min-version: VersionTLS12'],
  ['apiServer', 'tls-cipher-suites: "TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"'],
  ['apiServer', 'audit-log-path: "-"'],
  ['apiServer', 'constructor: x'],
  ['controllerManager', 'bind-address: "::1"'],
  ['controllerManager', 'cluster-signing-duration: 8760h0m0s'],
  ['etcd', 'quota-backend-bytes: 4294967296'],
])('%s: the safe value %s gives no finding', (component, flag) => {
  expect(codesOf([`${component}: { args: { ${flag} } }`])).toEqual([])
})

test('weak containerd settings are reported in every notation of TOML', () => {
  const config = [
    'grpc.tcp_address = "0.0.0.0:1234"',
    'metrics = { address = "127.0.0.1:1338" }',
    '[plugins."io.containerd.cri.v1.runtime"]',
    'disable_apparmor = true # why not',
    '[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.kata.options]',
    'NoPivotRoot = true',
  ]
  expect(codesOf(['containerd:', '  config: |', ...config.map((line) => `    ${line}`)])).toEqual([
    'error CONFIG_WEAKENS spec.components.containerd.config',
    'warning CONFIG_WEAKENS spec.components.containerd.config',
    'error CONFIG_WEAKENS spec.components.containerd.config',
  ])
})

test('invalid TOML is reported as not checked', () => {
  expect(findingsOf(['containerd: { config: "[grpc" }'])).toMatchObject([
    { code: 'CONFIG_NOT_CHECKED', severity: 'warning', component: 'containerd', position: { line: 7 } },
  ])
})
