import { apiServerAccessRules } from './api-server-access.ts'
import {
  hasOtherThan,
  hasPlainHttp,
  isEmpty,
  isFalse,
  isNotEmpty,
  isOneOf,
  isTrue,
  isZeroOrLess,
  setsGate,
} from './predicates.ts'
import { flagRule, type JudgedRule, type WeakeningSetting } from './setting.ts'
import { servingRules, verbosityRule } from './shared.ts'

const component = 'kube-apiserver'
const flag = (name: string, rule: JudgedRule): WeakeningSetting => flagRule(component, name, rule)

/** Rules for data that leaves the API server, and for what the API server records. */
const dataRules: readonly WeakeningSetting[] = [
  flag('encryption-provider-config', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/hyperkube/kube-apiserver/encryption.yaml',
    consequence: 'Secrets and ConfigMaps are then stored in etcd and in its snapshots in plain text',
  }),
  flag('kubelet-certificate-authority', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/hyperkube/kube-apiserver/ca.crt',
    consequence:
      'the API server then accepts any certificate of a kubelet, so exec sessions can be intercepted',
  }),
  flag('etcd-cafile', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/hyperkube/kube-apiserver/etcd-ca.crt',
    consequence: 'the API server no longer verifies that etcd has a certificate of the etcd CA',
  }),
  flag('etcd-servers', {
    severity: 'error',
    weakens: hasPlainHttp,
    weak: 'http://10.0.0.11:2379',
    safe: 'https://10.0.0.11:2379',
    consequence: 'all data of the cluster crosses the network without encryption',
  }),
  flag('audit-log-path', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/var/log/hyperkube/kube-apiserver/audit.log',
    consequence: 'the API server writes no audit log, so nothing shows who changed what',
  }),
  flag('audit-policy-file', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/mine/audit.yaml',
    consequence: 'without a policy no request is recorded in the audit log',
    hint: 'remove it, or use spec.security.audit.policy',
  }),
  flag('audit-log-mode', {
    severity: 'warning',
    weakens: isOneOf('batch'),
    weak: 'batch',
    safe: 'blocking',
    consequence: 'a crash loses audit events that were not written yet',
  }),
  flag('profiling', {
    severity: 'warning',
    weakens: isTrue,
    weak: 'true',
    safe: 'false',
    consequence: 'clients with access to /debug/pprof can read memory contents and load the API server',
  }),
  flag('debug-socket-path', {
    severity: 'warning',
    weakens: isNotEmpty,
    weak: '/run/debug.sock',
    safe: '',
    consequence: 'processes that may open the socket read profiles of the API server without authentication',
  }),
  flag('aggregator-reject-forwarding-redirect', {
    severity: 'error',
    weakens: isFalse,
    weak: 'false',
    safe: 'true',
    consequence: 'an aggregated API server can redirect requests of clients to any other address',
  }),
]

/** Rules for settings that protect other clients against one client that sends too many requests. */
const loadRules: readonly WeakeningSetting[] = [
  flag('enable-priority-and-fairness', {
    severity: 'warning',
    weakens: isFalse,
    weak: 'false',
    safe: 'true',
    consequence: 'one client with many requests can keep out all other clients, also kubelets',
  }),
  ...['max-requests-inflight', 'max-mutating-requests-inflight'].map((name) =>
    flag(name, {
      severity: 'warning',
      weakens: isZeroOrLess,
      weak: '0',
      safe: '800',
      consequence: 'the number of concurrent requests of this kind has no limit of its own',
    }),
  ),
  flag('runtime-config', {
    severity: 'warning',
    weakens: (value) => ['api/all', 'api/alpha'].some((group) => setsGate(group, true)(value)),
    weak: 'api/all=true',
    safe: 'api/beta=false',
    consequence: 'all alpha APIs are served, which have not been reviewed for production',
    hint: 'name the single APIs that you need',
  }),
  flag('feature-gates', {
    severity: 'warning',
    weakens: setsGate('AllAlpha', true),
    weak: 'AllAlpha=true',
    safe: 'AllAlpha=false',
    consequence: 'all alpha features are enabled, which have not been reviewed for production',
    hint: 'name the single features that you need',
  }),
  flag('kubelet-preferred-address-types', {
    severity: 'allowed',
    weakens: hasOtherThan('InternalIP'),
    weak: 'Hostname,InternalIP',
    safe: 'InternalIP',
    consequence: 'a name server decides to which address the API server sends requests for a node',
    reason: 'the API server verifies the certificate of the kubelet against the cluster CA',
  }),
]

export const apiServerRules: readonly WeakeningSetting[] = [
  ...apiServerAccessRules,
  ...dataRules,
  ...loadRules,
  ...servingRules(component, 'VersionTLS10', 'VersionTLS12'),
  verbosityRule(component),
]
