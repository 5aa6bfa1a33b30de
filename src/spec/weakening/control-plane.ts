import {
  hasPlainHttp,
  hasReachableHttp,
  isEmpty,
  isFalse,
  isLongerThan,
  isNotTrue,
  isTrue,
  setsGate,
} from './predicates.ts'
import { flagRule, type JudgedRule, type WeakeningSetting } from './setting.ts'
import { controlLoopRules, oldTls, suites, weakCiphers } from './shared.ts'

const manager = (name: string, rule: JudgedRule): WeakeningSetting =>
  flagRule('kube-controller-manager', name, rule)

export const controllerManagerRules: readonly WeakeningSetting[] = [
  ...controlLoopRules('kube-controller-manager'),
  manager('use-service-account-credentials', {
    severity: 'error',
    weakens: isNotTrue,
    weak: 'false',
    safe: 'true',
    consequence: 'all controllers then share one identity with the permissions of all of them',
  }),
  manager('root-ca-file', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/hyperkube/kube-controller-manager/ca.crt',
    consequence: 'pods get no CA certificate, so they cannot verify the API server',
  }),
  manager('cluster-signing-duration', {
    severity: 'warning',
    weakens: isLongerThan(8760),
    weak: '87600h',
    safe: '8760h',
    consequence:
      'certificates from CertificateSigningRequests are valid for more than a year and cannot be revoked',
    hint: 'use at most 8760h',
  }),
  manager('enable-hostpath-provisioner', {
    severity: 'warning',
    weakens: isTrue,
    weak: 'true',
    safe: 'false',
    consequence: 'claims are served with directories of hosts, which upstream intends for tests only',
    hint: 'use spec.storage or a storage driver',
  }),
]

export const schedulerRules: readonly WeakeningSetting[] = controlLoopRules('kube-scheduler')

const etcd = (name: string, rule: JudgedRule): WeakeningSetting => flagRule('etcd', name, rule)

const anyClient = 'every client that reaches the port can then read and write all data of the cluster'
const anyPeer = 'every host that reaches the port can then join as a member and change all data'

export const etcdRules: readonly WeakeningSetting[] = [
  etcd('client-cert-auth', {
    severity: 'error',
    weakens: isFalse,
    weak: 'false',
    safe: 'true',
    consequence: anyClient,
  }),
  etcd('trusted-ca-file', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/hyperkube/etcd/ca.crt',
    consequence: anyClient,
  }),
  etcd('auto-tls', {
    severity: 'error',
    weakens: isTrue,
    weak: 'true',
    safe: 'false',
    consequence: 'etcd then signs its own certificate, which no client can verify',
  }),
  etcd('peer-client-cert-auth', {
    severity: 'error',
    weakens: isFalse,
    weak: 'false',
    safe: 'true',
    consequence: anyPeer,
  }),
  etcd('peer-trusted-ca-file', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: '/etc/hyperkube/etcd/ca.crt',
    consequence: anyPeer,
  }),
  etcd('peer-auto-tls', {
    severity: 'error',
    weakens: isTrue,
    weak: 'true',
    safe: 'false',
    consequence: 'members then sign their own certificates, which no other member can verify',
  }),
  // etcd 3.5 has only the experimental name, etcd 3.6 has both.
  ...['peer-skip-client-san-verification', 'experimental-peer-skip-client-san-verification'].map((name) =>
    etcd(name, {
      severity: 'warning',
      weakens: isTrue,
      weak: 'true',
      safe: 'false',
      consequence: 'a certificate of one member is then accepted from any other address',
    }),
  ),
  ...['listen-client-urls', 'listen-peer-urls', 'listen-client-http-urls'].map((name) =>
    etcd(name, {
      severity: 'error',
      weakens: hasPlainHttp,
      weak: 'http://10.0.0.11:2379',
      safe: 'https://10.0.0.11:2379',
      consequence: 'all data of the cluster crosses the network without encryption or authentication',
    }),
  ),
  etcd('listen-metrics-urls', {
    severity: 'error',
    weakens: hasReachableHttp,
    weak: 'http://0.0.0.0:2381',
    safe: 'http://127.0.0.1:2381',
    consequence: 'other hosts read health and metrics of etcd without authentication',
  }),
  etcd('enable-pprof', {
    severity: 'warning',
    weakens: isTrue,
    weak: 'true',
    safe: 'false',
    consequence: 'clients of etcd can read memory contents of the process, which hold data of the cluster',
  }),
  etcd('tls-min-version', { ...oldTls, weak: 'TLS1.0', safe: 'TLS1.3' }),
  etcd('cipher-suites', { ...weakCiphers, ...suites }),
  etcd('unsafe-no-fsync', {
    severity: 'error',
    weakens: (value) => !isFalse(value),
    weak: 'true',
    safe: 'false',
    consequence: 'without fsync etcd can lose committed data',
  }),
  etcd('strict-reconfig-check', {
    severity: 'error',
    weakens: isFalse,
    weak: 'false',
    safe: 'true',
    consequence: 'a change of members can then take away the quorum of the cluster',
  }),
  etcd('feature-gates', {
    severity: 'warning',
    weakens: setsGate('InitialCorruptCheck', false),
    weak: 'InitialCorruptCheck=false',
    safe: 'InitialCorruptCheck=true',
    consequence: 'a member with a damaged database starts and serves wrong data',
    hint: 'keep InitialCorruptCheck=true',
  }),
  etcd('experimental-initial-corrupt-check', {
    severity: 'warning',
    weakens: isFalse,
    weak: 'false',
    safe: 'true',
    consequence: 'a member with a damaged database starts and serves wrong data',
  }),
]
