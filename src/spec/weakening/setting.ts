import type { JSONType } from 'zod'

export type SettingValue = JSONType

/** A program whose settings cluster.yml can change. */
export type WeakenedComponent =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'etcd'
  | 'kubelet'
  | 'kube-proxy'
  | 'containerd'

/** Fields that rules for flags and rules for configuration values share. */
interface WeakeningRule {
  /** True for values that weaken the cluster. A configuration value is null if cluster.yml removes it. */
  readonly weakens: (value: SettingValue) => boolean
  /** Examples for the reference and for the tests. */
  readonly weak: SettingValue
  readonly safe: SettingValue
  /** What happens with a value that weakens the cluster, as one clause without a full stop. */
  readonly consequence: string
  /** The change to make. Default: remove the setting. */
  readonly hint?: string
}

/**
 * What hyperkube does with a value that weakens the cluster. `error` refuses it, `warning` reports it.
 * `allowed` accepts it without a message, for the given reason.
 */
type Verdict =
  | { readonly severity: 'error' | 'warning' }
  | { readonly severity: 'allowed'; readonly reason: string }

export type JudgedRule = WeakeningRule & Verdict

/** One row of the table of settings that weaken a cluster. */
export type WeakeningSetting = JudgedRule & {
  readonly component: WeakenedComponent
} & (
    | { readonly code: 'FLAG_WEAKENS'; readonly flag: string }
    // A star in the path matches every key.
    | { readonly code: 'CONFIG_WEAKENS'; readonly path: readonly string[] }
  )

export function flagRule(component: WeakenedComponent, flag: string, rule: JudgedRule): WeakeningSetting {
  return { component, code: 'FLAG_WEAKENS', flag, ...rule }
}

export function configRule(
  component: WeakenedComponent,
  path: readonly string[],
  rule: JudgedRule,
): WeakeningSetting {
  return { component, code: 'CONFIG_WEAKENS', path, ...rule }
}

/** Builds the same rule for a kubelet setting that exists as a flag and in the configuration file. */
export function kubeletRules(flag: string, path: string, rule: JudgedRule): readonly WeakeningSetting[] {
  const { weak, safe } = rule
  return [
    flagRule('kubelet', flag, { ...rule, weak: toFlagValue(weak), safe: toFlagValue(safe) }),
    configRule('kubelet', path.split('.'), rule),
  ]
}

function toFlagValue(value: SettingValue): string {
  return Array.isArray(value) ? value.map(toSettingText).join(',') : toSettingText(value)
}

/** Returns a value as text. Text stays as it is. */
export function toSettingText(value: SettingValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Formats the name of a setting as it is written in the program's documentation. */
export function formatSettingName(setting: WeakeningSetting): string {
  if (setting.code === 'FLAG_WEAKENS') return `--${setting.flag}`
  return setting.path.map((key) => (key.includes('.') ? `'${key}'` : key)).join('.')
}
