import type { ProgramName } from '../../catalog/program-flags.ts'
import type { AdoptionSource } from '../../identity/identity.ts'
import { matchesFlag } from '../../plan/checks/owned-flags.ts'
import { ownedFlags } from '../../plan/checks/owned-flags-table.ts'

/** Flags of an observed component: those that cluster.yml keeps, and the names of those that are lost. */
export interface AdoptedFlags {
  readonly kept: Readonly<Record<string, string>>
  readonly lost: readonly string[]
}

/** Flags that cluster.yml keeps. A trailing star matches any suffix. */
const keptFlags: Readonly<Record<AdoptedProgram, readonly string[]>> = {
  etcd: [
    'quota-backend-bytes',
    'heartbeat-interval',
    'election-timeout',
    'auto-compaction-*',
    'max-request-bytes',
    'max-txn-ops',
  ],
  'kube-apiserver': [
    'api-audiences',
    'default-not-ready-toleration-seconds',
    'default-unreachable-toleration-seconds',
    'disable-admission-plugins',
    'event-ttl',
    'feature-gates',
    'max-mutating-requests-inflight',
    'max-requests-inflight',
    'oidc-*',
    'runtime-config',
    'service-account-issuer',
    'service-account-max-token-expiration',
  ],
  'kube-controller-manager': [
    'concurrent-*',
    'feature-gates',
    'horizontal-pod-autoscaler-*',
    'kube-api-burst',
    'kube-api-qps',
    'node-monitor-*',
    'terminated-pod-gc-threshold',
  ],
  'kube-scheduler': ['feature-gates', 'kube-api-burst', 'kube-api-qps'],
}

/** Flags that the tools set in every cluster. hyperkube sets its own values, so nothing is lost. */
const toolFlags: Readonly<Record<AdoptedProgram, readonly string[]>> = {
  etcd: [
    'snapshot-count',
    'experimental-*',
    'feature-gates',
    'watch-progress-notify-interval',
    'cipher-suites',
    'enable-v2',
  ],
  'kube-apiserver': [
    'allow-privileged',
    'audit-log-*',
    'audit-policy-file',
    'authorization-mode',
    'cloud-provider',
    'enable-bootstrap-token-auth',
    'insecure-port',
    'kubelet-preferred-address-types',
    'profiling',
    'service-account-lookup',
    'storage-backend',
    'tls-*',
  ],
  'kube-controller-manager': [
    'address',
    'allow-untagged-cloud',
    'bind-address',
    'cluster-name',
    'configure-cloud-routes',
    'controllers',
    'enable-hostpath-provisioner',
    'profiling',
    'requestheader-client-ca-file',
    'tls-*',
    'v',
  ],
  'kube-scheduler': ['address', 'bind-address', 'profiling', 'tls-*', 'v'],
}

/**
 * Flags whose other values are settings of a kubeadm cluster, with the value that kubeadm or the program has by
 * default. Without a value here, any value is a setting. The first pattern that matches a flag counts. RKE1 sets
 * most of these flags itself.
 */
const kubeadmValues: Readonly<Record<AdoptedProgram, readonly (readonly [flag: string, value?: string])[]>> =
  {
    etcd: [
      ['cipher-suites'],
      ['experimental-initial-corrupt-check', 'true'],
      ['experimental-watch-progress-notify-interval', '5s'],
      ['experimental-*'],
      ['feature-gates', 'InitialCorruptCheck=true'],
      ['listen-metrics-urls', 'http://127.0.0.1:2381'],
      ['snapshot-count', '10000'],
    ],
    'kube-apiserver': [
      ['audit-*'],
      ['authorization-config'],
      ['authorization-mode', 'Node,RBAC'],
      ['bind-address', '0.0.0.0'],
      ['tls-cipher-suites'],
      ['tls-min-version', 'VersionTLS12'],
    ],
    'kube-controller-manager': [
      ['bind-address', '127.0.0.1'],
      ['controllers', '*,bootstrapsigner,tokencleaner'],
      ['tls-cipher-suites'],
      ['tls-min-version', 'VersionTLS12'],
    ],
    'kube-scheduler': [
      ['bind-address', '127.0.0.1'],
      ['tls-cipher-suites'],
      ['tls-min-version', 'VersionTLS12'],
    ],
  }

export type AdoptedProgram = Extract<
  ProgramName,
  'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler'
>

export const adoptedPrograms: readonly AdoptedProgram[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
]

/** Flags whose values are files of the host. hyperkube does not keep such files. */
const isFile = (value: string): boolean => value.startsWith('/')

/** Sorts the flags of a component. `defaults` are values that hyperkube sets anyway. */
export function sortFlags(
  from: AdoptionSource,
  program: AdoptedProgram,
  args: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): AdoptedFlags {
  const { settings, others } = ownedFlags[program]
  const matches = (patterns: readonly string[], flag: string): boolean =>
    patterns.some((pattern) => matchesFlag(pattern, flag))
  const kept: Record<string, string> = {}
  const lost: string[] = []
  for (const [flag, value] of Object.entries(args)) {
    const ownValue =
      from === 'kubeadm' ? kubeadmValues[program].find(([pattern]) => matchesFlag(pattern, flag)) : undefined
    if (ownValue !== undefined) {
      if (ownValue[1] !== value) lost.push(flag)
      continue
    }
    if (defaults[flag] === value || matches([...Object.keys(settings), ...others], flag)) continue
    if (matches(keptFlags[program], flag) && !isFile(value)) kept[flag] = value
    else if (!matches(toolFlags[program], flag)) lost.push(flag)
  }
  return { kept, lost }
}
