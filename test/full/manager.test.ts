import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { controllers } from '../../src/manager/table.ts'
import { servingSigner } from '../../src/pki/check-serving-request.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import { type AuditEntry, readAudit, isWrite } from '../support/manager-audit.ts'
import { selectControlPlanes, fetchManagerMetrics } from '../support/manager-hosts.ts'
import { recordManagerEvidence } from '../support/manager-evidence.ts'
import { comparePermissions } from '../support/manager-permissions.ts'
import { type Leader, readLeader, HostRequestObserver } from '../support/host-request-observer.ts'
import { installFakeClock, setClockOffset, removeFakeClock } from '../support/fake-clock.ts'
import { findDecision, buildSigningRequest, signingRequestsPath } from '../support/signing-requests.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const service = 'hyperkube-controller-manager'
const minute = 60_000
/** Maximum time in milliseconds from the fault until another leader holds the lease. */
const maxFailoverMs = 20_000
/** Minutes for which a healthy cluster is observed. */
const quietMinutes = Number(process.env['MANAGER_QUIET_MINUTES'] ?? 10)

/** A fault of the leading controller manager. */
interface LeaderFault {
  readonly what: string
  readonly inject: (host: Host) => Promise<void>
  readonly undo: (host: Host) => Promise<void>
}

const faultTable = 'manager_fault'

const leaderFaults: readonly LeaderFault[] = [
  {
    what: 'killed',
    inject: async (host) => void (await host.script(`systemctl kill -s KILL ${service}`)),
    undo: async () => undefined,
  },
  {
    what: 'stopped, and resumed later',
    inject: async (host) => void (await host.script(`systemctl kill -s STOP ${service}`)),
    undo: async (host) => void (await host.script(`systemctl kill -s CONT ${service} || true`)),
  },
  {
    what: 'cut off from the API',
    // Drops packets of the manager's user only, so other processes on the host are unaffected.
    inject: async (host) =>
      void (await host.script(`nft -f - <<END
table inet ${faultTable} {
  chain out { type filter hook output priority -300; meta skuid ${service} tcp dport 6443 drop; }
}
END`)),
    undo: async (host) => void (await host.script(`nft delete table inet ${faultTable} || true`)),
  },
]

