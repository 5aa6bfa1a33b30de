import { expect, test } from 'vitest'
import type { Cluster } from '../spec/cluster.ts'
import { computeAddonDigest } from './addon-digest.ts'
import { listHostIndependentAddons } from './host-independent.ts'
import { parseAddonCluster, buildAddonInputFixture } from './testing/addon-input.ts'
import { listDesiredAddons } from './desired-addons.ts'

const formatAddon = (name: string, kind: string): string =>
  `    - { name: ${name}, inline: [{ apiVersion: v1, kind: ${kind}, metadata: { name: x } }] }\n`
const cluster = parseAddonCluster(
  `  addons:\n${formatAddon('plain', 'ConfigMap')}${formatAddon('secret', 'Secret')}`,
)

test('addons that depend on hosts or hold a Secret are left out', () => {
  expect(listHostIndependentAddons(buildAddonInputFixture(cluster)).map(({ name }) => name)).toEqual([
    'traefik',
    'local-path',
    'plain',
  ])
})

test('each is what is put into the cluster, and the same with other hosts', () => {
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
