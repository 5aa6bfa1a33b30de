import { describe, expect, test } from 'vitest'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import { findFlags, listMinorsWithFlag, windowsFlags } from '../../catalog/known-flags.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import type { ProgramName } from '../../catalog/program-flags.ts'
import { weakeningSettings } from '../../spec/weakening/weakening-settings.ts'
import { ownedFlags } from './owned-flags-table.ts'
import { matchesFlag } from './owned-flags.ts'
import { checkCase, defaultHostLines } from './testing/fixtures.ts'

function ofApiServer(flag: string, value: string) {
  return checkCase({ spec: [`components: { apiServer: { args: { ${flag}: "${value}" } } }`] })
}

test('a flag that hyperkube manages is an error that names the setting to use', () => {
  expect(ofApiServer('secure-port', '8443')).toEqual([
    {
      code: 'FLAG_OWNED',
      severity: 'error',
      component: 'kube-apiserver',
      path: 'spec.components.apiServer.args.secure-port',
      message: 'hyperkube manages --secure-port of kube-apiserver',
      hint: 'use spec.api.port instead',
    },
  ])
})

test.each([
  ['etcd', 'initial-cluster-state', 'remove it'],
  ['etcd', 'listen-peer-urls', 'use internalAddress of the host instead'],
  ['apiServer', 'requestheader-uid-headers', 'remove it'],
  ['controllerManager', 'cluster-cidr', 'use spec.network.pods instead'],
  ['scheduler', 'leader-elect', 'remove it'],
  ['kubelet', 'node-labels', 'use labels of the host instead'],
  ['kubeProxy', 'proxy-mode', 'use spec.components.kubeProxy.mode instead'],
  ['flanneld', 'iface', 'use internalAddress or interface of the host instead'],
])('%s: managed flag %s is an error with the hint: %s', (component, flag, hint) => {
  const found = checkCase({ spec: [`components: { ${component}: { args: { ${flag}: "x" } } }`] })
  expect(found).toMatchObject([
    { code: 'FLAG_OWNED', hint, path: `spec.components.${component}.args.${flag}` },
  ])
})

test('a managed flag of a single host is reported for that host', () => {
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
  ['authorization-mode', 'Node,RBAC,Webhook'],
  ['disable-admission-plugins', 'Priority'],
  ['constructor', 'x'],
])('an operator may set %s of kube-apiserver to %s', (flag, value) => {
  expect(ofApiServer(flag, value)).toEqual([])
})

describe('flag tables', () => {
  const { kubernetes, etcd, flannel } = findKubernetesRelease(shippedCatalog, '1.37.1')
  const versions: readonly (readonly [ProgramName, string])[] = [
    ['etcd', etcd],
    ['flanneld', flannel],
    ['kube-apiserver', kubernetes],
    ['kube-controller-manager', kubernetes],
    ['kube-scheduler', kubernetes],
    ['kubelet', kubernetes],
    ['kube-proxy', kubernetes],
  ]

  test.each(versions)('the managed flags are flags that %s has', (program, version) => {
    const known = Object.keys({
      ...findFlags(shippedCatalog.flags, program, version),
      ...windowsFlags[program],
    })
    const { settings, others } = ownedFlags[program]
    const patterns = [...Object.keys(settings), ...others]
    expect(patterns.filter((pattern) => !known.some((flag) => matchesFlag(pattern, flag)))).toEqual([])
  })

  test.each(versions)('the weakening settings contain only flags that %s has in some minor', (program) => {
    const flags = weakeningSettings.flatMap((setting) =>
      setting.component === program && setting.code === 'FLAG_WEAKENS' ? [setting.flag] : [],
    )
    // Kubernetes removed the flag insecure-port, but files from old clusters still have it.
    const unknown = flags.filter(
      (flag) => listMinorsWithFlag(shippedCatalog.flags, program, flag).length === 0,
    )
    expect(unknown.filter((flag) => flag !== 'insecure-port')).toEqual([])
  })
})
