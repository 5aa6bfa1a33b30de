import { describe, expect, test } from 'vitest'
import { until } from '../../src/kit/until.ts'
import { leaderFaults } from '../support/manager-faults.ts'
import { leaderOf, ManagerWitness } from '../support/manager-witness.ts'
import { suiteCluster } from '../support/suite-cluster.ts'

const minute = 60_000
/** In milliseconds, from the fault to another leader's lease. */
const most = 20_000

describe('the controller manager of a cluster', () => {
  const clusterNow = suiteCluster('manager', '3+2', '1.37.1', {
    prepare: async ({ edit }) =>
      edit((document) =>
        document.setIn(['spec', 'etcd'], {
          snapshots: { schedule: '* * * * *', keep: { hourly: 3, daily: 1, weekly: 1 } },
        }),
      ),
  })

  test.each(leaderFaults)(
    'a leader that is $what is followed by another one',
    { timeout: 6 * minute },
    async ({ inject, undo }) => {
      const { api, hosts } = clusterNow()
      const before = await until(
        'a leader',
        async () => {
          const one = await leaderOf(api)
          return one.host !== '' && one
        },
        { within: minute },
      )
      await using witness = new ManagerWitness(api)
      const host = hosts.find(({ name }) => name === before.host)
      if (host === undefined) throw new Error(`${before.host} leads, and is none of the hosts`)
      const began = Date.now()
      await inject(host)
      try {
        const after = await until(
          'another leader',
          async () => {
            const now = await leaderOf(api)
            return now.identity !== before.identity && now.host !== '' && now
          },
          { within: minute, every: 200 },
        )
        const took = Date.now() - began
        process.stderr.write(
          `another leader after ${(took / 1000).toFixed(1)} s: ${before.host} to ${after.host}\n`,
        )
        expect(after.transitions).toBeGreaterThan(before.transitions)
        expect(took).toBeLessThan(most)
        // What falls due is done by the new one, while the former one may still think that it leads.
        await until('hosts to have heard of the new one', async () => witness.highest >= after.transitions, {
          within: 2 * minute,
          every: 500,
        })
      } finally {
        await undo(host)
      }
      const from = Math.ceil(began / minute) * minute
      await until('two more snapshots', async () => Date.now() > from + 2.5 * minute, {
        within: 4 * minute,
        every: 1000,
      })
      const due = [0, 1, 2].map(
        (count) =>
          `etcd-${new Date(from + count * minute).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`,
      )
      expect(
        due.filter((name) => !witness.snapshots.has(name)),
        'what was due and is missing',
      ).toEqual([])
      const twice = [...witness.done]
        .filter(([, where]) => where.size > 1)
        .map(([id, where]) => [id, ...where])
      expect(twice, 'what was done twice').toEqual([])
      expect([...witness.faults]).toEqual([])
    },
  )
})
