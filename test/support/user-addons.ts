import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { stringify } from 'yaml'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { openKubectl } from './kubectl.ts'
import type { UpCluster } from './up-cluster.ts'

/** Expects that an addon of a user can be applied, changed, pruned and removed. */
export async function expectUserAddonManaged(cluster: UpCluster): Promise<void> {
  const { api, operator, directory } = cluster
  const file = join(directory, 'shop.yml')
  const readData = async (): Promise<Record<string, string>> => readConfigMaps(cluster, 'shop')
  const runUp = async (): Promise<string> => (await operator.must(0, 'up', '--yes')).stderr
  await operator.edit((document) =>
    document.setIn(['spec', 'addons'], [{ name: 'shop', files: ['shop.yml'] }]),
  )
  await writeFile(file, formatManifests([namespace, buildConfigMap('one', 'a'), buildConfigMap('two', 'a')]))
  expect(await runUp()).toContain('+ shop: 3 objects new')
  expect(await readData()).toEqual({ one: 'a', two: 'a' })
  // This label alone must not make hyperkube prune the object, because users may set the same label.
  await api.create('/api/v1/namespaces/shop/configmaps', {
    ...buildConfigMap('theirs', 'b'),
    metadata: { name: 'theirs', labels: { 'hyperkube.dev/addon': 'shop' } },
  })

  await writeFile(file, formatManifests([namespace, buildConfigMap('one', 'c')]))
  const shown = await operator.must(3, 'addon', 'diff')
  expect(shown.stdout).toContain('data.word: "a" → "c"')
  expect(shown.stdout).toContain('- ConfigMap shop/two')
  await runUp()
  expect(await readData()).toEqual({ one: 'c', theirs: 'b' })

  await operator.edit((document) => document.deleteIn(['spec', 'addons']))
  const result = await operator.must(0, 'up', '--yes')
  expect(result.stderr).toContain('ADDON_NAMESPACE_IN_USE')
  expect(await readData()).toEqual({ theirs: 'b' })
  await api.remove('/api/v1/namespaces/shop/configmaps/theirs')
  await operator.must(0, 'up', '--yes')
  await pollUntil(
    'the namespace to be gone',
    async () =>
      api.text('/api/v1/namespaces/shop').then(
        () => false,
        () => true,
      ),
    {
      timeoutMs: 60_000,
    },
  )
}

export async function expectFieldOwnersRespected(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  const { operator, directory } = cluster
  await using kubectl = await openKubectl(cluster, kubernetes)
  const file = join(directory, 'shop.yml')
  const otherTeamFile = join(directory, 'theirs.yml')
  await writeFile(otherTeamFile, formatManifests([buildConfigMap('one', 'theirs', 'default')]))
  await kubectl.run('apply', '--server-side', '--field-manager=another-team', '-f', otherTeamFile)
  await writeFile(file, formatManifests([buildConfigMap('one', 'ours', 'default')]))
  const addon = { name: 'shop', files: ['shop.yml'] }
  await operator.edit((document) => document.setIn(['spec', 'addons'], [addon]))
  const refused = await operator.must(1, 'up', '--yes')
  expect(refused.stderr).toContain('.data.word is set by another-team; hyperkube sets another value')
  expect(refused.stderr).toContain('force: true for addon shop')
  await operator.edit((document) => document.setIn(['spec', 'addons'], [{ ...addon, force: true }]))
  await operator.must(0, 'up', '--yes')
  expect(await readConfigMaps(cluster, 'default')).toMatchObject({ one: 'ours' })
  await operator.edit((document) => document.deleteIn(['spec', 'addons']))
  await operator.must(0, 'up', '--yes')
  // The object existed before the addon, so it is not pruned.
  expect(await readConfigMaps(cluster, 'default')).toHaveProperty('one')
}

export async function expectAddonDriftFixed(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  const { operator } = cluster
  await using kubectl = await openKubectl(cluster, kubernetes)
  await kubectl.run('-n', 'kube-system', 'delete', 'poddisruptionbudget', 'coredns')
  await kubectl.run('-n', 'kube-system', 'delete', 'ingressclass', 'traefik')
  const { stdout } = await operator.must(3, 'plan')
  expect(stdout).toContain('~ coredns: 1 object new')
  expect(stdout).toContain('+ PodDisruptionBudget kube-system/coredns')
  expect(stdout).toContain('+ IngressClass traefik')
  await operator.must(0, 'up', '--yes')
  await operator.must(0, 'plan')
}

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }

function buildConfigMap(name: string, word: string, inNamespace = 'shop') {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: inNamespace }, data: { word } }
}

function formatManifests(all: readonly object[]): string {
  return all.map((one) => stringify(one)).join('---\n')
}

/** Returns the `word` of every ConfigMap in a namespace, by ConfigMap name. */
async function readConfigMaps({ api }: UpCluster, inNamespace: string): Promise<Record<string, string>> {
  const { items } = await api.get<{ items: { metadata: { name: string }; data?: { word?: string } }[] }>(
    `/api/v1/namespaces/${inNamespace}/configmaps`,
  )
  return Object.fromEntries(
    items.flatMap(({ metadata, data }) => (data?.word === undefined ? [] : [[metadata.name, data.word]])),
  )
}
