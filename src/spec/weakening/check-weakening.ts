import type { Cluster } from '../cluster.ts'
import type { Path } from '../document.ts'
import { type ClusterRule, type Problem, warningProblem } from '../problem.ts'
import { readToml } from './read-toml.ts'
import type { SettingValue, WeakenedComponent, WeakeningSetting } from './setting.ts'
import { weakeningSettings } from './weakening-settings.ts'

/** Names of the components in cluster.yml. */
const keys: Readonly<Record<WeakenedComponent, string>> = {
  'kube-apiserver': 'apiServer',
  'kube-controller-manager': 'controllerManager',
  'kube-scheduler': 'scheduler',
  etcd: 'etcd',
  kubelet: 'kubelet',
  'kube-proxy': 'kubeProxy',
  containerd: 'containerd',
}

interface ComponentSettings {
  readonly args?: Readonly<Record<string, string>> | undefined
  readonly config?: SettingValue | undefined
}

type ComponentsByKey = Readonly<Record<string, ComponentSettings | undefined>>

/** Finds settings that weaken the cluster, by the table of all such settings. */
export const checkWeakening: ClusterRule = ({ spec }) => [
  ...findProblems(spec.components, ['spec', 'components']),
  ...spec.hosts.flatMap(({ name, components = {} }, index) =>
    findProblems(components, ['spec', 'hosts', index, 'components']).map((one) => ({ ...one, host: name })),
  ),
  ...findUnreadToml(spec),
]

function findProblems(components: ComponentsByKey, path: Path): Problem[] {
  const read = Object.fromEntries(
    Object.entries(components).map(([key, settings]) => [key, settings && readConfig(settings)]),
  )
  return weakeningSettings.flatMap((setting) => {
    const key = keys[setting.component]
    const settings = read[key]
    if (settings === undefined || setting.severity === 'allowed') return []
    const { code, severity, component, consequence, hint = 'remove it' } = setting
    return findValues(setting, settings)
      .filter(({ value }) => setting.weakens(value))
      .map((found) => ({
        code,
        severity,
        component,
        path: [...path, key, ...found.path],
        message: `weakens the cluster: ${consequence}`,
        hint,
      }))
  })
}

interface FoundValue {
  readonly path: Path
  readonly value: SettingValue
}

interface ReadSettings extends ComponentSettings {
  /**
   * True if the configuration is one string in cluster.yml. Findings then name only `config`, because
   * cluster.yml has no paths inside a string.
   */
  readonly isText: boolean
}

/**
 * Parses the configuration of a component if it is TOML text, as for containerd. Invalid TOML gives no
 * values.
 */
function readConfig(settings: ComponentSettings): ReadSettings {
  const { config } = settings
  return typeof config === 'string'
    ? { ...settings, config: readToml(config) ?? {}, isText: true }
    : { ...settings, isText: false }
}

function findValues(setting: WeakeningSetting, { args, config, isText }: ReadSettings): FoundValue[] {
  if (setting.code === 'FLAG_WEAKENS') {
    const { flag } = setting
    const value = args !== undefined && Object.hasOwn(args, flag) ? args[flag] : undefined
    return value === undefined ? [] : [{ path: ['args', flag], value }]
  }
  if (config === undefined) return []
  const found = findInConfig(config, setting.path, ['config'])
  return isText ? found.map(({ value }) => ({ path: ['config'], value })) : found
}

/**
 * Finds the values at a path. If a map on the path is null, the value counts as null too: null in cluster.yml
 * removes the settings of hyperkube below it.
 */
function findInConfig(value: SettingValue, [key, ...rest]: readonly string[], path: Path): FoundValue[] {
  if (key === undefined || value === null) return [{ path, value }]
  if (typeof value !== 'object' || Array.isArray(value)) return []
  const next = key === '*' ? Object.keys(value) : [key]
  return next.flatMap((name) => {
    const child = Object.hasOwn(value, name) ? value[name] : undefined
    return child === undefined ? [] : findInConfig(child, rest, [...path, name])
  })
}

function findUnreadToml({ components }: Cluster['spec']): Problem[] {
  const { config } = components.containerd
  if (readToml(config) !== undefined) return []
  const path = ['spec', 'components', 'containerd', 'config']
  const message = 'is not TOML that hyperkube can read, so its settings were not checked'
  const hint = 'check it on a host: containerd --config FILE config dump'
  return [{ ...warningProblem('CONFIG_NOT_CHECKED', path, message, hint), component: 'containerd' }]
}
