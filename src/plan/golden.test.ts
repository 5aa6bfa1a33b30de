import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { listDefaultReleases } from '../catalog/catalog.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import type { Cluster } from '../spec/cluster.ts'
import { readRke1 } from '../spec/rke1/read-rke1.ts'
import { parseTestCluster, buildPlanInput, type FactsVariation } from './testing/fixtures.ts'
import { planCluster } from './plan.ts'

/** Example clusters. Their complete plans are stored as golden files, so that changes show up in review. */
const examples = join(import.meta.dirname, '../../examples')

function example(name: string): Cluster {
  return parseTestCluster(readFileSync(join(examples, `${name}.yml`), 'utf8'))
}

function planText(cluster: Cluster, host: string, variation: FactsVariation = {}): string {
  const { plans, findings } = planCluster(buildPlanInput(cluster, () => variation))
  const plan = plans.find((one) => one.host === host)
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  return stringify(plan, { lineWidth: 0, aliasDuplicateObjects: false })
}

function golden(name: string): string {
  return join(import.meta.dirname, 'testdata', name)
}

describe('the golden plan of a host', () => {
  test.each([
    ['single', 'one'],
    ['high-availability', 'cp1'],
    ['high-availability', 'w1'],
    ['dedicated-etcd', 'etcd1'],
    ['dedicated-etcd', 'cp1'],
    ['dedicated-etcd', 'gpu1'],
    ['windows', 'win1'],
  ])('%s/%s', async (name, host) => {
    await expect(planText(example(name), host)).toMatchFileSnapshot(golden(`${name}/${host}.yaml`))
  })

  test('a converted RKE1 cluster', async () => {
    const text = 'nodes:\n  - { address: 192.168.1.11, user: root, role: [controlplane, etcd, worker] }\n'
    const { cluster } = readRke1({ file: 'rke.yml', text })
    await expect(planText(parseTestCluster(stringify(cluster)), 'cp1')).toMatchFileSnapshot(
      golden('rke1/cp1.yaml'),
    )
  })
})

describe('the golden difference to an ordinary host', () => {
  const single = example('single')
  const differences: readonly (readonly [name: string, variation: FactsVariation])[] = [
    ['cgroup-v1', { linux: { cgroup: { version: 1, controllers: ['cpu', 'cpuset', 'memory', 'pids'] } } }],
    ['container', { linux: { container: true, missingCapabilities: ['CAP_SYS_RESOURCE'] } }],
    ['swap', { linux: { swap: true } }],
    ['docker', { linux: { firewalls: ['docker'] } }],
    ['without-nft', { linux: { programs: ['ipset', 'iptables'] } }],
    ['network-manager', { linux: { networkManager: true } }],
    ['selinux', { linux: { selinux: 'enforcing' } }],
    [
      'systemd-resolved',
      {
        linux: {
          resolver: {
            file: '/run/systemd/resolve/resolv.conf',
            servers: ['192.0.2.53'],
            systemdResolved: true,
          },
        },
      },
    ],
  ]
  test.each(differences)('on a host with %s', async (name, variation) => {
    const patch = difference(planText(single, 'one'), planText(single, 'one', variation))
    await expect(patch).toMatchFileSnapshot(golden(`differences/${name}.diff`))
  })

  test('with the profile cis', async () => {
    const { spec } = single
    const cis = { ...single, spec: { ...spec, security: { ...spec.security, profile: 'cis' as const } } }
    const patch = difference(planText(single, 'one'), planText(cis, 'one'))
    await expect(patch).toMatchFileSnapshot(golden('differences/profile-cis.diff'))
  })

  test.each(
    listDefaultReleases(shippedCatalog)
      .slice(1)
      .map(({ kubernetes }) => kubernetes),
  )('in Kubernetes %s', async (kubernetes) => {
    const older = { ...single, spec: { ...single.spec, kubernetes } }
    const patch = difference(planText(single, 'one'), planText(older, 'one'))
    await expect(patch).toMatchFileSnapshot(golden(`differences/kubernetes-${kubernetes}.diff`))
  })

  test('on Windows Server 2025', async () => {
    const cluster = example('windows')
    const patch = difference(
      planText(cluster, 'win1'),
      planText(cluster, 'win1', { windows: { build: 26_100 } }),
    )
    await expect(patch).toMatchFileSnapshot(golden('differences/windows-2025.diff'))
  })
})

function difference(before: string, after: string): string {
  return createTwoFilesPatch('ordinary', 'different', before, after, '', '', { context: 1 })
}
