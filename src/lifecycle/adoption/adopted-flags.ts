import type { ProgramName } from '../../catalog/program-flags.ts'
import { matchesFlag } from '../../plan/checks/owned-flags.ts'
import { ownedFlags } from '../../plan/checks/owned-flags-table.ts'

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

/** Flags that hyperkube sets itself, with the value with which nothing is lost. Others open ports or requests. */
const replacedFlags: Readonly<Record<AdoptedProgram, Readonly<Record<string, string>>>> = {
  etcd: { 'listen-metrics-urls': 'http://127.0.0.1:2381' },
  'kube-apiserver': { 'anonymous-auth': 'false' },
  'kube-controller-manager': { 'bind-address': '127.0.0.1' },
  'kube-scheduler': { 'bind-address': '127.0.0.1' },
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

/** Admission plugins that Kubernetes or hyperkube enables anyway. RKE1 lists most of them. */
const usualPlugins: ReadonlySet<string> = new Set([
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'ClusterTrustBundleAttest',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'DenyServiceExternalIPs',
  'LimitRanger',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'NamespaceLifecycle',
  'NodeRestriction',
  'PersistentVolumeClaimResize',
  'PodSecurity',
  'PodTopologyLabels',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
])

/** Admission plugins that work without a configuration file. */
const keptPlugins: ReadonlySet<string> = new Set([
  'AlwaysPullImages',
  'ExtendedResourceToleration',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
])

const pluginFlag = 'enable-admission-plugins'

/** Sorts the admission plugins that are off by default. */
function sortPlugins(list: string): AdoptedFlags {
  const plugins = list.split(',').map((name) => name.trim())
  const unusual = plugins.filter((name) => name !== '' && !usualPlugins.has(name))
  const kept = unusual.filter((name) => keptPlugins.has(name)).join(',')
  const lost = unusual.filter((name) => !keptPlugins.has(name)).join(',')
  return {
    kept: kept === '' ? {} : { [pluginFlag]: kept },
    lost: lost === '' ? [] : [`${pluginFlag}=${lost}`],
  }
}

/** Flags whose values are files of the host. hyperkube does not keep such files. */
const isFile = (value: string): boolean => value.startsWith('/')

/** Sorts the flags of a component. `defaults` are values that hyperkube sets anyway. */
export function sortFlags(
  program: AdoptedProgram,
  args: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): AdoptedFlags {
  const { settings, others } = ownedFlags[program]
  const matches = (patterns: readonly string[], flag: string): boolean =>
    patterns.some((pattern) => matchesFlag(pattern, flag))
  const plugins = sortPlugins(args[pluginFlag] ?? '')
  const kept: Record<string, string> = { ...plugins.kept }
  const lost = [...plugins.lost]
  for (const [flag, value] of Object.entries(args)) {
    const replaced = replacedFlags[program][flag]
    if (replaced !== undefined && value !== replaced) lost.push(flag)
    if (
      flag === pluginFlag ||
      replaced !== undefined ||
      defaults[flag] === value ||
      matches([...Object.keys(settings), ...others], flag)
    )
      continue
    if (matches(keptFlags[program], flag) && !isFile(value)) kept[flag] = value
    else if (!matches(toolFlags[program], flag)) lost.push(flag)
  }
  return { kept, lost }
}
