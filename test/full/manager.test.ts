import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'
import { controllers } from '../../src/manager/table.ts'
import { servingSigner } from '../../src/pki/check-serving-request.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { clientOf } from '../support/client-certificate.ts'
import { type Audited, auditOf, isWrite } from '../support/manager-audit.ts'
import { controlPlanesOf, managerFigures } from '../support/manager-hosts.ts'
import { noteManager } from '../support/manager-evidence.ts'
import { compareRights } from '../support/manager-permissions.ts'
import { leaderFaults } from '../support/manager-faults.ts'
import { type Leader, leaderOf, ManagerWitness } from '../support/host-request-observer.ts'
import { giveClock, setClock, takeClock } from '../support/fake-clock.ts'
import { answerIn, signingRequest, signingRequests } from '../support/signing-requests.ts'
import { suiteCluster } from '../support/suite-cluster.ts'

const service = 'hyperkube-controller-manager'
const minute = 60_000
/** In milliseconds, from the fault to another leader's lease. */
const most = 20_000
/** How long a cluster that is well is watched. */
const calmMinutes = Number(process.env['MANAGER_CALM_MINUTES'] ?? 10)

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
    async ({ what, inject, undo }) => {
      const { api, hosts } = clusterNow()
      const before = await until('a leader', async () => led(api), { within: minute })
      await using witness = new ManagerWitness(api)
      const host = hosts.find(({ name }) => name === before.host)
      if (host === undefined) throw new Error(`${before.host} leads, and is none of the hosts`)
      const began = Date.now()
      let took = 0
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
        took = Date.now() - began
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
      expect(await courseOf(witness, Math.ceil(began / minute) * minute, 3)).toEqual(asItShould)
      await noteManager(
        `a leader that is ${what}`,
        `another leads after ${(took / 1000).toFixed(1)} s; of three snapshots that fell due none is missing, none was taken twice, no host was shown a lower number`,
      )
    },
  )

  test('a leader whose clock jumps stays the only one, and goes on', { timeout: 12 * minute }, async () => {
    const { api, hosts } = clusterNow()
    const controlPlanes = controlPlanesOf(hosts)
    await giveClock(controlPlanes, service)
    for (const host of controlPlanes) await host.script(`systemctl restart ${service}`)
    try {
      const before = await until('a leader', async () => led(api), { within: minute })
      const host = controlPlanes.find(({ name }) => name === before.host)
      if (host === undefined) throw new Error(`${before.host} leads, and is none of the hosts`)
      const leaders: string[] = []
      for (const offset of [7200, -7200, 0]) {
        await setClock(host, offset)
        const until45 = Date.now() + 45_000
        while (Date.now() < until45) {
          const leading = await Promise.all(controlPlanes.map(isLeading))
          expect(
            leading.filter(Boolean).length,
            `leaders with a clock that is ${offset} s wrong`,
          ).toBeLessThan(2)
          await sleep(250)
        }
        leaders.push((await leaderOf(api)).identity)
        expect(leaders).not.toContain('')
      }
      await using witness = new ManagerWitness(api)
      expect(await courseOf(witness, Math.ceil(Date.now() / minute) * minute, 2)).toEqual(asItShould)
      await noteManager(
        'a leader whose clock jumps by two hours, both ways',
        `${new Set([before.identity, ...leaders]).size} in all led, never two at once by their own word; once the clock was right, nothing was missing or twice`,
      )
    } finally {
      for (const host of controlPlanes) {
        await takeClock(host, service)
        await host.script(`systemctl restart ${service}`)
      }
    }
  })

  test('each identity may do what its row says, and nothing else', { timeout: 5 * minute }, async () => {
    const on = controllers.filter(({ byDefault }) => byDefault)
    const { asked, allowed, wrong } = await compareRights(clusterNow().api, on)
    expect(allowed).toBeGreaterThan(0)
    expect(wrong).toEqual([])
    await noteManager(
      'rights, asked of the API',
      `${asked} questions about ${on.length} controllers, the manager and what reads for them: ${allowed} allowed, all as the table says`,
    )
  })

  test(
    'a kubelet gets a certificate for its own names, and none for others',
    { timeout: 5 * minute },
    async () => {
      const { api, hosts, identity } = clusterNow()
      const w1 = hosts.find(({ name }) => name === 'w1')
      const node = new KubeApi(
        `https://${hosts[0]?.address}:6443`,
        await clientOf(identity, 'kubernetes', 'system:node:w1', ['system:nodes']),
      )
      try {
        const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
        const serving = { signerName: servingSigner, usages: ['digital signature', 'server auth'] }
        const wishes = {
          own: { subject, names: { dns: ['w1'], ip: [w1?.address ?? ''] } },
          'of-another': { subject, names: { dns: ['cp1'], ip: [] } },
          'with-more': { subject, names: { dns: ['w1', 'kubernetes.default.svc'], ip: [] } },
        }
        for (const [name, { subject: who, names }] of Object.entries(wishes)) {
          const { request } = await makeRequest('test', who, names)
          await node.create(signingRequests, signingRequest(name, { ...serving, request }))
        }
        const answers = await until(
          'all to be answered',
          async () => {
            const all = await Promise.all(Object.keys(wishes).map(async (name) => answerTo(api, name)))
            return all.every((answer) => answer !== undefined) && all
          },
          { within: minute },
        )
        expect(answers).toEqual(['Approved', 'Denied', 'Denied'])
        await noteManager(
          'requests for certificates of kubelets',
          'its own names approved; another’s name and one more name denied',
        )
      } finally {
        node.close()
      }
    },
  )

  test(
    'an agent that says nothing is seen at its node and in the state of the cluster, and so is its return',
    { timeout: 8 * minute },
    async () => {
      const { api, hosts, operator } = clusterNow()
      const w2 = hosts.find(({ name }) => name === 'w2')
      await w2?.script('systemctl stop hyperkube-agent')
      const began = Date.now()
      let silent = 0
      try {
        await until('its node to say so', async () => (await agentCondition(api, 'w2')) === 'Unknown', {
          within: 5 * minute,
          every: 1000,
        })
        silent = Date.now() - began
        await until('the cluster to say so', async () => (await stateOf(api)) === 'degraded', {
          within: minute,
          every: 1000,
        })
        const { stdout } = await operator.must(1, 'status', '--from-api')
        expect(stdout).toContain('w2')
      } finally {
        await w2?.script('systemctl start hyperkube-agent')
      }
      await until('its node to be well', async () => (await agentCondition(api, 'w2')) === 'True', {
        within: 3 * minute,
        every: 1000,
      })
      await until('the cluster to be well', async () => (await stateOf(api)) === 'well', {
        within: 3 * minute,
        every: 1000,
      })
      await operator.must(0, 'status', '--from-api')
      await noteManager(
        'an agent that says nothing',
        `its node says so after ${(silent / 1000).toFixed(0)} s, the cluster and \`status --from-api\` with it; and so of its return`,
      )
    },
  )

  test(
    'API servers that are restarted one after the other cost nothing',
    { timeout: 8 * minute },
    async () => {
      const { api, hosts } = clusterNow()
      await using witness = new ManagerWitness(api)
      const from = Math.ceil(Date.now() / minute) * minute
      for (const host of controlPlanesOf(hosts)) {
        await host.script('systemctl restart kube-apiserver')
        await until(
          `the API server of ${host.name}`,
          async () =>
            (await host.exec(['curl', '-skf', 'https://127.0.0.1:6443/readyz'], { allowFailure: true }))
              .code === 0,
          { within: 2 * minute, every: 500 },
        )
      }
      expect(await courseOf(witness, from, 2)).toEqual(asItShould)
      await noteManager(
        'API servers restarted one after the other',
        'of two snapshots that fell due none is missing, none was taken twice',
      )
    },
  )

  test('on a cluster that is well nothing is written', { timeout: (calmMinutes + 10) * minute }, async () => {
    const { hosts, operator } = clusterNow()
    await operator.edit((document) => document.deleteIn(['spec', 'etcd', 'snapshots']))
    await operator.must(0, 'up', '--yes')
    // What was done last is told by hosts at their next look.
    await sleep(2 * minute)
    const from = Date.now()
    await sleep(calmMinutes * minute)
    const all = await auditOf(controlPlanesOf(hosts))
    const isController = ({ user }: Audited): boolean => user.startsWith('hyperkube:controller:')
    const written = all.filter((one) => one.at >= from && isWrite(one))
    const ofHosts = written.filter(({ what }) => what === 'hosts/status' || what === 'hosts')
    expect(written.filter(isController)).toEqual([])
    expect(all.filter((one) => isController(one) && one.code === 403)).toEqual([])
    await noteManager(
      'a cluster that is well',
      `in ${calmMinutes} minutes no write by any controller, but for the leader’s lease; ${ofHosts.length} by the agents of ${hosts.length} hosts. In all that came before, no request of a controller was forbidden`,
    )
  })
})

