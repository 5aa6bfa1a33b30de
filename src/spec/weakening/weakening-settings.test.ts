import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { hasErrors } from '../../contract/finding.ts'
import { type ReadClusterResult, readCluster } from '../read-cluster.ts'
import { formatSettingName, type SettingValue, type WeakeningSetting } from './setting.ts'
import { weakeningSettings } from './weakening-settings.ts'

const keys: Readonly<Record<WeakeningSetting['component'], string>> = {
  'kube-apiserver': 'apiServer',
  'kube-controller-manager': 'controllerManager',
  'kube-scheduler': 'scheduler',
  etcd: 'etcd',
  kubelet: 'kubelet',
  'kube-proxy': 'kubeProxy',
  containerd: 'containerd',
}

function readWith(components: object, hostComponents: object = {}): ReadClusterResult {
  const spec = {
    kubernetes: '1.37.1',
    components,
    hosts: [
      { name: 'cp1', address: '10.0.0.1', roles: ['control-plane', 'worker'], components: hostComponents },
    ],
  }
  const text = stringify({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'test' },
    spec,
  })
  return readCluster({ file: 'cluster.yml', text })
}

function nest(path: readonly string[], value: SettingValue): SettingValue {
  return path
    .toReversed()
    .reduce<SettingValue>((inner, key) => ({ [key === '*' ? 'any' : key]: inner }), value)
}

/** Writes a value as TOML with one table for all keys but the last. */
function renderToml(path: readonly string[], value: SettingValue): string {
  const [last = '', ...tables] = path.map((key) => (key === '*' ? 'any' : `'${key}'`)).toReversed()
  return `[${tables.toReversed().join('.')}]\n  ${last} = ${JSON.stringify(value)} # comment\n`
}

function buildComponents(setting: WeakeningSetting, value: SettingValue): object {
  if (setting.code === 'FLAG_WEAKENS') return { args: { [setting.flag]: value } }
  const { component, path } = setting
  return { config: component === 'containerd' ? renderToml(path, value) : nest(path, value) }
}

function readSetting(setting: WeakeningSetting, value: SettingValue): ReadClusterResult {
  return readWith({ [keys[setting.component]]: buildComponents(setting, value) })
}

const rows = weakeningSettings.map(
  (setting, index) => [`${index + 1} ${setting.component} ${formatSettingName(setting)}`, setting] as const,
)

test('the table has every kind of setting', () => {
  expect(weakeningSettings.length).toBeGreaterThanOrEqual(40)
  const kinds = new Set(weakeningSettings.map(({ component, code }) => `${component} ${code}`))
  expect(kinds).toContain('kubelet CONFIG_WEAKENS')
  expect(kinds).toContain('kube-proxy CONFIG_WEAKENS')
  expect(new Set(weakeningSettings.map(({ component }) => component))).toEqual(new Set(Object.keys(keys)))
})

const allowed = rows.filter(([, { severity }]) => severity === 'allowed')
const reported = rows.filter(([, { severity }]) => severity !== 'allowed')

test.each(reported)('%s: the weak value is reported with its position', (_, setting) => {
  const { weak, code, severity, component, consequence, hint = 'remove it' } = setting
  const { cluster, findings } = readSetting(setting, weak)
  const path = ['spec.components', keys[component], code === 'FLAG_WEAKENS' ? 'args' : 'config']
  const message = `weakens the cluster: ${consequence}`
  const finding = findings.find((one) => one.message === message)
  expect(finding).toEqual({
    code,
    severity,
    component,
    message,
    hint,
    path: expect.stringContaining(path.join('.')),
    position: { file: 'cluster.yml', line: expect.any(Number), column: expect.any(Number) },
  })
  expect(finding?.position?.line).toBeGreaterThan(6)
  expect(cluster === undefined).toBe(hasErrors(findings))
})

test.each(allowed)('%s: the weak value is allowed for a reason', (_, setting) => {
  expect(setting.weakens(setting.weak)).toBe(true)
  expect(setting).toMatchObject({ reason: expect.stringMatching(/\w+ \w+/) })
  expect(readSetting(setting, setting.weak).findings).toEqual([])
})

test.each(rows)('%s: the safe value is accepted', (_, setting) => {
  const { findings } = readSetting(setting, setting.safe)
  expect(findings.filter(({ message }) => message.endsWith(setting.consequence))).toEqual([])
  expect(setting.weakens(setting.safe)).toBe(false)
})

test.each(rows)('%s: the consequence is one short clause', (_, { consequence }) => {
  expect(consequence).not.toMatch(/\.$/)
  expect(consequence.split(' ').length).toBeLessThanOrEqual(25)
})
