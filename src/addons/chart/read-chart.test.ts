import { array, assert, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseAddonCluster } from '../testing/addon-input.ts'
import { readUserAddons } from '../user/user-addons.ts'
import type { RenderedChart } from './read-chart.ts'

const shop = '    - { name: shop, chart: { path: shop, version: 1.0.0, namespace: shop } }\n'

/** Reads the addons of a cluster.yml with rendered charts. A single text means two equal renderings. */
function readAddons(addons: string, rendered: Readonly<Record<string, string | readonly [string, string]>>) {
  const { spec } = parseAddonCluster(`  addons:\n${addons}`)
  const charts = Object.entries(rendered).map(([name, one]): [string, RenderedChart] => {
    const [text, repeatedText] = typeof one === 'string' ? [one, one] : one
    return [name, { text, repeatedText }]
  })
  return readUserAddons(spec.addons, { sources: new Map(), charts: new Map(charts) })
}

function listObjects({ addons }: ReturnType<typeof readAddons>): string[] {
  return addons.flatMap(({ name, manifests }) =>
    manifests.map(({ kind, metadata }) => `${name}: ${kind} ${metadata.namespace ?? '-'}/${metadata.name}`),
  )
}

function formatObject(kind: string, name: string, more: object = {}): string {
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'v1'
  return `---\n# Source: shop/templates/x.yaml\n${stringify({ apiVersion, kind, metadata: { name }, ...more })}`
}

const hook = formatObject('Job', 'migrate').replace(
  'name: migrate',
  'name: migrate\n  annotations: { helm.sh/hook: "pre-install,pre-upgrade" }',
)

test('a chart is an addon with its version, in its release namespace', () => {
  const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.org }
spec: { group: example.org, scope: Namespaced, names: { kind: Widget } }
---
apiVersion: example.org/v1
kind: Widget
metadata: { name: own }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: role, namespace: shop }
`
  const read = readAddons(shop, { shop: crd + formatObject('ConfigMap', 'a') })
  expect(read.findings).toEqual([])
  expect(read.addons[0]).toMatchObject({ name: 'shop', version: '1.0.0', description: 'Helm chart' })
  expect(listObjects(read)).toEqual([
    'shop: Namespace -/shop',
    'shop: CustomResourceDefinition -/widgets.example.org',
    'shop: Widget shop/own',
    'shop: ClusterRole -/role',
    'shop: ConfigMap shop/a',
  ])
})

test('a chart with only hooks is refused, because all its previous objects would be removed', () => {
  const ignoring = shop.replace('namespace: shop', 'hooks: ignore')
  expect(readAddons(ignoring, { shop: hook + formatObject('ConfigMap', 'a') }).findings).toEqual([])
  expect(readAddons(ignoring, { shop: hook }).findings).toMatchObject([
    { code: 'ADDON_SOURCE_EMPTY', severity: 'error', path: 'spec.addons[0].chart' },
  ])
})

test('a release namespace is created once, and never if it always exists or an addon contains it', () => {
  const addons = `${shop}    - { name: two, chart: { path: two, version: 1.0.0, namespace: shop } }
    - { name: three, chart: { path: three, version: 1.0.0, namespace: kube-system } }
    - { name: four, chart: { path: four, version: 1.0.0, namespace: own } }
    - { name: five, chart: { path: five, version: 1.0.0 } }
`
  const map = formatObject('ConfigMap', 'a')
  const four = map + formatObject('Namespace', 'own')
  expect(listObjects(readAddons(addons, { shop: map, two: map, three: map, four, five: map }))).toEqual([
    'shop: Namespace -/shop',
    'shop: ConfigMap shop/a',
    'two: ConfigMap shop/a',
    'three: ConfigMap kube-system/a',
    'four: ConfigMap own/a',
    'four: Namespace -/own',
    'five: ConfigMap default/a',
  ])
})

test('hooks are refused with their names, and omitted with hooks: ignore', () => {
  const text = formatObject('ConfigMap', 'a') + hook
  expect(readAddons(shop, { shop: text }).findings).toEqual([
    {
      code: 'CHART_HOOKS',
      severity: 'error',
      message:
        'addon shop: the chart has hooks, which hyperkube does not run: Job migrate (pre-install,pre-upgrade)',
      hint: 'disable them with values of the chart; if the chart works without them, set hooks: ignore',
      path: 'spec.addons[0].chart.hooks',
    },
  ])
  const ignoring = readAddons(shop.replace('version', 'hooks: ignore, version'), { shop: text })
  expect(ignoring.findings).toEqual([])
  expect(listObjects(ignoring)).toEqual(['shop: Namespace -/shop', 'shop: ConfigMap shop/a'])
})

test('a chart with random content is refused with the names of the objects', () => {
  const secret = (password: string) => formatObject('Secret', 'db', { stringData: { password } })
  const map = formatObject('ConfigMap', 'a')
  const { findings } = readAddons(shop, { shop: [map + secret('x1'), map + secret('x2')] })
  expect(findings).toMatchObject([
    {
      code: 'CHART_NOT_REPRODUCIBLE',
      message: 'addon shop: each rendering of the chart gives other content for Secret db',
    },
  ])
  expect(JSON.stringify(findings)).not.toContain('x1')
})

test('a chart without objects, or that was not rendered, is refused and removes nothing', () => {
  expect(readAddons(shop, { shop: '---\n# nothing\n' }).findings).toMatchObject([
    { code: 'ADDON_SOURCE_EMPTY' },
  ])
  expect(readAddons(shop, {}).findings).toMatchObject([{ code: 'ADDON_SOURCE_MISSING' }])
})

test('exactly the objects that differ between two renderings are named', () => {
  const objects = array(record({ value: nat(3), other: nat(3) }), { minLength: 1, maxLength: 8 })
  const isNamed = (all: readonly { value: number; other: number }[]): boolean => {
    const render = (key: 'value' | 'other'): string =>
      all
        .map((one, index) => formatObject('ConfigMap', `m${index}`, { data: { word: `${one[key]}` } }))
        .join('')
    const { findings } = readAddons(shop, { shop: [render('value'), render('other')] })
    const different = all.flatMap(({ value, other }, index) =>
      value === other ? [] : [`ConfigMap m${index}`],
    )
    return different.length === 0
      ? findings.length === 0
      : findings.length === 1 && findings[0]?.message.endsWith(`content for ${different.join(', ')}`) === true
  }
  expect(() => assert(property(objects, isNamed))).not.toThrow()
})

test('an object of one rendering only is a difference', () => {
  const [map, other] = [formatObject('ConfigMap', 'a'), formatObject('Secret', 'b')]
  const renderings = [
    [map + other, map],
    [map, map + other],
  ] as const
  for (const rendered of renderings) {
    expect(readAddons(shop, { shop: rendered }).findings).toMatchObject([{ code: 'CHART_NOT_REPRODUCIBLE' }])
  }
})
