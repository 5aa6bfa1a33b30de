import { describe, expect, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { z } from 'zod'
import { hasErrors } from '../contract/finding.ts'
import { emptySettings, managerSettingsFormat } from '../contract/manager-settings.ts'
import { readVersioned } from '../contract/versioned.ts'
import { builtInAddons } from '../spec/addons.ts'
import type { Cluster } from '../spec/cluster.ts'
import { computeAddonDigest } from './addon.ts'
import {
  listAddonImages,
  listAddonsWithSecrets,
  listDesiredAddons,
  listHostIndependentAddons,
} from './desired-addons.ts'
import { buildAddonInputFixture, parseAddonCluster, readAddonTestdata } from './testing/addon-input.ts'

const plain = parseAddonCluster()
const tuned = parseAddonCluster(readAddonTestdata('tuned.yml'))

const defaultAddons = builtInAddons.filter((name) => name !== 'metallb')

describe.each([
  ['default', plain, defaultAddons],
  ['tuned', tuned, builtInAddons],
])('the built-in addons of the %s cluster', (name, cluster, names) => {
  const { addons, findings } = listDesiredAddons(buildAddonInputFixture(cluster))

  test('have no findings', () => {
    expect(findings).toEqual([])
    expect(addons.map((addon) => addon.name)).toEqual(names)
  })

  test.each(addons)('$name matches its golden file', async ({ name: addon, manifests }) => {
    const text = manifests
      // CRDs are files of their own, as upstream wrote them.
      .filter(({ kind }) => kind !== 'CustomResourceDefinition')
      .map((manifest) => stringify(manifest, { aliasDuplicateObjects: false }))
      .join('---\n')
    await expect(text).toMatchFileSnapshot(`testdata/${addon}.${name}.yml`)
  })

  test('use exactly the images that listAddonImages returns', () => {
    const { images } = buildAddonInputFixture(cluster)
    const used = addons.flatMap(({ manifests }) => listImages(manifests))
    expect(new Set(used)).toEqual(new Set(listAddonImages(cluster, images)))
    expect(used).not.toContain('')
  })

  test.each(addons)(
    '$name: the selectors of services, budgets and workloads match the same pods',
    ({ manifests }) => {
      const templates = manifests.map(readPodLabels).filter((labels) => labels !== undefined)
      const selectors = manifests.map(readSelector).filter((selector) => selector !== undefined)
      expect(selectors.length).toBeGreaterThanOrEqual(templates.length)
      // Each selector selects exactly one workload, and each workload selects its own pods.
      for (const selector of selectors)
        expect(templates.filter((labels) => isSubset(selector, labels))).toHaveLength(1)
      for (const workload of manifests.filter((manifest) => readPodLabels(manifest) !== undefined))
        expect(readPodLabels(workload)).toMatchObject(readSelector(workload) ?? { none: '' })
    },
  )

  test.each(addons)(
    '$name: containers have a restricted security context and resource requests',
    ({ manifests }) => {
      for (const { securityContext, resources } of listContainers(manifests)) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(resources).toMatchObject({ requests: { cpu: expect.any(String), memory: expect.any(String) } })
      }
    },
  )

  test.each(addons)('$name: all namespaced objects are in one namespace', ({ name: addon, manifests }) => {
    const namespaces = manifests.flatMap(({ metadata }) => metadata.namespace ?? [])
    expect(new Set(namespaces)).toEqual(new Set([addon === 'metallb' ? 'metallb-system' : 'kube-system']))
  })
})

test('a disabled addon has no manifests and no images', () => {
  const cluster = parseAddonCluster('  dns: none\n  metrics: none\n  ingress: none\n  storage: none\n')
  expect(listDesiredAddons(buildAddonInputFixture(cluster))).toEqual({ addons: [], findings: [] })
  expect(listAddonImages(cluster, buildAddonInputFixture(cluster).images)).toEqual([])
})

test('the version of an addon is the tag of its image, pinned or not', () => {
  const images = { coredns: 'registry.example:5000/coredns:v9@sha256:abc', traefik: 'traefik@sha256:abc' }
  const { addons } = listDesiredAddons(buildAddonInputFixture(plain, { images }))
  expect(addons.map(({ version }) => version)).toEqual(['v9', undefined, undefined, undefined])
})

test('without a metrics certificate the list of objects is the same', () => {
  const shape = (input: Parameters<typeof listDesiredAddons>[0]) =>
    listDesiredAddons(input).addons.map(({ manifests }) =>
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    )
  expect(shape(buildAddonInputFixture(plain, { metricsCertificate: undefined }))).toEqual(
    shape(buildAddonInputFixture(plain)),
  )
})

test('a new metrics certificate changes only its Secret', () => {
  const other = { ca: 'ca', certificate: 'another', privateKey: 'another key' }
  const [before = [], after = []] = [
    buildAddonInputFixture(plain),
    buildAddonInputFixture(plain, { metricsCertificate: other }),
  ].map((input) => listDesiredAddons(input).addons.flatMap(({ manifests }) => manifests))
  const changed = after.filter(
    (manifest, index) => JSON.stringify(manifest) !== JSON.stringify(before[index]),
  )
  expect(changed.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['Secret metrics-server'])
})

