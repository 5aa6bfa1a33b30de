import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createProbeWorkload, listProbePods } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import { ApiError } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { recordDryRun } from '../support/dry-run.ts'
import { etcdctl } from '../support/etcdctl.ts'
import { listReadyNodes } from '../support/membership.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

interface RestoreSuiteOptions {
  /** Number of keys to write in addition to those of Kubernetes. */
  readonly keys: number
  /** True to also test an interrupted restore. */
  readonly interrupt?: boolean
  /** Receives the measurements. */
  readonly onFigures?: (figures: RestoreFigures) => Promise<void>
}

export interface RestoreFigures {
  readonly keys: number
  /**
   * Times in seconds: verification in a temporary etcd, restore of the cluster, and etcdutl's restore of one
   * member.
   */
  readonly verified: number
  readonly restored: number
  readonly etcdutl: number
  readonly revisions: { readonly before: number; readonly after: number }
}

const never = new AbortController().signal
const verifiedSchema = z.object({ keys: z.number(), revision: z.number(), seconds: z.number() })
const savedSchema = z.object({ name: z.string(), revision: z.number(), keys: z.number() })
const progressFile = '/var/lib/hyperkube/agent/etcd-restore.json'

/** Tests that a cluster whose etcd data was deleted is restored from a snapshot. */
function restoreSuite(
  clusterNow: () => UpCluster,
  { keys, interrupt = false, onFigures }: RestoreSuiteOptions,
): void {
  let verifySeconds = 0
  let before: ReadonlyMap<string, string>
  let savedSnapshot: z.infer<typeof savedSchema>
  const controlPlanes = (): Host[] => clusterNow().hosts.filter(({ name }) => name.startsWith('cp'))
  const restore = async (code: number, ...args: readonly string[]) =>
    clusterNow().operator.must(code, 'etcd', 'snapshot', 'restore', ...args, '--yes')
  const snapshotFile = (): string => join(clusterNow().directory, 'snapshots', savedSnapshot.name)
  const getFirstMember = (): Host => {
    const [host] = controlPlanes()
    if (host === undefined) throw new Error('there is no member')
    return host
  }

  async function waitForPods(amount: number): Promise<void> {
    const { api } = clusterNow()
    await pollUntil('the pods to run', async () => (await listProbePods(api)).length === amount, {
      timeoutMs: 180_000,
    })
  }

  /** Counts the keys that the test wrote, and reads the etcd revision. */
  async function countKeys(): Promise<{ readonly count: number; readonly revision: number }> {
    const { stdout } = await getFirstMember().script(`${etcdctl} get /load/ --prefix --count-only -w fields`)
    const field = (name: string): number => Number(new RegExp(`^"${name}" : (\\d+)$`, 'm').exec(stdout)?.[1])
    return { count: field('Count'), revision: field('Revision') }
  }

  /** Reads the container ids of each pod, by pod uid. */
  async function readPods(): Promise<ReadonlyMap<string, string>> {
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
      controlPlanes().map(
        async (host) =>
          (await host.script('systemctl show -p ExecMainStartTimestampMonotonic --value etcd')).stdout,
      ),
    )
  }

  test('a snapshot contains every key, and verify counts the keys', { timeout: 900_000 }, async () => {
    const cluster = clusterNow()
    // The Service of the workload has a fixed address, so the workload cannot be created twice.
    if ((await listProbePods(cluster.api)).length === 0) await createProbeWorkload(cluster.api, never)
    await waitForPods(cluster.hosts.length)
    await getFirstMember().script(`pad=$(printf '%0200d' 0)
for from in $(seq 1 100 ${keys}); do
  { echo; seq $from $((from + 99)) | sed "s|.*|put /load/& $pad|"; echo; echo; } | { ${etcdctl} txn > /dev/null; }
done`)
    expect((await countKeys()).count).toBe(keys)
    before = await readPods()
    const { operator } = cluster
    savedSnapshot = savedSchema.parse(
      JSON.parse((await operator.must(0, 'etcd', 'snapshot', 'save', '-o', 'json')).stdout),
    )
    const { stdout } = await operator.must(0, 'etcd', 'snapshot', 'verify', savedSnapshot.name, '-o', 'json')
    const found = verifiedSchema.parse(JSON.parse(stdout))
    expect(found.keys).toBeGreaterThan(keys)
    verifySeconds = found.seconds
    process.stderr.write(`verified: ${found.keys} keys in ${found.seconds.toFixed(1)} s\n`)
  })

  test(
    'a changed, truncated or foreign snapshot is refused before any service stops',
    { timeout: 300_000 },
    async () => {
      const cluster = clusterNow()
      const startsBefore = await etcdStarts()
      const original = await readFile(snapshotFile())
      const bytes = Buffer.from(original)
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
      const file = join(cluster.directory, 'changed.snapshot')
      await writeFile(file, bytes)
      expect((await restore(1, file)).stderr).toContain('SNAPSHOT_CORRUPT')
      await writeFile(file, original.subarray(0, -2000))
      expect((await restore(1, file)).stderr).toContain('SNAPSHOT_TRUNCATED')
      await rm(file)
      const identity = ['cluster.identity', 'hyperkube/keys/lab.key'].map((path) =>
        join(cluster.directory, path),
      )
      for (const path of identity) await rename(path, `${path}.kept`)
      try {
        await cluster.operator.must(0, 'init')
        expect((await restore(1, savedSnapshot.name)).stderr).toContain('SNAPSHOT_FOREIGN')
      } finally {
        for (const path of identity) await rename(`${path}.kept`, path)
      }
      expect(await etcdStarts()).toEqual(startsBefore)
    },
  )

  test(
    'a cluster whose etcd members lost all data is restored completely',
    { timeout: 900_000 },
    async () => {
      const cluster = clusterNow()
      await cluster.api.create('/api/v1/namespaces/default/configmaps', buildConfigMap('later'))
      const { revision } = await countKeys()
      await settleAll(
        controlPlanes().map(async (host) => host.script('systemctl stop etcd; rm -r /var/lib/etcd/data')),
      )
      const args = ['etcd', 'snapshot', 'restore', savedSnapshot.name] as const
      const dryRun = await recordDryRun(cluster, cluster.hosts, args)
      const began = performance.now()
      await restore(0, savedSnapshot.name)
      const elapsedSeconds = (performance.now() - began) / 1000
      await dryRun.expectDone()
      const etcdutlSeconds = await measureEtcdutlRestore(getFirstMember(), snapshotFile())
      process.stderr.write(
        `restored in ${elapsedSeconds.toFixed(1)} s; etcdutl alone takes ${etcdutlSeconds.toFixed(1)} s for one member\n`,
      )
      const now = await countKeys()
      expect(now.count).toBe(keys)
      const revisions = { before: revision, after: now.revision }
      await onFigures?.({
        keys,
        verified: verifySeconds,
        restored: elapsedSeconds,
        etcdutl: etcdutlSeconds,
        revisions,
      })
      expect(now.revision).toBeGreaterThan(revision + 999_000_000)
      expect(await listReadyNodes(cluster.api)).toEqual(cluster.hosts.map(({ name }) => name))
      await waitForPods(cluster.hosts.length)
      // The restored cluster must have the same pods with the same containers as before.
      expect(await readPods()).toEqual(before)
      const lost = cluster.api.get('/api/v1/namespaces/default/configmaps/later')
      await expect(lost).rejects.toSatisfy((error) => error instanceof ApiError && error.status === 404)
      await cluster.api.create('/apis/apps/v1/namespaces/default/deployments', laterDeployment)
      await pollUntil('a new pod to run', async () => (await readPods()).size === before.size + 1, {
        timeoutMs: 120_000,
      })
      expect((await cluster.operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
    },
  )

  test.runIf(interrupt)('an interrupted restore is reported, and the same command resumes it', async () => {
    const cluster = clusterNow()
    const command = cluster.operator.start(
      'etcd',
      'snapshot',
      'restore',
      savedSnapshot.name,
      '--yes',
      '--no-verify',
    )
    await pollUntil(
      'a member to get its data',
      async () =>
        (await getFirstMember().exec(['test', '-e', progressFile], { allowFailure: true })).code === 0,
      { timeoutMs: 300_000, intervalMs: 5 },
    )
    command.kill('SIGKILL')
    await command.ended
    expect((await cluster.operator.must(1, 'up', '--yes')).stderr).toContain('ETCD_RESTORE_UNFINISHED')
    expect((await cluster.operator.must(1, 'plan')).stderr).toContain('ETCD_RESTORE_UNFINISHED')
    await restore(0, savedSnapshot.name)
    expect((await countKeys()).count).toBe(keys)
    expect(await listReadyNodes(cluster.api)).toEqual(cluster.hosts.map(({ name }) => name))
    const listing = await getFirstMember().script('ls /var/lib/etcd')
    expect(listing.stdout.trim().split('\n')).toEqual([expect.stringMatching(/^before-restore-/), 'data'])
  })
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly uid: string }
    readonly status: { readonly containerStatuses?: readonly { readonly containerID: string }[] }
  }[]
}

function buildConfigMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { word: name } }
}

const labels = { app: 'afterwards' }
const laterDeployment = {
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

/** Measures how many seconds etcdutl needs on a host to restore one member from a local file. */
async function measureEtcdutlRestore(host: Host, snapshot: string): Promise<number> {
  const { stdout } = await runProgram(['tar', '-xOf', snapshot, 'snapshot.json'])
  expect(stdout).toContain('EtcdSnapshot')
  await host.exec(['tee', '/root/etcd.snapshot'], { input: await readFile(snapshot) })
  await host.script('cd /root; tar -xf etcd.snapshot etcd.db')
  const began = performance.now()
  await host.script('cd /root; /opt/hyperkube/etcd-*/etcdutl snapshot restore etcd.db --data-dir bare')
  const elapsedSeconds = (performance.now() - began) / 1000
  await host.script('cd /root; rm -r bare etcd.db etcd.snapshot')
  return elapsedSeconds
}

const evidence = join(import.meta.dirname, '../../docs/evidence/restore.md')
const [clusterShape, version] = ['3+1', '1.37.1'] as const

describe('hyperkube etcd snapshot restore, 100,000 keys', () => {
  restoreSuite(setUpCluster('restore', clusterShape, version), {
    keys: 100_000,
    interrupt: true,
    onFigures: async (figures) => writeFile(evidence, formatRestoreEvidence(figures, clusterShape, version)),
  })
})

/** Renders the results for docs/evidence. */
function formatRestoreEvidence(
  { keys, verified, restored, etcdutl, revisions }: RestoreFigures,
  shape: string,
  kubernetes: string,
): string {
  const seconds = (value: number): string => `${value.toFixed(1)} s`
  return `# Restore of a cluster from a snapshot

Written by \`npm run e2e:full\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${kubernetes}, ${shape} hosts of the lab, ${keys.toLocaleString('en')} keys beside
those of Kubernetes. All etcd members were stopped and their data was deleted; then \`hyperkube etcd snapshot restore\`.
Every key was restored, every pod kept its containers, and later writes were
gone.

| | |
|---|---|
| test restore of the snapshot in a separate etcd | ${seconds(verified)} |
| \`restore\`, from the command to the smoke test of every node | ${seconds(restored)} |
| \`etcdutl snapshot restore\` alone, one member, from a local file | ${seconds(etcdutl)} |
| revision before | ${revisions.before} |
| revision after | ${revisions.after} |
`
}
