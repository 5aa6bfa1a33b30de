import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { startBareCluster } from '../../lab/bench/bare-cluster.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { memberAddLearner, memberPromote, memberRemove, transferLeadership } from '../../src/etcd/changes.ts'
import { EtcdClient } from '../../src/etcd/client.ts'
import { checkEtcdHealth } from '../../src/etcd/cluster-health.ts'
import type { EtcdObservation } from '../../src/etcd/member.ts'
import { observeEtcd } from '../../src/etcd/observe.ts'
import { quorumAfterLosing, quorumAfterRemoving } from '../../src/etcd/quorum.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { SuiteSize } from '../support/executable-setup.ts'
import { openFreshLab } from '../support/lab.ts'

const pki = '/etc/kubernetes/pki'

/** Kubernetes version for each suite size. The two Kubernetes versions come with different etcd versions. */
const versions: Readonly<Record<SuiteSize, KubernetesVersion>> = { ci: 'v1.37.1', full: 'v1.36.4' }
const kubernetes = versions[inject('size')]

describe(`etcd of Kubernetes ${kubernetes}`, () => {
  let lab: Lab
  let hosts: readonly Host[]
  let client: EtcdClient

  beforeAll(async () => {
    lab = await openFreshLab('etcd')
    const options = { shape: '3+0', kubernetes, cache: cacheDirectory(), report: silentReport }
    const { api } = await startBareCluster(lab, options)
    api.close()
    hosts = await lab.hosts()
    const [first] = hosts
    if (first === undefined) throw new Error('there is no host')
    client = await createEtcdClient(first, hosts)
  })
  afterAll(async () => {
    try {
      client.close()
    } finally {
      await lab.down()
    }
  })

  async function waitForHealthy(voters: number): Promise<EtcdObservation> {
    return pollUntil(
      `${voters} voters to be healthy`,
      async () => {
        const observed = await observeEtcd(client)
        const readyMembers = [...observed.health.values()].filter(({ ready }) => ready)
        return (
          observed.confirmed &&
          readyMembers.length === voters &&
          observed.members.length === voters &&
          observed
        )
      },
      { timeoutMs: 90_000 },
    )
  }

  function findLeader({ members, statuses }: EtcdObservation): string | undefined {
    return members.find(({ id }) => statuses.get(id)?.leader === id)?.name
  }

  test('three members are healthy and agree on the leader', async () => {
    const observed = await waitForHealthy(3)
    expect(observed.members.map(({ name }) => name).toSorted()).toEqual(['cp1', 'cp2', 'cp3'])
    expect(observed.members.flatMap(({ clientUrls }) => clientUrls).toSorted()).toEqual(
      hosts.map(({ address }) => `https://${address}:2379`).toSorted(),
    )
    expect(checkEtcdHealth(observed)).toEqual([])
    const etcdVersions = [...observed.statuses.values()].map(({ version }) => version)
    expect(new Set(etcdVersions)).toEqual(new Set([selectVersions(kubernetes).etcd.slice(1)]))
    expect(new Set([...observed.statuses.values()].map(({ leader }) => leader)).size).toBe(1)
    for (const { name } of observed.members) {
      expect(quorumAfterLosing(observed.members, observed.health, name).hasQuorum).toBe(true)
    }
    for (const [id, status] of observed.statuses) {
      expect(status).toMatchObject({ id, learner: false, errors: [] })
      expect(status.size).toBeGreaterThan(0)
      expect(status.raftIndex).toBeGreaterThan(0)
    }
  })

  test('member ids match those of etcdctl', async () => {
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

  test('leadership moves to the requested member', async () => {
    const observed = await waitForHealthy(3)
    const next = observed.members.find(({ name }) => name !== findLeader(observed))
    expect(await transferLeadership(client, observed, next?.name ?? '')).toBe(true)
    const afterMove = await pollUntil(
      'the new leader',
      async () => {
        const observation = await observeEtcd(client)
        return findLeader(observation) === next?.name && observation
      },
      { timeoutMs: 30_000 },
    )
    expect(await transferLeadership(client, afterMove, next?.name ?? '')).toBe(false)
  })

  test('with one member stopped, that member is named and no other member can be removed', async () => {
    const cp3 = await lab.host('cp3')
    await cp3.exec(['systemctl', 'stop', 'etcd'])
    const observed = await pollUntil(
      'a quorum of two',
      async () => {
        const observation = await observeEtcd(client)
        return (
          observation.confirmed &&
          [...observation.health.values()].filter(({ ready }) => ready).length === 2 &&
          observation
        )
      },
      { timeoutMs: 60_000 },
    )
    expect(checkEtcdHealth(observed)).toMatchObject([
      { code: 'ETCD_MEMBER_UNREACHABLE', severity: 'warning', host: 'cp3', component: 'etcd' },
    ])
    const { members, health } = observed
    const quorumKept = (name: string): boolean[] => [
      quorumAfterLosing(members, health, name).hasQuorum,
      quorumAfterRemoving(members, health, name).hasQuorum,
    ]
    expect(['cp1', 'cp2', 'cp3'].map(quorumKept)).toEqual([
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

  test('with two members stopped there is no quorum, and member changes are refused', async () => {
    const cp2 = await lab.host('cp2')
    await cp2.exec(['systemctl', 'stop', 'etcd'])
    const observed = await observeEtcd(client)
    expect(observed.confirmed).toBe(false)
    expect(observed.members.map(({ name }) => name).toSorted()).toEqual(['cp1', 'cp2', 'cp3'])
    expect(checkEtcdHealth(observed).map(({ code, host }) => [code, host])).toEqual(
      expect.arrayContaining([
        ['ETCD_NO_QUORUM', undefined],
        ['ETCD_MEMBER_UNREADY', 'cp1'],
        ['ETCD_MEMBER_UNREACHABLE', 'cp2'],
        ['ETCD_MEMBER_UNREACHABLE', 'cp3'],
      ]),
    )
    await expect(memberRemove(client, observed, 'cp3')).rejects.toMatchObject({
      code: 'ETCD_MEMBERS_UNKNOWN',
    })
    for (const name of ['cp2', 'cp3']) await (await lab.host(name)).exec(['systemctl', 'start', 'etcd'])
    await waitForHealthy(3)
  })

  test('a learner is added, catches up, is promoted and is removed', async () => {
    const cp1 = await lab.host('cp1')
    const [peerUrl, clientUrl] = [`https://${cp1.address}:2390`, `https://${cp1.address}:2389`]
    const before = await waitForHealthy(3)
    const added = await pollUntil(
      'etcd to take a learner',
      async () => memberAddLearner(client, before, peerUrl),
      {
        timeoutMs: 30_000,
      },
    )
    expect(added).toMatchObject({ learner: true, name: '', peerUrls: [peerUrl] })
    const unstarted = await observeEtcd(client)
    expect(checkEtcdHealth(unstarted).map(({ code }) => code)).toEqual(['ETCD_MEMBER_UNSTARTED'])
    expect((await memberAddLearner(client, unstarted, peerUrl)).id).toBe(added.id)
    await expect(memberAddLearner(client, unstarted, `${peerUrl}1`)).rejects.toMatchObject({
      code: 'ETCD_LEARNER',
    })
    await expect(memberPromote(client, unstarted, added.id)).rejects.toMatchObject({ code: 'ETCD_REFUSED' })

    await startLearner(cp1, before, peerUrl, clientUrl)
    const learning = await pollUntil(
      'the learner to know all',
      async () => {
        const observation = await observeEtcd(client)
        const status = observation.statuses.get(added.id)
        return status?.learner === true && status.raftAppliedIndex > 0 && observation
      },
      { timeoutMs: 60_000 },
    )
    expect(learning.health.get(added.id)).toMatchObject({ live: true, ready: false })
    expect(checkEtcdHealth(learning)).toMatchObject([{ code: 'ETCD_LEARNER', host: 'learner' }])
    expect(quorumAfterLosing(learning.members, learning.health, 'learner').voters).toBe(3)

    await pollUntil('the learner to vote', async () => memberPromote(client, learning, 'learner'), {
      timeoutMs: 60_000,
    })
    const four = await waitForHealthy(4)
    expect(checkEtcdHealth(four)).toEqual([])
    expect((await memberPromote(client, four, 'learner')).members).toHaveLength(4)

    await memberRemove(client, four, 'learner')
    expect((await memberRemove(client, four, 'learner')).members).toHaveLength(3)
    expect(checkEtcdHealth(await waitForHealthy(3))).toEqual([])
  })
})

/** Creates a client with the etcd client certificate of the API server on `host`. */
async function createEtcdClient(host: Host, members: readonly Host[]): Promise<EtcdClient> {
  const readPki = async (file: string): Promise<string> => (await host.exec(['cat', `${pki}/${file}`])).stdout
  return new EtcdClient({
    endpoints: members.map(({ address }) => `https://${address}:2379`),
    ca: await readPki('etcd-ca.crt'),
    credentials: {
      certificate: await readPki('apiserver-etcd-client.crt'),
      privateKey: await readPki('apiserver-etcd-client.key'),
    },
    signal: new AbortController().signal,
  })
}

/** Starts a second etcd on a host as a learner, with the certificate of the first etcd and other ports. */
async function startLearner(
  host: Host,
  { members }: EtcdObservation,
  peerUrl: string,
  clientUrl: string,
): Promise<void> {
  const cluster = [...members.map(({ name, peerUrls }) => `${name}=${peerUrls[0]}`), `learner=${peerUrl}`]
  await host.exec([
    ...(['systemd-run', '--quiet', '--unit=learner', '/usr/local/bin/etcd', '--name=learner'] as const),
    '--data-dir=/var/lib/etcd/learner',
    ...[`--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`],
    ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
    ...[`--initial-cluster=${cluster.join(',')}`, '--initial-cluster-state=existing'],
    ...['--client-cert-auth', `--trusted-ca-file=${pki}/etcd-ca.crt`],
    ...[`--cert-file=${pki}/etcd.crt`, `--key-file=${pki}/etcd.key`],
    ...['--peer-client-cert-auth', `--peer-trusted-ca-file=${pki}/etcd-ca.crt`],
    ...[`--peer-cert-file=${pki}/etcd.crt`, `--peer-key-file=${pki}/etcd.key`],
  ])
}
