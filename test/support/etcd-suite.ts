import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBareCluster } from '../../lab/bench/bare-cluster.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { versionsFor } from '../../lab/cluster/artifacts.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { memberAddLearner, memberPromote, memberRemove, moveLeader } from '../../src/etcd/changes.ts'
import { EtcdClient } from '../../src/etcd/client.ts'
import { clusterHealth } from '../../src/etcd/cluster-health.ts'
import type { Observation } from '../../src/etcd/member.ts'
import { observe } from '../../src/etcd/observe.ts'
import { quorumAfterLosing, quorumAfterRemoving } from '../../src/etcd/quorum.ts'
import { until } from '../../src/kit/poll-until.ts'
import { freshLab } from './lab.ts'

const pki = '/etc/kubernetes/pki'

/** What our client sees of a real etcd, and what it does to it, member by member. */
export function etcdSuite(kubernetes: KubernetesVersion): void {
  describe(`etcd of Kubernetes ${kubernetes}`, () => {
    suite(kubernetes)
  })
}

function suite(kubernetes: KubernetesVersion): void {
  let lab: Lab
  let hosts: readonly Host[]
  let client: EtcdClient

  beforeAll(async () => {
    lab = await freshLab('etcd')
    const wish = { shape: '3+0', kubernetes, cache: cacheDirectory(), report: silentReport }
    const { api } = await startBareCluster(lab, wish)
    api.close()
    hosts = await lab.hosts()
    const [first] = hosts
    if (first === undefined) throw new Error('there is no host')
    client = await clientAt(first, hosts)
  })
  afterAll(async () => {
    try {
      client.close()
    } finally {
      await lab.down()
    }
  })

  async function healthy(voters: number): Promise<Observation> {
    return until(
      `${voters} voters to be well`,
      async () => {
        const observed = await observe(client)
        const well = [...observed.health.values()].filter(({ ready }) => ready)
        return observed.confirmed && well.length === voters && observed.members.length === voters && observed
      },
      { within: 90_000 },
    )
  }

  function leaderOf({ members, statuses }: Observation): string | undefined {
    return members.find(({ id }) => statuses.get(id)?.leader === id)?.name
  }

  test('three members, all well', async () => {
    const observed = await healthy(3)
    expect(observed.members.map(({ name }) => name).toSorted()).toEqual(['cp1', 'cp2', 'cp3'])
    expect(observed.members.flatMap(({ clientUrls }) => clientUrls).toSorted()).toEqual(
      hosts.map(({ address }) => `https://${address}:2379`).toSorted(),
    )
    expect(clusterHealth(observed)).toEqual([])
    const versions = [...observed.statuses.values()].map(({ version }) => version)
    expect(new Set(versions)).toEqual(new Set([versionsFor(kubernetes).etcd.slice(1)]))
    expect(new Set([...observed.statuses.values()].map(({ leader }) => leader)).size).toBe(1)
    for (const { name } of observed.members) {
      expect(quorumAfterLosing(observed.members, observed.health, name).kept).toBe(true)
    }
    for (const [id, status] of observed.statuses) {
      expect(status).toMatchObject({ id, learner: false, errors: [] })
      expect(status.size).toBeGreaterThan(0)
      expect(status.raftIndex).toBeGreaterThan(0)
    }
  })

  test('ids are what etcdctl shows', async () => {
    const { members } = await client.members()
    const { stdout } = await (
      await lab.host('cp1')
    ).script(`etcdctl --cacert=${pki}/etcd-ca.crt --cert=${pki}/etcd.crt --key=${pki}/etcd.key member list`)
    const shown = stdout
      .trim()
      .split('\n')
      .map((row) => row.split(',')[0] ?? '')
    expect(members.map(({ id }) => id).toSorted()).toEqual(shown.toSorted())
  })

  test('leadership moves where it is told to', async () => {
    const observed = await healthy(3)
    const next = observed.members.find(({ name }) => name !== leaderOf(observed))
    expect(await moveLeader(client, observed, next?.name ?? '')).toBe(true)
    const led = await until(
      'the new leader',
      async () => {
        const seen = await observe(client)
        return leaderOf(seen) === next?.name && seen
      },
      { within: 30_000 },
    )
    expect(await moveLeader(client, led, next?.name ?? '')).toBe(false)
  })

  test('one stopped: it is named, and nobody else may go', async () => {
    const cp3 = await lab.host('cp3')
    await cp3.exec(['systemctl', 'stop', 'etcd'])
    const observed = await until(
      'a quorum of two',
      async () => {
        const seen = await observe(client)
        return seen.confirmed && [...seen.health.values()].filter(({ ready }) => ready).length === 2 && seen
      },
      { within: 60_000 },
    )
    expect(clusterHealth(observed)).toMatchObject([
      { code: 'ETCD_MEMBER_AWAY', severity: 'warning', host: 'cp3', component: 'etcd' },
    ])
    const { members, health } = observed
    const kept = (name: string): boolean[] => [
      quorumAfterLosing(members, health, name).kept,
      quorumAfterRemoving(members, health, name).kept,
    ]
    expect(['cp1', 'cp2', 'cp3'].map(kept)).toEqual([
      [false, false],
      [false, false],
      [true, true],
    ])
    await expect(memberRemove(client, observed, 'cp1')).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
    await expect(memberAddLearner(client, observed, 'https://10.210.0.99:2380')).rejects.toMatchObject({
      code: 'ETCD_QUORUM',
    })
    expect((await client.members()).members).toHaveLength(3)
  })

  test('two stopped: no quorum, and nothing is changed', async () => {
    const cp2 = await lab.host('cp2')
    await cp2.exec(['systemctl', 'stop', 'etcd'])
    const observed = await observe(client)
    expect(observed.confirmed).toBe(false)
    expect(observed.members.map(({ name }) => name).toSorted()).toEqual(['cp1', 'cp2', 'cp3'])
    expect(clusterHealth(observed).map(({ code, host }) => [code, host])).toEqual(
      expect.arrayContaining([
        ['ETCD_NO_QUORUM', undefined],
        ['ETCD_MEMBER_UNREADY', 'cp1'],
        ['ETCD_MEMBER_AWAY', 'cp2'],
        ['ETCD_MEMBER_AWAY', 'cp3'],
      ]),
    )
    await expect(memberRemove(client, observed, 'cp3')).rejects.toMatchObject({
      code: 'ETCD_MEMBERS_UNKNOWN',
    })
    for (const name of ['cp2', 'cp3']) await (await lab.host(name)).exec(['systemctl', 'start', 'etcd'])
    await healthy(3)
  })

  test('a learner comes, learns, votes, and goes', async () => {
    const cp1 = await lab.host('cp1')
    const [peer, own] = [`https://${cp1.address}:2390`, `https://${cp1.address}:2389`]
    const before = await healthy(3)
    const added = await until('etcd to take a learner', async () => memberAddLearner(client, before, peer), {
      within: 30_000,
    })
    expect(added).toMatchObject({ learner: true, name: '', peerUrls: [peer] })
    const unstarted = await observe(client)
    expect(clusterHealth(unstarted).map(({ code }) => code)).toEqual(['ETCD_MEMBER_UNSTARTED'])
    expect((await memberAddLearner(client, unstarted, peer)).id).toBe(added.id)
    await expect(memberAddLearner(client, unstarted, `${peer}1`)).rejects.toMatchObject({
      code: 'ETCD_LEARNER',
    })
    await expect(memberPromote(client, unstarted, added.id)).rejects.toMatchObject({ code: 'ETCD_REFUSED' })

    await startLearner(cp1, before, peer, own)
    const learning = await until(
      'the learner to know all',
      async () => {
        const seen = await observe(client)
        const status = seen.statuses.get(added.id)
        return status?.learner === true && status.raftAppliedIndex > 0 && seen
      },
      { within: 60_000 },
    )
    expect(learning.health.get(added.id)).toMatchObject({ live: true, ready: false })
    expect(clusterHealth(learning)).toMatchObject([{ code: 'ETCD_LEARNER', host: 'learner' }])
    expect(quorumAfterLosing(learning.members, learning.health, 'learner').voters).toBe(3)

    await until('the learner to vote', async () => memberPromote(client, learning, 'learner'), {
      within: 60_000,
    })
    const four = await healthy(4)
    expect(clusterHealth(four)).toEqual([])
    expect((await memberPromote(client, four, 'learner')).members).toHaveLength(4)

    await memberRemove(client, four, 'learner')
    expect((await memberRemove(client, four, 'learner')).members).toHaveLength(3)
    expect(clusterHealth(await healthy(3))).toEqual([])
  })
}

