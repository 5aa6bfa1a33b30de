import { z } from 'zod'
import { matchesFlag } from '../../plan/checks/owned-flags.ts'
import { ownedFlags } from '../../plan/checks/owned-flags-table.ts'
import { resourcesSchema } from '../../spec/components.ts'
import type { AdoptedHost } from './observation.ts'
import { toHostPath } from './read-components.ts'

/** Fields of the kubelet configuration that cluster.yml keeps. */
const keptFields = [
  'allowedUnsafeSysctls',
  'containerLogMaxFiles',
  'containerLogMaxSize',
  'containerLogMaxWorkers',
  'cpuManagerPolicy',
  'cpuManagerPolicyOptions',
  'crashLoopBackOff',
  'eventBurst',
  'eventRecordQPS',
  'evictionHard',
  'evictionMaxPodGracePeriod',
  'evictionMinimumReclaim',
  'evictionPressureTransitionPeriod',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'failCgroupV1',
  'failSwapOn',
  'featureGates',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'imageMaximumGCAge',
  'imageMinimumGCAge',
  'kubeAPIBurst',
  'kubeAPIQPS',
  'maxParallelImagePulls',
  'memoryManagerPolicy',
  'memorySwap',
  'nodeStatusReportFrequency',
  'nodeStatusUpdateFrequency',
  'podPidsLimit',
  'podsPerCore',
  'registryBurst',
  'registryPullQPS',
  'reservedMemory',
  'reservedSystemCPUs',
  'runtimeRequestTimeout',
  'seccompDefault',
  'serializeImagePulls',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'topologyManagerPolicy',
  'topologyManagerPolicyOptions',
  'topologyManagerScope',
] as const

/** Fields that kubeadm writes into every configuration, or that hyperkube sets itself, so nothing is lost. */
const replacedFields: readonly string[] = [
  'address',
  'apiVersion',
  'authentication',
  'authorization',
  'cgroupDriver',
  'clusterDNS',
  'clusterDomain',
  'containerRuntimeEndpoint',
  'enableServer',
  'healthzBindAddress',
  'healthzPort',
  'kind',
  'kubeReserved',
  'logging',
  'maxPods',
  'port',
  'readOnlyPort',
  'registerWithTaints',
  'resolvConf',
  'rotateCertificates',
  'serverTLSBootstrap',
  'staticPodPath',
  'systemReserved',
  'tlsCertFile',
  'tlsCipherSuites',
  'tlsMinVersion',
  'tlsPrivateKeyFile',
]

/** Fields of which 0 means no limit. kubeadm leaves them out, and kubelets then have a limit. */
const unlimitedByZero: ReadonlySet<string> = new Set(['eventRecordQPS', 'registryPullQPS'])

/** Files between which hyperkube chooses by itself. */
const foundResolvConf: ReadonlySet<string> = new Set([
  '',
  '/etc/resolv.conf',
  '/run/systemd/resolve/resolv.conf',
])

const json = z.json()
const record = z.record(z.string(), z.unknown()).catch({})
const flagBoolean = z.stringbool()

/** Kubelet settings of cluster.yml. */
export interface KubeletSettings {
  readonly maxPods?: number
  readonly systemReserved?: z.infer<typeof resourcesSchema>
  readonly kubeReserved?: z.infer<typeof resourcesSchema>
  readonly config?: Readonly<Record<string, unknown>>
}

/** Converts the configuration file and the flags of a kubelet to settings of cluster.yml. */
export function readKubeletSettings({
  kubelet,
  components,
}: Pick<AdoptedHost, 'kubelet' | 'components'>): KubeletSettings {
  const { config, args } = kubelet
  const fields = keptFields.flatMap((field) => {
    const { data } = json.safeParse(config[field])
    const isUnlimited = data === 0 && unlimitedByZero.has(field)
    return data === undefined || (isEmpty(data) && !isUnlimited) ? [] : [[field, data] as const]
  })
  const resolvConf = findResolvConf({ kubelet, components })
  const failSwapOn = flagBoolean.safeParse(args['fail-swap-on']).data
  // As in the kubelet, flags have priority over the file. Of feature gates, both count.
  const flags = readFlags(args)
  const gates = [...fields, ...flags].flatMap(([field, value]) =>
    field === 'featureGates' ? Object.entries(record.parse(value)) : [],
  )
  const limits = readReserved(kubelet)
  const logging = json.safeParse(pruneLogging(config['logging'])).data
  const maxPods = z.coerce
    .number()
    .int()
    .min(1)
    .safeParse(args['max-pods'] ?? config['maxPods']).data
  const isLarge = maxPods !== undefined && maxPods > maxPodsOfSetting
  const merged = Object.fromEntries([
    ...fields,
    ...flags,
    ...(gates.length === 0 ? [] : [['featureGates', Object.fromEntries(gates)] as const]),
    ...(failSwapOn === false ? [['failSwapOn', false] as const] : []),
    ...(typeof resolvConf === 'string' && !foundResolvConf.has(resolvConf)
      ? [['resolvConf', resolvConf] as const]
      : []),
  ])
  const kept = withoutUsual({
    ...merged,
    ...(logging === undefined || isEmpty(logging) ? {} : { logging }),
    ...(isLarge ? { maxPods } : {}),
    ...limits.config,
  })
  const { systemReserved, kubeReserved } = limits.settings
  return {
    ...(maxPods === undefined || maxPods === 110 || isLarge ? {} : { maxPods }),
    ...(systemReserved === undefined || isEmpty(systemReserved) ? {} : { systemReserved }),
    ...(kubeReserved === undefined || isEmpty(kubeReserved) ? {} : { kubeReserved }),
    ...(Object.keys(kept).length === 0 ? {} : { config: kept }),
  }
}

