import { expect } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { BusyCluster, type BusyRates, formatBusyFigures } from './busy-cluster.ts'
import { recordDryRun } from './dry-run.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import type { Operator } from './operator.ts'

interface UpgradeOptions {
  readonly hosts: readonly Host[]
  /** Host whose API server is asked directly, and host that sends the load. */
  readonly server: Host
  readonly from: Host
  readonly rates?: BusyRates
}

/** Upgrades a cluster under load on its API. Every request must succeed. */
export async function upgradeUnderLoad(
  operator: Operator,
  version: string,
  { hosts, server, from, rates }: UpgradeOptions,
): Promise<void> {
  const args = ['upgrade', '--to', version] as const
  const dryRun = await recordDryRun(operator, hosts, args)
  const credentials = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
  const api = new KubeApi(`https://${server.address}:6443`, credentials)
  try {
    const busy = await BusyCluster.open(api, from, credentials, rates)
    const began = performance.now()
    const result = await operator.hyperkube(...args, '--yes')
    const seconds = (performance.now() - began) / 1000
    const figures = await busy.stop(api)
    const summary = `upgraded in ${seconds.toFixed(0)} s: ${formatBusyFigures(figures)}`
    process.stderr.write(`${summary}\n`)
    expect(result.code, result.stderr).toBe(0)
    await dryRun.expectDone()
    // Only counts are compared, because a list of failed requests would hide all other output.
    expect(figures.api.failed.length, summary).toBe(0)
    expect(figures.service.failed.length, summary).toBe(0)
    expect(figures.writes.refused, summary).toBe(0)
    expect(figures.lost.length, summary).toBe(0)
    await BusyCluster.cleanUp(api)
  } finally {
    api.close()
  }
}
