import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { listReadyNodes } from '../support/membership.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

/** Lifetime of the certificates of the cluster, the shortest allowed. */
const certificateLifetime = '20m'
/** Timeout for the renewal of all certificates. Agents renew when a third of the lifetime is left. */
const renewalTimeoutMs = 20 * 60_000

const certificateList = z.object({
  certificates: z.array(
    z.looseObject({
      host: z.string(),
      file: z.string(),
      state: z.string(),
      signedBy: z.string(),
      until: z.string(),
    }),
  ),
})
const requestList = z.object({
  items: z.array(
    z.object({
      spec: z.object({ signerName: z.string(), username: z.string() }),
      status: z.object({ conditions: z.array(z.object({ type: z.string() })).optional() }),
    }),
  ),
})

const ourServices = `for file in $(grep -ls /opt/hyperkube /etc/systemd/system/*.service); do
  unit=$(basename $file)
  echo "$unit $(systemctl show -P InvocationID $unit)"
done`

/** Tests that hosts renew short-lived certificates by themselves, without an operator. */
function renewalSuite(clusterNow: () => UpCluster): void {
  const listCertificates = async () => {
    const { stdout } = await clusterNow().operator.must(0, 'certs', 'list', '-o', 'json')
    return certificateList.parse(JSON.parse(stdout)).certificates
  }

  test('hosts renew every certificate by themselves', { timeout: renewalTimeoutMs + 120_000 }, async () => {
    const cluster = clusterNow()
    const before = await listCertificates()
    expect(new Set(before.map(({ host }) => host)).size).toBe(cluster.hosts.length)
    const invocations = await readInvocations(cluster.hosts)
    const watch = watchNodes(cluster)
    const ends = new Map(before.map((one) => [`${one.host} ${one.file}`, one.until]))
    try {
      await pollUntil(
        'every certificate to be another one',
        async () =>
          (await listCertificates()).every((one) => one.until !== ends.get(`${one.host} ${one.file}`)),
        { timeoutMs: renewalTimeoutMs, intervalMs: 15_000 },
      )
    } finally {
      expect(await watch.end()).toEqual([])
    }
    // All certificates are valid, so an operator has nothing to do.
    const after = await listCertificates()
    expect(after).toHaveLength(before.length)
    expect(new Set(after.map(({ state, signedBy }) => `${state} ${signedBy}`))).toEqual(
      new Set(['good current']),
    )
    await cluster.operator.must(0, 'up', '--dry-run')
    expect(await readInvocations(cluster.hosts)).toEqual(invocations)
  })

  test('only nodes without CA keys request signatures', async () => {
    const { api, hosts } = clusterNow()
    const { items } = requestList.parse(
      await api.get('/apis/certificates.k8s.io/v1/certificatesigningrequests'),
    )
    const renewalRequests = items.filter(({ spec }) => spec.signerName === 'hyperkube.dev/renewal')
    const workers = hosts.filter(({ name }) => name.startsWith('w')).map(({ name }) => `system:node:${name}`)
    expect(new Set(renewalRequests.map(({ spec }) => spec.username))).toEqual(new Set(workers))
    expect(
      renewalRequests.flatMap(({ status }) => (status.conditions ?? []).map(({ type }) => type)),
    ).toEqual(renewalRequests.map(() => 'Approved'))
  })

  test(
    'the cluster stays Ready after the previous certificates have expired',
    { timeout: renewalTimeoutMs },
    async () => {
      const cluster = clusterNow()
      const previousEnd = Math.max(...(await listCertificates()).map(({ until: end }) => Date.parse(end)))
      const watch = watchNodes(cluster)
      await pollUntil(
        'the first ones to be renewed once more',
        async () => {
          const all = await listCertificates()
          return all.some(({ until: end }) => Date.parse(end) > previousEnd)
        },
        { timeoutMs: renewalTimeoutMs, intervalMs: 15_000 },
      )
      expect(await watch.end()).toEqual([])
    },
  )
}

/** Reads the invocation ids of hyperkube's services. An id changes when its service restarts. */
async function readInvocations(hosts: readonly Host[]): Promise<string[]> {
  return settleAll(hosts.map(async (host) => `${host.name}\n${(await host.script(ourServices)).stdout}`))
}

/**
 * Polls the nodes until `end` is called. `end` returns the names of nodes that were not Ready in at least one
 * poll.
 */
function watchNodes({ api, hosts }: UpCluster): { end(): Promise<string[]> } {
  const missed = new Set<string>()
  const stop = new AbortController()
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const ready = await listReadyNodes(api)
      for (const { name } of hosts) if (!ready.includes(name)) missed.add(name)
      await sleep(1000, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  })()
  // Prevents an unhandled rejection. `end` awaits the same promise and gets its error.
  watching.catch(() => undefined)
  return {
    async end() {
      stop.abort()
      await watching
      return [...missed]
    },
  }
}

describe('certificate renewal by hosts', () => {
  const clusterNow = setUpCluster('renewal', '3+1', '1.37.1', {
    prepare: async ({ edit }) =>
      edit((document) => document.setIn(['spec', 'certificates', 'lifetime'], certificateLifetime)),
  })
  renewalSuite(clusterNow)
})