/** The largest number of the setting `maxPods`. A larger one is a field of the kubelet's configuration. */
const maxPodsOfSetting = 1000

/** Leaves out values that hyperkube sets anyway. Kubelets refuse parallel pulls together with serial ones. */
function withoutUsual({
  seccompDefault,
  serializeImagePulls,
  ...others
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...others,
    ...(seccompDefault === false ? { seccompDefault } : {}),
    ...(serializeImagePulls === true ? { serializeImagePulls, maxParallelImagePulls: 1 } : {}),
  }
}

/** Leaves out settings of the log that are defaults. kubeadm writes them into every configuration. */
function pruneLogging(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, own]) => [key, pruneLogging(own)] as const)
  return Object.fromEntries(entries.filter(([, own]) => own !== '0' && own !== 'text' && !isEmpty(own)))
}

/** Finds the file of DNS servers on the host. The kubelet of RKE1 has other paths. */
function findResolvConf({ kubelet, components }: Pick<AdoptedHost, 'kubelet' | 'components'>): unknown {
  const path = kubelet.args['resolv-conf'] ?? kubelet.config['resolvConf']
  const container = components.find(({ name, runsAs }) => name === 'kubelet' && runsAs === 'container')
  if (container === undefined || typeof path !== 'string') return path
  return toHostPath(container, path)
}

/** Reads the DNS servers that a kubelet gives to its pods. With NodeLocal DNSCache they are no Service. */
export function readClusterDns({ kubelet }: Pick<AdoptedHost, 'kubelet'>): readonly string[] {
  const flag = kubelet.args['cluster-dns']
  const value = flag === undefined ? kubelet.config['clusterDNS'] : readList(flag)
  return z.array(z.string()).safeParse(value).data ?? []
}

/**
 * Reads reserved resources. Those that the settings of cluster.yml do not have, such as process ids, are fields of the
 * kubelet's configuration.
 */
function readReserved({ args, config }: AdoptedHost['kubelet']): {
  readonly settings: Pick<KubeletSettings, 'systemReserved' | 'kubeReserved'>
  readonly config: Readonly<Record<string, unknown>>
} {
  const read = (kind: 'system' | 'kube') => {
    const flag = args[`${kind}-reserved`]
    const amounts = record.parse(flag === undefined ? config[`${kind}Reserved`] : readPairs('=')(flag))
    const isSetting = ([name, value]: readonly [string, unknown]): boolean =>
      resourcesSchema.safeParse({ [name]: value }).success
    const entries = Object.entries(amounts)
    return {
      settings: resourcesSchema.parse(Object.fromEntries(entries.filter(isSetting))),
      others: Object.fromEntries(entries.filter((entry) => !isSetting(entry))),
    }
  }
  const [system, kube] = [read('system'), read('kube')]
  return {
    settings: { systemReserved: system.settings, kubeReserved: kube.settings },
    config: {
      ...(isEmpty(system.others) ? {} : { systemReserved: system.others }),
      ...(isEmpty(kube.others) ? {} : { kubeReserved: kube.others }),
    },
  }
}

type ReadFlag = (text: string) => unknown

const readText: ReadFlag = (text) => text
const readNumber: ReadFlag = (text) => z.coerce.number().int().safeParse(text).data
const readBoolean: ReadFlag = (text) => flagBoolean.safeParse(text).data
const readPercent: ReadFlag = (text) => z.coerce.number().int().min(0).max(100).safeParse(text).data
const readList = (text: string): readonly string[] => text.split(',').filter((item) => item !== '')

