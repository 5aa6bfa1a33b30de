import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { probePods, probeWorkload } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import { ApiError } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { run } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { foresee } from './dry-run.ts'
import { etcdctl } from './etcdctl.ts'
import { nodesReady } from './membership.ts'
import type { UpCluster } from './up-cluster.ts'

export interface RestoreSuiteOptions {
  /** How many keys are written beside those of Kubernetes. */
  readonly keys: number
  /** Whether a restore is also cut in its midst. */
  readonly cut?: boolean
  /** Gets what was measured. */
  readonly report?: (figures: RestoreFigures) => Promise<void>
}

export interface RestoreFigures {
  readonly keys: number
  /** How long it took to try the snapshot in an etcd of its own, to bring the cluster back, and etcdutl for one member; in seconds. */
  readonly verified: number
  readonly restored: number
  readonly etcdutl: number
  readonly revisions: { readonly before: number; readonly after: number }
}

const never = new AbortController().signal
const verified = z.object({ keys: z.number(), revision: z.number(), seconds: z.number() })
const saved = z.object({ name: z.string(), revision: z.number(), keys: z.number() })
const marker = '/var/lib/hyperkube/agent/etcd-restore.json'

/** A cluster that loses all that it knows, and comes back from one file. */
export function restoreSuite(
  clusterNow: () => UpCluster,
  { keys, cut = false, report }: RestoreSuiteOptions,
): void {
  let tried = 0
  let before: ReadonlyMap<string, string>
  let taken: z.infer<typeof saved>
  const members = (): Host[] => clusterNow().hosts.filter(({ name }) => name.startsWith('cp'))
  const restore = async (code: number, ...words: readonly string[]) =>
    clusterNow().operator.must(code, 'etcd', 'snapshot', 'restore', ...words, '--yes')
  const snapshotFile = (): string => join(clusterNow().directory, 'snapshots', taken.name)
  const first = (): Host => {
    const [host] = members()
    if (host === undefined) throw new Error('there is no member')
    return host
  }

  async function podsRun(amount: number): Promise<void> {
    const { api } = clusterNow()
    await until('the pods to run', async () => (await probePods(api)).length === amount, { within: 180_000 })
  }

  /** How many of the keys there are, and the revision. */
  async function count(): Promise<{ readonly count: number; readonly revision: number }> {
    const { stdout } = await first().script(`${etcdctl} get /load/ --prefix --count-only -w fields`)
    const field = (name: string): number => Number(new RegExp(`^"${name}" : (\\d+)$`, 'm').exec(stdout)?.[1])
    return { count: field('Count'), revision: field('Revision') }
  }

  /** By uid, with the containers of each. */
  async function pods(): Promise<ReadonlyMap<string, string>> {
    const { items } = await clusterNow().api.get<PodList>('/api/v1/namespaces/default/pods')
    return new Map(
      items.map(({ metadata, status }) => [
        metadata.uid,
        (status.containerStatuses ?? []).map(({ containerID }) => containerID).join(),
      ]),
    )
  }

  async function etcdStarts(): Promise<string[]> {
    return settleAll(
      members().map(
        async (host) =>
          (await host.script('systemctl show -p ExecMainStartTimestampMonotonic --value etcd')).stdout,
      ),
    )
  }

  test('a snapshot has every key, and verify counts them', { timeout: 900_000 }, async () => {
    const cluster = clusterNow()
    // Its service has an address of its own, and cannot be made twice.
    if ((await probePods(cluster.api)).length === 0) await probeWorkload(cluster.api, never)
    await podsRun(cluster.hosts.length)
    await first().script(`pad=$(printf '%0200d' 0)
for from in $(seq 1 100 ${keys}); do
  { echo; seq $from $((from + 99)) | sed "s|.*|put /load/& $pad|"; echo; echo; } | { ${etcdctl} txn > /dev/null; }
done`)
    expect((await count()).count).toBe(keys)
    before = await pods()
    const { operator } = cluster
    taken = saved.parse(JSON.parse((await operator.must(0, 'etcd', 'snapshot', 'save', '-o', 'json')).stdout))
    const { stdout } = await operator.must(0, 'etcd', 'snapshot', 'verify', taken.name, '-o', 'json')
    const found = verified.parse(JSON.parse(stdout))
    expect(found.keys).toBeGreaterThan(keys)
    tried = found.seconds
    process.stderr.write(`verified: ${found.keys} keys in ${found.seconds.toFixed(1)} s\n`)
  })

  test(
    'one that was changed, cut, or is of another cluster is refused before anything stops',
    { timeout: 300_000 },
    async () => {
      const cluster = clusterNow()
      const running = await etcdStarts()
      const whole = await readFile(snapshotFile())
      const bytes = Buffer.from(whole)
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
      const file = join(cluster.directory, 'changed.snapshot')
      await writeFile(file, bytes)
      expect((await restore(1, file)).stderr).toContain('SNAPSHOT_CORRUPT')
      await writeFile(file, whole.subarray(0, -2000))
      expect((await restore(1, file)).stderr).toContain('SNAPSHOT_TRUNCATED')
      await rm(file)
      const identity = ['cluster.identity', 'hyperkube/keys/lab.key'].map((path) =>
        join(cluster.directory, path),
      )
      for (const path of identity) await rename(path, `${path}.kept`)
      try {
        await cluster.operator.must(0, 'init')
        expect((await restore(1, taken.name)).stderr).toContain('SNAPSHOT_FOREIGN')
      } finally {
        for (const path of identity) await rename(`${path}.kept`, path)
      }
      expect(await etcdStarts()).toEqual(running)
    },
  )

  test(
    'all members lose their data, and the cluster is back with all of it',
    { timeout: 900_000 },
    async () => {
      const cluster = clusterNow()
      await cluster.api.create('/api/v1/namespaces/default/configmaps', word('later'))
      const { revision } = await count()
      await settleAll(
        members().map(async (host) => host.script('systemctl stop etcd; rm -r /var/lib/etcd/data')),
      )
      const words = ['etcd', 'snapshot', 'restore', taken.name] as const
      const foresight = await foresee(cluster, cluster.hosts, words)
      const began = performance.now()
      await restore(0, taken.name)
      const took = (performance.now() - began) / 1000
      await foresight.kept()
      const bare = await bareRestore(first(), snapshotFile())
      process.stderr.write(
        `restored in ${took.toFixed(1)} s; etcdutl alone takes ${bare.toFixed(1)} s for one member\n`,
      )
      const now = await count()
      expect(now.count).toBe(keys)
      const revisions = { before: revision, after: now.revision }
      await report?.({ keys, verified: tried, restored: took, etcdutl: bare, revisions })
      expect(now.revision).toBeGreaterThan(revision + 999_000_000)
      expect(await nodesReady(cluster.api)).toEqual(cluster.hosts.map(({ name }) => name))
      await podsRun(cluster.hosts.length)
      // The same pods, and not one container of them was started anew.
      expect(await pods()).toEqual(before)
      const lost = cluster.api.get('/api/v1/namespaces/default/configmaps/later')
      await expect(lost).rejects.toSatisfy((error) => error instanceof ApiError && error.status === 404)
      await cluster.api.create('/apis/apps/v1/namespaces/default/deployments', afterwards)
      await until('a new pod to run', async () => (await pods()).size === before.size + 1, {
        within: 120_000,
      })
      expect((await cluster.operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    },
  )

  test.runIf(cut)('a restore that is cut is told of, and the same command goes on', async () => {
    const cluster = clusterNow()
    const begun = cluster.operator.begin('etcd', 'snapshot', 'restore', taken.name, '--yes', '--no-verify')
    await until(
      'a member to get its data',
      async () => (await first().exec(['test', '-e', marker], { allowFailure: true })).code === 0,
      { within: 300_000, every: 5 },
    )
    begun.kill('SIGKILL')
    await begun.ended
    expect((await cluster.operator.must(1, 'up', '--yes')).stderr).toContain('ETCD_RESTORE_UNFINISHED')
    expect((await cluster.operator.must(1, 'plan')).stderr).toContain('ETCD_RESTORE_UNFINISHED')
    await restore(0, taken.name)
    expect((await count()).count).toBe(keys)
    expect(await nodesReady(cluster.api)).toEqual(cluster.hosts.map(({ name }) => name))
    const kept = await first().script('ls /var/lib/etcd')
    expect(kept.stdout.trim().split('\n')).toEqual([expect.stringMatching(/^before-restore-/), 'data'])
  })
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly uid: string }
    readonly status: { readonly containerStatuses?: readonly { readonly containerID: string }[] }
  }[]
}

function word(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { word: name } }
}

const labels = { app: 'afterwards' }
const afterwards = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'afterwards' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'web', image: testImage, imagePullPolicy: 'IfNotPresent', args: ['pause'] }],
      },
    },
  },
}

/** Seconds that etcd's own program takes on a host, for one member and from a file that is there. */
async function bareRestore(host: Host, snapshot: string): Promise<number> {
  const { stdout } = await run(['tar', '-xOf', snapshot, 'snapshot.json'])
  expect(stdout).toContain('EtcdSnapshot')
  await host.exec(['tee', '/root/etcd.snapshot'], { input: await readFile(snapshot) })
  await host.script('cd /root; tar -xf etcd.snapshot etcd.db')
  const began = performance.now()
  await host.script('cd /root; /opt/hyperkube/etcd-*/etcdutl snapshot restore etcd.db --data-dir bare')
  const took = (performance.now() - began) / 1000
  await host.script('cd /root; rm -r bare etcd.db etcd.snapshot')
  return took
}
