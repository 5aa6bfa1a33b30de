import { z } from 'zod'
import { resourcesSchema } from '../../spec/components.ts'
import type { AdoptedHost } from './observation.ts'

/** Fields of the kubelet configuration that cluster.yml keeps. hyperkube sets all others. */
const keptFields = [
  'allowedUnsafeSysctls',
  'containerLogMaxFiles',
  'containerLogMaxSize',
  'cpuManagerPolicy',
  'evictionHard',
  'evictionMinimumReclaim',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'failCgroupV1',
  'failSwapOn',
  'featureGates',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'memoryManagerPolicy',
  'podPidsLimit',
  'registryBurst',
  'registryPullQPS',
  'topologyManagerPolicy',
] as const

const json = z.json()
const flagBoolean = z.stringbool()

/** Kubelet settings of cluster.yml. */
export interface KubeletSettings {
  readonly maxPods?: number
  readonly systemReserved?: z.infer<typeof resourcesSchema>
  readonly kubeReserved?: z.infer<typeof resourcesSchema>
  readonly config?: Readonly<Record<string, unknown>>
}

/** Converts the configuration file and the flags of a kubelet to settings of cluster.yml. */
export function readKubeletSettings({ kubelet }: Pick<AdoptedHost, 'kubelet'>): KubeletSettings {
  const { config, args } = kubelet
  const fields = keptFields.flatMap((field) => {
    const { data } = json.safeParse(config[field])
    return data === undefined || isEmpty(data) ? [] : [[field, data] as const]
  })
  const failSwapOn = flagBoolean.safeParse(args['fail-swap-on']).data
  const kept = Object.fromEntries([
    ...readFlags(args),
    ...fields,
    ...(failSwapOn === false ? [['failSwapOn', false] as const] : []),
  ])
  const maxPods = z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .safeParse(config['maxPods'] ?? args['max-pods']).data
  const [systemReserved, kubeReserved] = ['systemReserved', 'kubeReserved'].map(
    (field) => resourcesSchema.safeParse(config[field]).data,
  )
  return {
    ...(maxPods === undefined || maxPods === 110 ? {} : { maxPods }),
    ...(systemReserved === undefined || isEmpty(systemReserved) ? {} : { systemReserved }),
    ...(kubeReserved === undefined || isEmpty(kubeReserved) ? {} : { kubeReserved }),
    ...(Object.keys(kept).length === 0 ? {} : { config: kept }),
  }
}

const percent = z.coerce.number().int().min(0).max(100)

/** Reads settings of kubelets without a configuration file, such as those of RKE1. */
function readFlags(args: AdoptedHost['kubelet']['args']): readonly (readonly [string, unknown])[] {
  const thresholds = (args['eviction-hard'] ?? '').split(',').flatMap((text) => {
    const [signal = '', value = ''] = text.split('<')
    return value === '' ? [] : [[signal, value] as const]
  })
  const high = percent.safeParse(args['image-gc-high-threshold']).data
  const low = percent.safeParse(args['image-gc-low-threshold']).data
  return [
    ...(thresholds.length === 0 ? [] : [['evictionHard', Object.fromEntries(thresholds)] as const]),
    ...(high === undefined ? [] : [['imageGCHighThresholdPercent', high] as const]),
    ...(low === undefined ? [] : [['imageGCLowThresholdPercent', low] as const]),
  ]
}

/** True for values with which a kubelet uses its default. kubeadm writes many of them. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === '0s'
}
