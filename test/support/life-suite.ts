import { expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { BusyCluster, formatBusyFigures } from './busy-cluster.ts'
import { runAsPlanned, recordDryRun } from './dry-run.ts'
import { type HostSnapshot, takeHostSnapshot } from './host-snapshot.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import { listHostNames, listReadyNodes, listVoters } from './membership.ts'
import type { Operator } from './operator.ts'
import type { UpCluster } from './up-cluster.ts'

/** A host that joined the cluster, and its state before it joined. */
export interface AddedHost {
  readonly host: Host
  readonly before: HostSnapshot
}

/** Upgrades a cluster in use, under load from API requests, service requests and counted writes. */
export function upgradeSuite(clusterNow: () => UpCluster, to: KubernetesVersion): void {
  const version = to.slice(1)

  test('what an upgrade would do is shown, and nothing is done', async () => {
    const { operator } = clusterNow()
    const { stderr } = await operator.must(3, 'upgrade', '--to', version, '--dry-run')
    expect(stderr).toContain('etcd on cp1, while 2 of 3 members of etcd are well without cp1')
    expect(stderr).toContain('pods moved away first')
    await operator.must(0, 'plan')
  })

  test(
    `${to} is installed while the cluster is in use, and no request fails`,
    { timeout: 900_000 },
    async () => {
      const { operator, hosts } = clusterNow()
      const [first, worker] = ['cp1', 'w1'].map((name) => hosts.find((host) => host.name === name))
      if (first === undefined || worker === undefined) throw new Error('there are no such hosts')
      await upgradeUnderLoad(operator, version, { hosts, server: first, from: worker })
      expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    },
  )

  test('a downgrade and an unknown version are refused', async () => {
    const { operator } = clusterNow()
    expect((await operator.must(1, 'upgrade', '--to', '1.36.4')).stderr).toContain('UPGRADE_DOWNGRADE')
    expect((await operator.must(1, 'upgrade', '--to', '1.39.0')).stderr).toContain('CATALOG_UNKNOWN_VERSION')
  })
}

/** Upgrades under load. Every request must succeed. */
export async function upgradeUnderLoad(
  operator: Operator,
  version: string,
  { hosts, server, from }: { readonly hosts: readonly Host[]; readonly server: Host; readonly from: Host },
): Promise<void> {
  const args = ['upgrade', '--to', version] as const
  const dryRun = await recordDryRun(operator, hosts, args)
  const credentials = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
  const api = new KubeApi(`https://${server.address}:6443`, credentials)
  try {
    const busy = await BusyCluster.open(api, from, credentials)
    const began = performance.now()
    const result = await operator.hyperkube(...args, '--yes')
    const seconds = (performance.now() - began) / 1000
    const figures = await busy.stop(api)
    process.stderr.write(`upgraded in ${seconds.toFixed(0)} s: ${formatBusyFigures(figures)}\n`)
    expect(result.code, result.stderr).toBe(0)
    await dryRun.expectDone()
    expect(figures.api.failed).toEqual([])
    expect(figures.service.failed).toEqual([])
    expect(figures.writes.refused).toBe(0)
    expect(figures.lost).toEqual([])
    await BusyCluster.cleanUp(api)
  } finally {
    api.close()
  }
}

/** Replaces a control plane by another host. */
export function replaceSuite(
  clusterNow: () => UpCluster,
  { name, by }: { readonly name: string; readonly by: string },
  startHost: () => Promise<Host>,
): () => AddedHost {
  let added: AddedHost | undefined

  test(
    `${by} takes the place of ${name}: it votes before the other one leaves`,
    { timeout: 600_000 },
    async () => {
      const { operator, api, hosts } = clusterNow()
      const host = await startHost()
      added = { host, before: await takeHostSnapshot(host) }
      const args = ['node', 'replace', name, '--by', by, '--address', host.address] as const
      const { shown } = await runAsPlanned(operator, [...hosts, host], args)
      expect(shown).toContain(`etcd on ${by}, while etcd is well on cp1, cp2 and cp3`)
      expect(shown).toContain(`${name} leaves, pods moved away first, taken out of etcd`)
      const members = ['cp1', 'cp2', 'cp3', by].filter((member) => member !== name)
      expect(await listVoters(host)).toEqual(members)
      expect(await listReadyNodes(api)).toEqual([...members, 'w1', 'w2'])
      expect(await listHostNames(api)).toEqual([...members, 'w1', 'w2'])
      expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    },
  )

  return () => {
    if (added === undefined) throw new Error(`${by} has not come`)
    return added
  }
}
