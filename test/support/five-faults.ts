import { expect } from 'vitest'
import { formatDuration } from '../../src/kit/time-format.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { BusyCluster, ciRates, formatBusyFigures } from './busy-cluster.ts'
import { expectQuiet, HealCluster } from './heal-cluster.ts'
import { matchesFault } from './heal-doctor.ts'
import { HealObserver } from './heal-observer.ts'
import type { HealRow } from './heal-row.ts'
import { healRows } from './heal-rows.ts'
import type { UpCluster } from './up-cluster.ts'

/** Each entry: the id of a fault that systemd does not heal, and the host that gets the fault. */
const faults = [
  ['stop-kubelet', 'cp1'],
  ['config-corrupted-kube-proxy', 'cp2'],
  ['conflist-deleted', 'cp3'],
  ['interface-deleted', 'w1'],
  ['nft-flushed', 'w2'],
] as const

/**
 * Injects five faults at once, each on another host, and expects that all of them heal. This takes about four
 * minutes. The cluster must have 3+2 hosts.
 */
export async function expectFiveFaultsHealed(cluster: UpCluster): Promise<void> {
  using healCluster = await HealCluster.open(cluster)
  await expectQuiet(healCluster)
  const cases = faults.map(([id, name]) => ({ row: findRow(id), host: healCluster.getHost(name) }))
  const api = healCluster.getApiOfOther(healCluster.getHost('cp1'))
  const busy = await BusyCluster.open(api, healCluster.getHost('w2'), healCluster.credentials, ciRates)
  await busy.waitForFirstResponses()
  const began = Date.now()
  const observer = new HealObserver(healCluster, began)
  try {
    await settleAll(cases.map(async ({ row, host }) => row.inject(healCluster, host)))
    await settleAll(
      cases.map(async ({ row, host }) => {
        await pollUntil(
          `${row.what} on ${host.name} to heal`,
          async () => (await row.isHealed(healCluster, host)) && healCluster.isAgentHealthy(host),
          // Five hosts heal at once on the same two cores.
          { timeoutMs: 2 * row.timeoutMs, intervalMs: 1000 },
        )
        process.stderr.write(`${row.id}: healed after ${formatDuration(Date.now() - began)}\n`)
      }),
    )
  } finally {
    await settleAll(cases.map(async ({ row, host }) => row.undo(healCluster, host)))
    await observer[Symbol.asyncDispose]()
  }
  const figures = await busy.stop(api)
  process.stderr.write(`healed: ${formatBusyFigures(figures)}; agents: ${observer.actions.join(', ')}\n`)
  await healCluster.removeBackups()
  await BusyCluster.cleanUp(api)
  expect(figures.lost).toEqual([])
  const named = cases.filter(({ row, host }) =>
    observer.reports.some(({ findings }) =>
      findings.some((finding) => matchesFault(row, host.name, finding)),
    ),
  )
  process.stderr.write(`named by doctor: ${named.map(({ row }) => row.id).join(', ')}\n`)
  // This fault lasts until an agent has counted several failures, so doctor must report it.
  expect(named.map(({ row }) => row.id)).toContain('stop-kubelet')
  await expectQuiet(healCluster)
}

function findRow(id: string): HealRow {
  const found = healRows.find((row) => row.id === id)
  if (found === undefined) throw new Error(`there is no row ${id}`)
  return found
}