test('a user addon comes after the built-in addons, and a duplicate object is an error', () => {
  const cluster = parseAddonCluster(
    '  addons: [{ name: mine, files: [a.yml], wait: false, timeout: 10s, force: true }]\n',
  )
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: coredns, namespace: kube-system }\n'
  const { addons, findings } = listDesiredAddons(
    buildAddonInputFixture(cluster, { sources: new Map([['a.yml', text]]) }),
  )
  expect(addons.at(-1)).toMatchObject({ name: 'mine', wait: false, timeoutMs: 10_000, force: true })
  expect(findings.map(({ code }) => code)).toEqual(['ADDON_OBJECT_DUPLICATE'])
  expect(hasErrors(findings)).toBe(true)
})

const podTemplate = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        containers: z.array(
          z.looseObject({ image: z.string(), securityContext: z.unknown(), resources: z.unknown() }),
        ),
      }),
    }),
  }),
})

function readPodLabels(manifest: unknown): Record<string, string> | undefined {
  return podTemplate.safeParse(manifest).data?.spec.template.metadata.labels
}

function isSubset(part: Record<string, unknown>, whole: Record<string, unknown>): boolean {
  return Object.entries(part).every(([key, value]) => whole[key] === value)
}

function listContainers(manifests: readonly unknown[]) {
  return manifests.flatMap(
    (manifest) => podTemplate.safeParse(manifest).data?.spec.template.spec.containers ?? [],
  )
}

/** Lists the images of pods, including the helper pod that a ConfigMap holds as text. */
function listImages(manifests: readonly unknown[]): string[] {
  const helpers = manifests.flatMap((manifest) => {
    const text: unknown = Object(Object(manifest).data)['helperPod.yaml']
    return typeof text === 'string' ? parseAllDocuments(text).map((document) => document.toJS()) : []
  })
  return [
    ...listContainers(manifests).map(({ image }) => image),
    ...helpers.flatMap((helper) => Object(helper).spec.containers[0].image),
  ]
}

const selectorSchema = z.looseObject({
  kind: z.enum(['Deployment', 'DaemonSet', 'PodDisruptionBudget', 'Service']),
  spec: z.looseObject({ selector: z.record(z.string(), z.unknown()) }),
})

function readSelector(manifest: unknown): Record<string, unknown> | undefined {
  const selector = selectorSchema.safeParse(manifest).data?.spec.selector
  if (selector === undefined) return undefined
  return { ...Object(selector['matchLabels'] ?? selector) }
}

const formatAddon = (name: string, kind: string): string =>
  `    - { name: ${name}, inline: [{ apiVersion: v1, kind: ${kind}, metadata: { name: x } }] }\n`
const cluster = parseAddonCluster(
  `  addons:\n${formatAddon('plain', 'ConfigMap')}${formatAddon('secret', 'Secret')}`,
)

test('listHostIndependentAddons omits addons that depend on hosts or contain a Secret', () => {
  expect(listHostIndependentAddons(buildAddonInputFixture(cluster)).map(({ name }) => name)).toEqual([
    'traefik',
    'local-path',
    'plain',
  ])
})

test('listAddonsWithSecrets lists the others of a user, without contents of their objects', () => {
  expect(listAddonsWithSecrets(buildAddonInputFixture(cluster))).toEqual([
    {
      name: 'secret',
      manifests: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'default' } }],
    },
  ])
})

test('a host-independent addon has the desired digest, and stays the same with other hosts', () => {
  const [host] = cluster.spec.hosts
  const other: Cluster = { ...cluster, spec: { ...cluster.spec, hosts: host === undefined ? [] : [host] } }
  const desired = new Map(
    listDesiredAddons(buildAddonInputFixture(cluster)).addons.map((addon) => [addon.name, addon]),
  )
  const hostIndependent = listHostIndependentAddons(buildAddonInputFixture(cluster))
  for (const { name, manifests } of hostIndependent) {
    const whole = desired.get(name)
    expect(whole && computeAddonDigest(whole)).toBe(computeAddonDigest({ name, manifests }))
  }
  expect(listHostIndependentAddons(buildAddonInputFixture(other))).toEqual(hostIndependent)
})

test('controllers compute the same digest from their settings as the operator who applies the addons', () => {
  const unordered = parseAddonCluster(`  addons:
    - name: shop
      inline:
        - { kind: ConfigMap, data: { a: b }, apiVersion: v1, metadata: { labels: { app: shop }, name: c } }
        - { apiVersion: v1, kind: ConfigMap, metadata: { annotations: { a: b }, namespace: web, name: d } }
`)
  const addons = listHostIndependentAddons(buildAddonInputFixture(unordered))
  const text = JSON.stringify({ ...emptySettings, addons })
  const settings = readVersioned(managerSettingsFormat, JSON.parse(text))
  const digest = ({ name, manifests }: (typeof addons)[number]) => computeAddonDigest({ name, manifests })
  expect(settings.addons?.map(digest)).toEqual(addons.map(digest))
})