describe('the controller manager of a cluster', () => {
  const clusterNow = setUpCluster('manager', '3+2', '1.37.1', {
    prepare: async ({ edit }) =>
      edit((document) =>
        document.setIn(['spec', 'etcd'], {
          snapshots: { schedule: '* * * * *', keep: { hourly: 3, daily: 1, weekly: 1 } },
        }),
      ),
  })

  test.each(leaderFaults)(
    'another leader takes over from a leader that is $what',
    { timeout: 6 * minute },
    async ({ what, inject, undo }) => {
      const { api, hosts } = clusterNow()
      const before = await pollUntil('a leader', async () => findLeader(api), { timeoutMs: minute })
      await using witness = new HostRequestObserver(api)
      const host = hosts.find(({ name }) => name === before.host)
      if (host === undefined) throw new Error(`${before.host} leads, and is none of the hosts`)
      const startedAt = Date.now()
      let took = 0
      await inject(host)
      try {
        const after = await pollUntil(
          'another leader',
          async () => {
            const now = await readLeader(api)
            return now.identity !== before.identity && now.host !== '' && now
          },
          { timeoutMs: minute, intervalMs: 200 },
        )
        took = Date.now() - startedAt
        expect(after.transitions).toBeGreaterThan(before.transitions)
        expect(took).toBeLessThan(maxFailoverMs)
        // The new leader must send requests to hosts, even while the previous leader may still believe that
        // it leads.
        await pollUntil(
          'hosts to have received requests of the new one',
          async () => witness.highest >= after.transitions,
          {
            timeoutMs: 2 * minute,
            intervalMs: 500,
          },
        )
      } finally {
        await undo(host)
      }
      expect(await checkSnapshots(witness, Math.ceil(startedAt / minute) * minute, 3)).toEqual(noProblems)
      await recordManagerEvidence(
        `a leader that is ${what}`,
        `another leads after ${(took / 1000).toFixed(1)} s; of three due snapshots none is missing, none was taken twice, no host received a lower fence`,
      )
    },
  )

  test(
    'a leader whose clock jumps never leads at the same time as another',
    { timeout: 12 * minute },
    async () => {
      const { api, hosts } = clusterNow()
      const controlPlanes = selectControlPlanes(hosts)
      await installFakeClock(controlPlanes, service)
      for (const host of controlPlanes) await host.script(`systemctl restart ${service}`)
      try {
        const before = await pollUntil('a leader', async () => findLeader(api), { timeoutMs: minute })
        const host = controlPlanes.find(({ name }) => name === before.host)
        if (host === undefined) throw new Error(`${before.host} leads, and is none of the hosts`)
        const leaders: string[] = []
        for (const offset of [7200, -7200, 0]) {
          await setClockOffset(host, offset)
          const deadline = Date.now() + 45_000
          while (Date.now() < deadline) {
            const leading = await Promise.all(controlPlanes.map(isLeading))
            expect(
              leading.filter(Boolean).length,
              `leaders with a clock that is ${offset} s wrong`,
            ).toBeLessThan(2)
            await sleep(250)
          }
          leaders.push((await readLeader(api)).identity)
          expect(leaders).not.toContain('')
        }
        await using witness = new HostRequestObserver(api)
        expect(await checkSnapshots(witness, Math.ceil(Date.now() / minute) * minute, 2)).toEqual(noProblems)
        await recordManagerEvidence(
          'a leader whose clock jumps by two hours, both ways',
          `${new Set([before.identity, ...leaders]).size} in all led, never two at once by their own report; once the clock was right, nothing was missing or duplicate`,
        )
      } finally {
        for (const host of controlPlanes) {
          await removeFakeClock(host, service)
          await host.script(`systemctl restart ${service}`)
        }
      }
    },
  )

  test('each identity has exactly the permissions of its row', { timeout: 5 * minute }, async () => {
    const enabledControllers = controllers.filter(({ byDefault }) => byDefault)
    const { checked, allowed, problems } = await comparePermissions(clusterNow().api, enabledControllers)
    expect(allowed).toBeGreaterThan(0)
    expect(problems).toEqual([])
    await recordManagerEvidence(
      'permissions, as the API reports them',
      `${checked} access reviews for ${enabledControllers.length} controllers, the manager and the shared informers: ${allowed} allowed, all as in the table`,
    )
  })

  test('a kubelet gets a certificate for its own names only', { timeout: 5 * minute }, async () => {
    const { api, hosts, identity } = clusterNow()
    const w1 = hosts.find(({ name }) => name === 'w1')
    const node = new KubeApi(
      `https://${hosts[0]?.address}:6443`,
      await issueClientCertificate(identity, 'kubernetes', 'system:node:w1', ['system:nodes']),
    )
    try {
      const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
      const serving = { signerName: servingSigner, usages: ['digital signature', 'server auth'] }
      const requests = {
        own: { subject, names: { dns: ['w1'], ip: [w1?.address ?? ''] } },
        'of-another': { subject, names: { dns: ['cp1'], ip: [] } },
        'with-more': { subject, names: { dns: ['w1', 'kubernetes.default.svc'], ip: [] } },
      }
      for (const [name, { subject: requestSubject, names }] of Object.entries(requests)) {
        const { request } = await makeRequest('test', requestSubject, names)
        await node.create(signingRequestsPath, buildSigningRequest(name, { ...serving, request }))
      }
      const decisions = await pollUntil(
        'all to be decided',
        async () => {
          const all = await Promise.all(Object.keys(requests).map(async (name) => getDecision(api, name)))
          return all.every((decision) => decision !== undefined) && all
        },
        { timeoutMs: minute },
      )
      expect(decisions).toEqual(['Approved', 'Denied', 'Denied'])
      await recordManagerEvidence(
        'requests for certificates of kubelets',
        'its own names approved; another’s name and one more name denied',
      )
    } finally {
      node.close()
    }
  })

  test(
    'a silent agent is reported at its node and in the cluster status, and so is its return',
    { timeout: 8 * minute },
    async () => {
      const { api, hosts, operator } = clusterNow()
      const w2 = hosts.find(({ name }) => name === 'w2')
      await w2?.script('systemctl stop hyperkube-agent')
      const startedAt = Date.now()
      let silentMs = 0
      try {
        await pollUntil('its node to say so', async () => (await agentCondition(api, 'w2')) === 'Unknown', {
          timeoutMs: 5 * minute,
          intervalMs: 1000,
        })
        silentMs = Date.now() - startedAt
        await pollUntil('the cluster to say so', async () => (await readClusterState(api)) === 'degraded', {
          timeoutMs: minute,
          intervalMs: 1000,
        })
        const { stdout } = await operator.must(1, 'status', '--from-api')
        expect(stdout).toContain('w2')
      } finally {
        await w2?.script('systemctl start hyperkube-agent')
      }
      await pollUntil('its node to be healthy', async () => (await agentCondition(api, 'w2')) === 'True', {
        timeoutMs: 3 * minute,
        intervalMs: 1000,
      })
      await pollUntil('the cluster to be healthy', async () => (await readClusterState(api)) === 'healthy', {
        timeoutMs: 3 * minute,
        intervalMs: 1000,
      })
      await operator.must(0, 'status', '--from-api')
      await recordManagerEvidence(
        'an agent that sends no heartbeat',
        `its node reports it after ${(silentMs / 1000).toFixed(0)} s, with the cluster and \`status --from-api\`; its return is reported too`,
      )
    },
  )

  test(
    'a rolling restart of API servers loses and duplicates no snapshot',
    { timeout: 8 * minute },
    async () => {
      const { api, hosts } = clusterNow()
      await using witness = new HostRequestObserver(api)
      const from = Math.ceil(Date.now() / minute) * minute
      for (const host of selectControlPlanes(hosts)) {
        await host.script('systemctl restart kube-apiserver')
        await pollUntil(
          `the API server of ${host.name}`,
          async () =>
            (await host.exec(['curl', '-skf', 'https://127.0.0.1:6443/readyz'], { allowFailure: true }))
              .code === 0,
          { timeoutMs: 2 * minute, intervalMs: 500 },
        )
      }
      expect(await checkSnapshots(witness, from, 2)).toEqual(noProblems)
      await recordManagerEvidence(
        'API servers restarted one after the other',
        'of two due snapshots none is missing, none was taken twice',
      )
    },
  )

  test(
    'controllers write nothing to a healthy cluster',
    { timeout: (quietMinutes + 10) * minute },
    async () => {
      const { hosts, operator } = clusterNow()
      await operator.edit((document) => document.deleteIn(['spec', 'etcd', 'snapshots']))
      await operator.must(0, 'up', '--yes')
      // Waits until hosts have reported their last results, which they do at the next heartbeat.
      await sleep(2 * minute)
      const from = Date.now()
      await sleep(quietMinutes * minute)
      const all = await readAudit(selectControlPlanes(hosts))
      const isController = ({ user }: AuditEntry): boolean => user.startsWith('hyperkube:controller:')
      const written = all.filter((one) => one.at >= from && isWrite(one))
      const hostWrites = written.filter(({ what }) => what === 'hosts/status' || what === 'hosts')
      expect(written.filter(isController)).toEqual([])
      expect(all.filter((one) => isController(one) && one.code === 403)).toEqual([])
      await recordManagerEvidence(
        'a healthy cluster',
        `in ${quietMinutes} minutes no write by any controller, except for the leader’s lease; ${hostWrites.length} by the agents of ${hosts.length} hosts. In all tests before, no request of a controller was forbidden`,
      )
    },
  )
})

