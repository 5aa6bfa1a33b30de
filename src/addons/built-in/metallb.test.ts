import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Manifest } from '../../kube/object.ts'
import { listDesiredAddons, listHostIndependentAddons } from '../desired-addons.ts'
import { toReference } from '../reference.ts'
import { buildAddonInputFixture, parseAddonCluster } from '../testing/addon-input.ts'
import { groupIntoWaves } from '../waves.ts'

const input = buildAddonInputFixture(
  parseAddonCluster('  loadBalancer: { addresses: [192.168.1.240-192.168.1.249] }\n'),
)

function listManifests(): readonly Manifest[] {
  const { addons, findings } = listDesiredAddons(input)
  expect(findings).toEqual([])
  return addons.find(({ name }) => name === 'metallb')?.manifests ?? []
}

test('in layer 2 the objects match their golden file', async () => {
  const text = listManifests()
    .filter(({ kind }) => kind !== 'CustomResourceDefinition')
    .map((manifest) => stringify(manifest, { aliasDuplicateObjects: false }))
    .join('---\n')
  await expect(text).toMatchFileSnapshot('../testdata/metallb.default.yml')
})

test('CRDs come first, then the namespace and its permissions, the programs, and the pool last', () => {
  const waves = groupIntoWaves(listManifests(), toReference).map((wave) => [
    ...new Set(wave.map(({ kind }) => kind)),
  ])
  expect(waves).toEqual([
    ['CustomResourceDefinition'],
    ['Namespace'],
    ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
    ['ConfigMap'],
    ['Deployment', 'DaemonSet'],
    ['IPAddressPool', 'L2Advertisement'],
  ])
})

test('the CRDs have no description and no conversion webhook', () => {
  const crds = listManifests().filter(({ kind }) => kind === 'CustomResourceDefinition')
  expect(crds.map(({ metadata }) => metadata.name)).toEqual([
    'bfdprofiles.metallb.io',
    'bgpadvertisements.metallb.io',
    'bgppeers.metallb.io',
    'communities.metallb.io',
    'configurationstates.metallb.io',
    'ipaddresspools.metallb.io',
    'l2advertisements.metallb.io',
    'servicebgpstatuses.metallb.io',
    'servicel2statuses.metallb.io',
  ])
  expect(JSON.stringify(crds)).not.toMatch(/"description":"|"conversion"/)
})

test('controllers can repair it, because it does not depend on hosts and has no Secret', () => {
  expect(listHostIndependentAddons(input).map(({ name }) => name)).toContain('metallb')
})

describe('permissions', () => {
  const rules = listManifests()
    .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'metallb-speaker')
    .flatMap((role) => Object(role['rules']))

  test('the speaker of a worker cannot read Secrets or change Services of other namespaces', () => {
    expect(rules.length).toBeGreaterThan(0)
    const core = rules.filter(({ apiGroups }) => apiGroups.includes(''))
    const written = core.filter(({ verbs }) => verbs.some((verb: string) => !/^(get|list|watch)$/.test(verb)))
    expect(written.flatMap(({ resources }) => resources)).toEqual(['events'])
    expect(core.flatMap(({ resources }) => resources)).not.toContain('secrets')
  })
})