async function led(api: KubeApi): Promise<Leader | undefined> {
  const leader = await leaderOf(api)
  return leader.host === '' ? undefined : leader
}

/** By its own word. */
async function isLeading(host: Host): Promise<boolean> {
  return /^leader_election_master_status\{.*\} 1$/m.test(await managerFigures(host))
}

interface Conditions {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function answerTo(api: KubeApi, name: string): Promise<string | undefined> {
  return answerIn(await api.get<Conditions>(`${signingRequests}/${name}`))
}

async function agentCondition(api: KubeApi, node: string): Promise<string | undefined> {
  const { status } = await api.get<Conditions>(`/api/v1/nodes/${node}`)
  return status.conditions?.find(({ type }) => type === 'HyperkubeAgentReady')?.status
}

async function stateOf(api: KubeApi): Promise<string | undefined> {
  const { items } = await api.get<{ items: readonly { status?: { state: string } }[] }>(
    '/apis/hyperkube.dev/v1/clusterstatuses',
  )
  return items[0]?.status?.state
}

/** Nothing missed, nothing twice, and nobody out of turn. */
const asItShould = { missing: [], twice: [], faults: [] }

/** What became of so many snapshots that fall due from then on. */
async function courseOf(witness: ManagerWitness, from: number, count: number): Promise<object> {
  await sleep(Math.max(0, from + (count - 0.5) * minute - Date.now()))
  const nameAt = (time: number): string =>
    `etcd-${new Date(time).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`
  const due = Array.from({ length: count }, (_, index) => nameAt(from + index * minute))
  return {
    missing: due.filter((name) => !witness.snapshots.has(name)),
    twice: [...witness.done].filter(([, where]) => where.size > 1).map(([id, where]) => [id, ...where]),
    faults: [...witness.faults],
  }
}
