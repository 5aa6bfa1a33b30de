import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { nodesReady } from './membership.ts'
import type { UpCluster } from './up-cluster.ts'

/** What certificates of the cluster are good for: the shortest that there is. */
export const lifetime = '20m'
/** All are renewed when a third of their lifetime is left, and after that nobody may be left behind. */
const patience = 20 * 60_000

const list = z.object({
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
const requests = z.object({
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

/** A cluster whose certificates live for minutes goes on by itself. Nobody types anything that changes it. */
export function renewalSuite(clusterNow: () => UpCluster): void {
  const listed = async () => {
    const { stdout } = await clusterNow().operator.must(0, 'certs', 'list', '-o', 'json')
    return list.parse(JSON.parse(stdout)).certificates
  }

  test(
    'every certificate of every host is renewed by the hosts',
    { timeout: patience + 120_000 },
    async () => {
      const cluster = clusterNow()
      const before = await listed()
      expect(new Set(before.map(({ host }) => host)).size).toBe(cluster.hosts.length)
      const invocations = await services(cluster.hosts)
      const watch = watchNodes(cluster)
      const ends = new Map(before.map((one) => [`${one.host} ${one.file}`, one.until]))
      try {
        await until(
          'every certificate to be another one',
          async () => (await listed()).every((one) => one.until !== ends.get(`${one.host} ${one.file}`)),
          { within: patience, every: 15_000 },
        )
      } finally {
        expect(await watch.end()).toEqual([])
      }
      // Nothing is left to an operator.
      const after = await listed()
      expect(after).toHaveLength(before.length)
      expect(new Set(after.map(({ state, signedBy }) => `${state} ${signedBy}`))).toEqual(
        new Set(['good current']),
      )
      await cluster.operator.must(0, 'up', '--dry-run')
      expect(await services(cluster.hosts)).toEqual(invocations)
    },
  )

  test('nodes without keys of authorities have asked, and nobody else', async () => {
    const { api, hosts } = clusterNow()
    const { items } = requests.parse(await api.get('/apis/certificates.k8s.io/v1/certificatesigningrequests'))
    const ours = items.filter(({ spec }) => spec.signerName === 'hyperkube.dev/renewal')
    const workers = hosts.filter(({ name }) => name.startsWith('w')).map(({ name }) => `system:node:${name}`)
    expect(new Set(ours.map(({ spec }) => spec.username))).toEqual(new Set(workers))
    expect(ours.flatMap(({ status }) => (status.conditions ?? []).map(({ type }) => type))).toEqual(
      ours.map(() => 'Approved'),
    )
  })

  test(
    'what was renewed works: the cluster lives on when all former ones have expired',
    { timeout: patience },
    async () => {
      const cluster = clusterNow()
      const former = Math.max(...(await listed()).map(({ until: end }) => Date.parse(end)))
      const watch = watchNodes(cluster)
      await until(
        'the first ones to be renewed once more',
        async () => {
          const all = await listed()
          return all.some(({ until: end }) => Date.parse(end) > former)
        },
        { within: patience, every: 15_000 },
      )
      expect(await watch.end()).toEqual([])
    },
  )
}

/** Which run of each of our services it is: another one after a restart. */
async function services(hosts: readonly Host[]): Promise<string[]> {
  return settleAll(hosts.map(async (host) => `${host.name}\n${(await host.script(ourServices)).stdout}`))
}

/** Looks at nodes again and again, and remembers who was not ready. */
function watchNodes({ api, hosts }: UpCluster): { end(): Promise<string[]> } {
  const missed = new Set<string>()
  const stop = new AbortController()
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const ready = await nodesReady(api)
      for (const { name } of hosts) if (!ready.includes(name)) missed.add(name)
      await sleep(1000, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  })()
  // Told at the end, however it ends.
  watching.catch(() => undefined)
  return {
    async end() {
      stop.abort()
      await watching
      return [...missed]
    },
  }
}