/** Creates a reader of pairs that commas separate: `memory.available<100Mi,nodefs.available<10%`. */
function readPairs(separator: string, readValue: ReadFlag = readText): ReadFlag {
  return (text) =>
    Object.fromEntries(
      readList(text).flatMap((pair) => {
        const [name = '', value = ''] = pair.split(separator).map((part) => part.trim())
        const data = value === '' ? undefined : readValue(value)
        return data === undefined ? [] : [[name, data]]
      }),
    )
}

/** Flags that cluster.yml keeps, each with its field of the configuration file. RKE1 has no such file. */
const flagFields: Readonly<Record<string, readonly [field: string, read: ReadFlag]>> = {
  'allowed-unsafe-sysctls': ['allowedUnsafeSysctls', readList],
  'container-log-max-files': ['containerLogMaxFiles', readNumber],
  'container-log-max-size': ['containerLogMaxSize', readText],
  'cpu-manager-policy': ['cpuManagerPolicy', readText],
  'eviction-hard': ['evictionHard', readPairs('<')],
  'eviction-minimum-reclaim': ['evictionMinimumReclaim', readPairs('=')],
  'eviction-soft': ['evictionSoft', readPairs('<')],
  'eviction-soft-grace-period': ['evictionSoftGracePeriod', readPairs('=')],
  'feature-gates': ['featureGates', readPairs('=', readBoolean)],
  'image-gc-high-threshold': ['imageGCHighThresholdPercent', readPercent],
  'image-gc-low-threshold': ['imageGCLowThresholdPercent', readPercent],
  'memory-manager-policy': ['memoryManagerPolicy', readText],
  'pod-max-pids': ['podPidsLimit', readNumber],
  'max-parallel-image-pulls': ['maxParallelImagePulls', readNumber],
  'registry-burst': ['registryBurst', readNumber],
  'registry-qps': ['registryPullQPS', readNumber],
  'seccomp-default': ['seccompDefault', readBoolean],
  'serialize-image-pulls': ['serializeImagePulls', readBoolean],
  'topology-manager-policy': ['topologyManagerPolicy', readText],
  // RKE1 always sets it. FlexVolume drivers of pods install themselves there.
  'volume-plugin-dir': ['volumePluginDir', readText],
}

/** Reads settings of kubelets without a configuration file, such as those of RKE1. */
function readFlags(args: AdoptedHost['kubelet']['args']): readonly (readonly [string, unknown])[] {
  return Object.entries(flagFields).flatMap(([flag, [field, read]]) => {
    const text = args[flag]
    const value = text === undefined ? undefined : read(text)
    return value === undefined || isEmpty(value) ? [] : [[field, value] as const]
  })
}

/** Flags that RKE1 sets in every cluster. hyperkube sets its own values, so nothing is lost. */
const toolFlags: readonly string[] = [
  'address',
  'cgroups-per-qos',
  'cloud-config',
  'container-runtime',
  'enforce-node-allocatable',
  'event-qps',
  'fail-swap-on',
  'make-iptables-util-chains',
  'pod-infra-container-image',
  'resolv-conf',
  'streaming-connection-idle-timeout',
  'tls-cipher-suites',
  'v',
]

/** Lists the flags of a kubelet that cluster.yml does not keep. */
export function listLostKubeletFlags({ kubelet }: Pick<AdoptedHost, 'kubelet'>): readonly string[] {
  const { settings, others } = ownedFlags.kubelet
  const known = [...Object.keys(flagFields), ...Object.keys(settings), ...others, ...toolFlags]
  return Object.keys(kubelet.args).filter((flag) => !known.some((pattern) => matchesFlag(pattern, flag)))
}

/** Returns the port without authentication that a kubelet opens. cluster.yml refuses it. */
export function findReadOnlyPort({ kubelet }: Pick<AdoptedHost, 'kubelet'>): number | undefined {
  const port = Number(kubelet.args['read-only-port'] ?? kubelet.config['readOnlyPort'] ?? 0)
  return port > 0 ? port : undefined
}

/** Lists the fields of a kubelet's configuration file that cluster.yml does not keep. */
export function listLostKubeletFields({ kubelet }: Pick<AdoptedHost, 'kubelet'>): readonly string[] {
  const known = new Set<string>([...keptFields, ...replacedFields])
  return Object.entries(kubelet.config).flatMap(([field, value]) =>
    known.has(field) || isEmpty(value) ? [] : [field],
  )
}

/** True for values with which a kubelet uses its default. kubeadm writes many of them. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === '0s'
}
