import { expect } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { BusyCluster, formatBusyFigures } from './busy-cluster.ts'
import { recordDryRun } from './dry-run.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import type { Operator } from './operator.ts'

/** Upgrades a cluster under load on its API. Every request must succeed. */
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