async function findLeader(api: KubeApi): Promise<Leader | undefined> {
  const leader = await readLeader(api)
  return leader.host === '' ? undefined : leader
}

/** True if the manager on the host reports that it leads. */
async function isLeading(host: Host): Promise<boolean> {
  return /^leader_election_master_status\{.*\} 1$/m.test(await fetchManagerMetrics(host))
}

interface Conditions {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function getDecision(api: KubeApi, name: string): Promise<string | undefined> {
  return findDecision(await api.get<Conditions>(`${signingRequestsPath}/${name}`))
}

async function agentCondition(api: KubeApi, node: string): Promise<string | undefined> {
  const { status } = await api.get<Conditions>(`/api/v1/nodes/${node}`)
  return status.conditions?.find(({ type }) => type === 'HyperkubeAgentReady')?.status
}

async function readClusterState(api: KubeApi): Promise<string | undefined> {
  const { items } = await api.get<{ items: readonly { status?: { state: string } }[] }>(
    '/apis/hyperkube.dev/v1/clusterstatuses',
  )
  return items[0]?.status?.state
}

/**
 * Expected result of `checkSnapshots`: all snapshots exist, each was taken once, and previous leaders did not
 * act.
 */
const noProblems = { missing: [], duplicates: [], faults: [] }

/**
 * Waits for `count` snapshots, one per minute from `from` on. Returns missing snapshots, duplicates and
 * fencing violations.
 */
async function checkSnapshots(witness: HostRequestObserver, from: number, count: number): Promise<object> {
  await sleep(Math.max(0, from + (count - 0.5) * minute - Date.now()))
  const nameAt = (time: number): string =>
    `etcd-${new Date(time).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`
  const due = Array.from({ length: count }, (_, index) => nameAt(from + index * minute))
  return {
    missing: due.filter((name) => !witness.snapshots.has(name)),
    duplicates: [...witness.done].filter(([, where]) => where.size > 1).map(([id, where]) => [id, ...where]),
    faults: [...witness.violations],
  }
}
