import type { ProgramName } from '../../catalog/program-flags.ts'
import type { AdoptionSource } from '../../identity/identity.ts'
import { matchesFlag } from '../../plan/checks/owned-flags.ts'
import { ownedFlags } from '../../plan/checks/owned-flags-table.ts'
import { sortPlugins } from './admission-plugins.ts'

/** Flags of an observed component: those that cluster.yml keeps, and those that are lost, most without values. */
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
    'cluster-name',
    'configure-cloud-routes',
    'controllers',
    'enable-hostpath-provisioner',
    'profiling',
    'requestheader-client-ca-file',
    'tls-*',
    'v',
  ],
  'kube-scheduler': ['address', 'profiling', 'tls-*', 'v'],
}

/** A pattern of flags and the value with which nothing is lost. Without a value, any value is a setting. */
type ExpectedValue = readonly [flag: string, value?: string]

const localMetrics: ExpectedValue = ['listen-metrics-urls', 'http://127.0.0.1:2381']
const localAddress: ExpectedValue = ['bind-address', '127.0.0.1']

/**
 * Flags that hyperkube sets itself, of which other values are settings of the cluster. The values are those of the
 * tool or the defaults of the program. The first pattern that matches a flag counts. RKE1 sets most of the flags in
 * the table of kubeadm in every cluster.
 */
const expectedValues: Readonly<
  Record<AdoptionSource, Readonly<Record<AdoptedProgram, readonly ExpectedValue[]>>>
> = {
  kubeadm: {
    etcd: [
      ['cipher-suites'],
      ['experimental-initial-corrupt-check', 'true'],
      ['experimental-watch-progress-notify-interval', '5s'],
      ['experimental-*'],
      ['feature-gates', 'InitialCorruptCheck=true'],
      localMetrics,
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
      localAddress,
      ['controllers', '*,bootstrapsigner,tokencleaner'],
      ['tls-cipher-suites'],
      ['tls-min-version', 'VersionTLS12'],
    ],
    'kube-scheduler': [localAddress, ['tls-cipher-suites'], ['tls-min-version', 'VersionTLS12']],
  },
  rke1: {
    etcd: [localMetrics],
    'kube-apiserver': [['anonymous-auth', 'false']],
    'kube-controller-manager': [localAddress],
    'kube-scheduler': [localAddress],
  },
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

const pluginFlag = 'enable-admission-plugins'

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
  const plugins = sortPlugins(args[pluginFlag] ?? '')
  const kept: Record<string, string> = plugins.kept === '' ? {} : { [pluginFlag]: plugins.kept }
  const lost = plugins.lost === '' ? [] : [`${pluginFlag}=${plugins.lost}`]
  for (const [flag, value] of Object.entries(args)) {
    const expected = expectedValues[from][program].find(([pattern]) => matchesFlag(pattern, flag))
    if (expected !== undefined) {
      if (expected[1] !== value) lost.push(flag)
      continue
    }
    const isOwned = matches([...Object.keys(settings), ...others], flag)
    if (flag === pluginFlag || defaults[flag] === value || isOwned) continue
    if (matches(keptFlags[program], flag) && !isFile(value)) kept[flag] = value
    else if (!matches(toolFlags[program], flag)) lost.push(flag)
  }
  return { kept, lost }
}
