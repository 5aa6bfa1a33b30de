import { expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { BusyCluster, busyText } from './busy-cluster.ts'
import { asForeseen, foresee } from './dry-run.ts'
import { type HostSnapshot, snapshot } from './host-snapshot.ts'
import { credentialsIn } from './kubeconfig.ts'
import { hostNames, nodesReady, votersOf } from './membership.ts'
import type { Operator } from './operator.ts'
import type { UpCluster } from './up-cluster.ts'

/** A machine that comes into the cluster, and how it was before. */
export interface Newcomer {
  readonly host: Host
  readonly before: HostSnapshot
}

/** The next version, while the cluster is in use: its API, a service, and somebody who counts what they write. */
export function upgradeSuite(clusterNow: () => UpCluster, to: KubernetesVersion): void {
  const version = to.slice(1)

  test('what an upgrade would do is shown, and nothing is done', async () => {
    const { operator } = clusterNow()
    const { stderr } = await operator.must(3, 'upgrade', '--to', version, '--dry-run')
    expect(stderr).toContain('etcd on cp1, while 2 of 3 members of etcd are well without cp1')
    expect(stderr).toContain('pods moved away first')
    await operator.must(0, 'plan')
  })

  test(`${to} comes while the cluster is in use, and nobody notices`, { timeout: 900_000 }, async () => {
    const { operator, hosts } = clusterNow()
    const [first, worker] = ['cp1', 'w1'].map((name) => hosts.find((host) => host.name === name))
    if (first === undefined || worker === undefined) throw new Error('there are no such hosts')
    await upgradeUnderLoad(operator, version, { hosts, server: first, from: worker })
    expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
  })

  test('there is no way back, nor to a version that nobody knows', async () => {
    const { operator } = clusterNow()
    expect((await operator.must(1, 'upgrade', '--to', '1.36.4')).stderr).toContain('UPGRADE_BACK')
    expect((await operator.must(1, 'upgrade', '--to', '1.39.0')).stderr).toContain('CATALOG_UNKNOWN_VERSION')
  })
}

/** Upgrades while people ask an API server's cluster and a service from some host, and nobody is sent away. */
export async function upgradeUnderLoad(
  operator: Operator,
  version: string,
  { hosts, server, from }: { readonly hosts: readonly Host[]; readonly server: Host; readonly from: Host },
): Promise<void> {
  const words = ['upgrade', '--to', version] as const
  const foresight = await foresee(operator, hosts, words)
  const credentials = credentialsIn((await operator.must(0, 'kubeconfig')).stdout)
  const api = new KubeApi(`https://${server.address}:6443`, credentials)
  try {
    const busy = await BusyCluster.open(api, from, credentials)
    const began = performance.now()
    const result = await operator.hyperkube(...words, '--yes')
    const took = (performance.now() - began) / 1000
    const figures = await busy.stop(api)
    process.stderr.write(`upgraded in ${took.toFixed(0)} s: ${busyText(figures)}\n`)
    expect(result.code, result.stderr).toBe(0)
    await foresight.kept()
    expect(figures.api.failed).toEqual([])
    expect(figures.service.failed).toEqual([])
    expect(figures.writes.refused).toBe(0)
    expect(figures.lost).toEqual([])
    await BusyCluster.leave(api)
  } finally {
    api.close()
  }
}

/** Another machine takes the place of a control plane. */
export function replaceSuite(
  clusterNow: () => UpCluster,
  { name, by }: { readonly name: string; readonly by: string },
  newcomer: () => Promise<Host>,
): () => Newcomer {
  let came: Newcomer | undefined

  test(
    `${by} takes the place of ${name}: it votes before the other one leaves`,
    { timeout: 600_000 },
    async () => {
      const { operator, api, hosts } = clusterNow()
      const host = await newcomer()
      came = { host, before: await snapshot(host) }
      const words = ['node', 'replace', name, '--by', by, '--address', host.address] as const
      const { shown } = await asForeseen(operator, [...hosts, host], words)
      expect(shown).toContain(`etcd on ${by}, while etcd is well on cp1, cp2 and cp3`)
      expect(shown).toContain(`${name} leaves, pods moved away first, taken out of etcd`)
      const members = ['cp1', 'cp2', 'cp3', by].filter((one) => one !== name)
      expect(await votersOf(host)).toEqual(members)
      expect(await nodesReady(api)).toEqual([...members, 'w1', 'w2'])
      expect(await hostNames(api)).toEqual([...members, 'w1', 'w2'])
      expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    },
  )

  return () => {
    if (came === undefined) throw new Error(`${by} has not come`)
    return came
  }
}
