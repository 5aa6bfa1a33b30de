import { describe, expect, test } from 'vitest'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import { findFlags, windowsFlags } from '../../catalog/known-flags.ts'
import type { ProgramName } from '../../catalog/program-flags.ts'
import { ownedFlags } from './owned-flags-table.ts'
import { matchesFlag } from './owned-flags.ts'
import { checkCase, defaultHostLines } from './testing/fixtures.ts'

function ofApiServer(flag: string, value: string) {
  return checkCase({ spec: [`components: { apiServer: { args: { ${flag}: "${value}" } } }`] })
}

test('a flag that is ours names the setting to use', () => {
  expect(ofApiServer('secure-port', '8443')).toEqual([
    {
      code: 'FLAG_OWNED',
      severity: 'error',
      component: 'kube-apiserver',
      path: 'spec.components.apiServer.args.secure-port',
      message: 'hyperkube sets --secure-port of kube-apiserver itself and depends on it',
      hint: 'use spec.api.port instead',
    },
  ])
})

test.each([
  ['etcd', 'initial-cluster-state', 'take it out'],
  ['etcd', 'listen-peer-urls', 'use internalAddress of the host instead'],
  ['apiServer', 'requestheader-uid-headers', 'take it out'],
  ['controllerManager', 'cluster-cidr', 'use spec.network.pods instead'],
  ['scheduler', 'leader-elect', 'take it out'],
  ['kubelet', 'node-labels', 'use labels of the host instead'],
  ['kubeProxy', 'proxy-mode', 'use spec.components.kubeProxy.mode instead'],
  ['flanneld', 'iface', 'use internalAddress or interface of the host instead'],
])('%s: %s', (component, flag, hint) => {
  const found = checkCase({ spec: [`components: { ${component}: { args: { ${flag}: "x" } } }`] })
  expect(found).toMatchObject([
    { code: 'FLAG_OWNED', hint, path: `spec.components.${component}.args.${flag}` },
  ])
})

test('a flag of a single host is found at that host', () => {
  const own =
    '- { name: w2, address: 10.0.0.22, roles: [worker], components: { kubelet: { args: { node-ip: x } } } }'
  expect(checkCase({ hosts: [...defaultHostLines, own] })).toMatchObject([
    { code: 'FLAG_OWNED', host: 'w2', path: 'spec.hosts[4].components.kubelet.args.node-ip' },
  ])
})

test.each([
  ['authentication-config', '/etc/mine.yml'],
  ['audit-policy-file', '/etc/audit.yml'],
  ['admission-control-config-file', '/etc/admission.yml'],
  ['oidc-issuer-url', 'https://id.example.com'],
  ['authorization-mode', 'Node,RBAC,Webhook'],
  ['disable-admission-plugins', 'Priority'],
  ['constructor', 'x'],
])('a person may set %s to %s', (flag, value) => {
  expect(ofApiServer(flag, value)).toEqual([])
})

test.each([
  ['authorization-mode', 'RBAC', 'authorization-mode RBAC lacks Node'],
  ['authorization-mode', 'Webhook', 'authorization-mode Webhook lacks Node and RBAC'],
  ['authorization-mode', 'Node,RBAC,AlwaysAllow', 'AlwaysAllow lets everybody do everything'],
  [
    'disable-admission-plugins',
    'Priority, NodeRestriction',
    'NodeRestriction is disabled: a node could then change any other',
  ],
  [
    'disable-admission-plugins',
    'PodSecurity',
    'PodSecurity is disabled: spec.security.podSecurity then has no effect',
  ],
])('%s: %s weakens the cluster', (flag, value, message) => {
  expect(ofApiServer(flag, value)).toMatchObject([{ code: 'FLAG_WEAKENS', severity: 'error', message }])
})

test('etcd must write to the disk what it promises', () => {
  const spec = (value: string) => [`components: { etcd: { args: { unsafe-no-fsync: ${value} } } }`]
  expect(checkCase({ spec: spec('true') })).toMatchObject([{ code: 'FLAG_WEAKENS', component: 'etcd' }])
  expect(checkCase({ spec: spec('false') })).toEqual([])
})

describe('the table', () => {
  const { kubernetes, etcd, flannel } = findKubernetesRelease('1.37.1')
  const versions: readonly (readonly [ProgramName, string])[] = [
    ['etcd', etcd],
    ['flanneld', flannel],
    ['kube-apiserver', kubernetes],
    ['kube-controller-manager', kubernetes],
    ['kube-scheduler', kubernetes],
    ['kubelet', kubernetes],
    ['kube-proxy', kubernetes],
  ]

  test.each(versions)('names only flags that %s has', (program, version) => {
    const known = Object.keys({ ...findFlags(program, version), ...windowsFlags[program] })
    const { settings, others } = ownedFlags[program]
    const patterns = [...Object.keys(settings), ...others]
    expect(patterns.filter((pattern) => !known.some((flag) => matchesFlag(pattern, flag)))).toEqual([])
  })
})
