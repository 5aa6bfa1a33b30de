import { expect, test } from 'vitest'
import { duration } from '../../src/kit/duration.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { BusyCluster, busyText } from './busy-cluster.ts'
import { names } from './heal-doctor.ts'
import type { HealRow } from './heal-row.ts'
import { healRows } from './heal-rows.ts'
import { HealScene } from './heal-cluster.ts'
import { isQuiet } from './heal-suite.ts'
import { Witness } from './heal-observer.ts'
import { idleCost } from './idle-cost.ts'
import type { UpCluster } from './up-cluster.ts'

/** One that systemd does not heal, for every host. */
const faults = [
  ['stop-kubelet', 'cp1'],
  ['config-corrupted-kube-proxy', 'cp2'],
  ['conflist-deleted', 'cp3'],
  ['interface-deleted', 'w1'],
  ['nft-flushed', 'w2'],
] as const

/** A few faults of the table, all at once, each on a host of its own. It takes 3+2, and about four minutes. */
export function healFewSuite(clusterNow: () => UpCluster): void {
  test(
    'five faults at once are named by doctor and healed by agents, and nothing is lost',
    { timeout: 600_000 },
    async () => {
      using scene = await HealScene.of(clusterNow())
      await isQuiet(scene)
      const cases = faults.map(([id, name]) => ({ row: rowOf(id), host: scene.host(name) }))
      const api = scene.apiBeside(scene.host('cp1'))
      const busy = await BusyCluster.open(api, scene.host('w2'), scene.credentials)
      await busy.isUnderWay()
      const began = Date.now()
      const witness = new Witness(scene, began)
      try {
        await settleAll(cases.map(async ({ row, host }) => row.inject(scene, host)))
        await settleAll(
          cases.map(async ({ row, host }) => {
            await until(
              `${row.what} on ${host.name} to heal`,
              async () => (await row.healed(scene, host)) && scene.agentSaysWell(host),
              { within: row.within, every: 1000 },
            )
            process.stderr.write(`${row.id}: healed after ${duration(Date.now() - began)}\n`)
          }),
        )
      } finally {
        await settleAll(cases.map(async ({ row, host }) => row.undo(scene, host)))
        await witness[Symbol.asyncDispose]()
      }
      const figures = await busy.stop(api)
      process.stderr.write(`healed: ${busyText(figures)}; agents: ${witness.actions.join(', ')}\n`)
      await scene.forgetKept()
      await BusyCluster.leave(api)
      expect(figures.lost).toEqual([])
      const named = cases.filter(({ row, host }) =>
        witness.told.some(({ findings }) => findings.some((finding) => names(row, host.name, finding))),
      )
      process.stderr.write(`named by doctor: ${named.map(({ row }) => row.id).join(', ')}\n`)
      // It lasts until an agent has counted several failures; whoever asks meanwhile is told.
      expect(named.map(({ row }) => row.id)).toContain('stop-kubelet')
      await isQuiet(scene)
    },
  )

  test('a control plane that is well costs next to nothing to look after', { timeout: 240_000 }, async () => {
    const [first] = clusterNow().hosts
    if (first === undefined) throw new Error('there is no host')
    const { pss, cpuShare } = await until(
      'the host to come to rest',
      async () => {
        const cost = await idleCost(first)
        return cost.cpuShare < 0.03 && cost
      },
      { within: 150_000 },
    )
    process.stderr.write(`idle: ${(pss / 1e6).toFixed(0)} MB, ${(cpuShare * 100).toFixed(2)} % of a core\n`)
    expect(pss).toBeLessThan(170e6)
    expect(cpuShare).toBeLessThan(0.03)
  })
}

function rowOf(id: string): HealRow {
  const found = healRows.find((row) => row.id === id)
  if (found === undefined) throw new Error(`there is no row ${id}`)
  return found
}