/** With the certificate that the host's own etcd has: it is good for clients, too. */
async function clientAt(host: Host, members: readonly Host[]): Promise<EtcdClient> {
  const read = async (file: string): Promise<string> => (await host.exec(['cat', `${pki}/${file}`])).stdout
  return new EtcdClient({
    endpoints: members.map(({ address }) => `https://${address}:2379`),
    authority: await read('etcd-ca.crt'),
    credentials: {
      certificate: await read('apiserver-etcd-client.crt'),
      privateKey: await read('apiserver-etcd-client.key'),
    },
    signal: new AbortController().signal,
  })
}

/** A second etcd on a host, under its certificate and with other ports. */
async function startLearner(host: Host, { members }: Observation, peer: string, own: string): Promise<void> {
  const cluster = [...members.map(({ name, peerUrls }) => `${name}=${peerUrls[0]}`), `learner=${peer}`]
  await host.exec([
    ...(['systemd-run', '--quiet', '--unit=learner', '/usr/local/bin/etcd', '--name=learner'] as const),
    '--data-dir=/var/lib/etcd/learner',
    ...[`--listen-client-urls=${own}`, `--advertise-client-urls=${own}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
    ...[`--initial-cluster=${cluster.join(',')}`, '--initial-cluster-state=existing'],
    ...['--client-cert-auth', `--trusted-ca-file=${pki}/etcd-ca.crt`],
    ...[`--cert-file=${pki}/etcd.crt`, `--key-file=${pki}/etcd.key`],
    ...['--peer-client-cert-auth', `--peer-trusted-ca-file=${pki}/etcd-ca.crt`],
    ...[`--peer-cert-file=${pki}/etcd.crt`, `--peer-key-file=${pki}/etcd.key`],
  ])
}
