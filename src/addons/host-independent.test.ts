import { expect, test } from 'vitest'
import type { Cluster } from '../spec/cluster.ts'
import { digestOf } from './addon-digest.ts'
import { steadyAddons } from './host-independent.ts'
import { testCluster, testInput } from './testing/addon-input.ts'
import { wishedAddons } from './desired-addons.ts'

const own = (name: string, kind: string): string =>
  `    - { name: ${name}, inline: [{ apiVersion: v1, kind: ${kind}, metadata: { name: x } }] }\n`
const cluster = testCluster(`  addons:\n${own('plain', 'ConfigMap')}${own('secret', 'Secret')}`)

test('what depends on hosts or holds a secret is none of them', () => {
  expect(steadyAddons(testInput(cluster)).map(({ name }) => name)).toEqual(['traefik', 'local-path', 'plain'])
})

test('each is what is put into the cluster, and the same with other hosts', () => {
  const [host] = cluster.spec.hosts
  const other: Cluster = { ...cluster, spec: { ...cluster.spec, hosts: host === undefined ? [] : [host] } }
  const wished = new Map(wishedAddons(testInput(cluster)).addons.map((addon) => [addon.name, addon]))
  const steady = steadyAddons(testInput(cluster))
  for (const { name, manifests } of steady) {
    const whole = wished.get(name)
    expect(whole && digestOf(whole)).toBe(digestOf({ name, manifests }))
  }
  expect(steadyAddons(testInput(other))).toEqual(steady)
})
