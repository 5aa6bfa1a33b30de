import { expect } from 'vitest'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { recordDryRun } from './dry-run.ts'
import { openKubectl } from './kubectl.ts'
import type { UpCluster } from './up-cluster.ts'

const namespace = 'shop'
const podsPath = `/api/v1/namespaces/${namespace}/pods`
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`

/**
 * Drains w1 while a PodDisruptionBudget keeps one of two pods available. The cluster must have the workers w1
 * and w2.
 */
export async function expectDrainKeepsBudget(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  await startBothPodsOn('w1', cluster, kubernetes)
  await replaceBudget(cluster, 1)
  const dryRun = await recordDryRun(cluster, cluster.hosts, ['node', 'drain', 'w1'])
  const drained = cluster.hyperkube('node', 'drain', 'w1', '--yes')
  let isOver = false
  void drained.finally(() => (isOver = true)).catch(() => undefined)
  const available: number[] = []
  await pollUntil(
    'the drain to end',
    async () => {
      available.push((await listWebPods(cluster)).filter(isAvailable).length)
      return isOver
    },
    { timeoutMs: 240_000, intervalMs: 50 },
  )
  const { code, stdout, stderr } = await drained
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('w1 is drained and cordoned')
  // A drain uses only the API, so the journals of the hosts must be unchanged.
  await dryRun.expectDone()
  expect(stderr).toMatch(/shop\/web-\S+ \(ReplicaSet web-/)
  expect(available.length).toBeGreaterThan(20)
  expect(Math.min(...available)).toBeGreaterThanOrEqual(1)
  expect((await listWebPods(cluster)).map(({ spec }) => spec.nodeName)).not.toContain('w1')
  expect(await isCordoned(cluster, 'w1')).toBe(true)
  process.stderr.write(
    `drained with ${available.length} observations, at least ${Math.min(...available)} available\n`,
  )
}

export async function expectImpossibleDrainRefused(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  await startBothPodsOn('w1', cluster, kubernetes)
  await replaceBudget(cluster, 2)
  const { code, stderr } = await cluster.hyperkube('node', 'drain', 'w1', '--yes')
  expect(code).toBe(1)
  expect(stderr).toContain(
    'DRAIN_IMPOSSIBLE: PodDisruptionBudget shop/web never allows the eviction of shop/web-',
  )
  expect(await isCordoned(cluster, 'w1')).toBe(false)
}

export async function expectDrainBlockedAtDeadline(cluster: UpCluster): Promise<void> {
  const began = performance.now()
  const { code, stderr } = await cluster.hyperkube(
    ...['node', 'drain', 'w1', '--yes', '--ignore', 'DRAIN_IMPOSSIBLE', '--deadline', '10s'],
  )
  const seconds = (performance.now() - began) / 1000
  expect(code).toBe(1)
  expect(stderr).toMatch(/DRAIN_BLOCKED: w1 is not drained after 10\.0 s:/)
  const blocked =
    /shop\/web-\S+, eviction requested .* ago: PodDisruptionBudget shop\/web never allows the eviction: .*minAvailable: 2.*allowed disruptions 0, healthy 2 of 2, needed 2/g
  expect(stderr.slice(stderr.indexOf('DRAIN_BLOCKED')).match(blocked)).toHaveLength(2)
  expect(stderr).toContain('waiting for w1 to be drained: shop/web-')
  expect(seconds).toBeLessThan(30)
  expect(await isCordoned(cluster, 'w1')).toBe(true)
  expect((await listWebPods(cluster)).filter(isAvailable)).toHaveLength(2)
  expect((await cluster.hyperkube('node', 'uncordon', 'w1')).code).toBe(0)
  expect(await isCordoned(cluster, 'w1')).toBe(false)
}

export async function expectDrainInterrupted(cluster: UpCluster): Promise<void> {
  const running = cluster.operator.start(
    ...['node', 'drain', 'w1', '--yes', '--ignore', 'DRAIN_IMPOSSIBLE', '--progress', 'json'],
  )
  await pollUntil('w1 to be cordoned', async () => isCordoned(cluster, 'w1'), { timeoutMs: 60_000 })
  running.kill('SIGINT')
  expect((await running.ended).code).toBe(130)
  expect((await cluster.hyperkube('node', 'uncordon', 'w1')).code).toBe(0)
}

export async function expectForeignCordonKept(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  await using kubectl = await openKubectl(cluster, kubernetes)
  await replaceBudget(cluster, 1)
  await kubectl.run('cordon', 'w1')
  const drained = await cluster.hyperkube('node', 'drain', 'w1', '--yes')
  expect(drained.code, drained.stderr).toBe(0)
  const result = await cluster.hyperkube('node', 'uncordon', 'w1')
  expect([result.code, result.stderr]).toEqual([1, expect.stringContaining('NODE_CORDONED_BY_OTHERS')])
  expect(await isCordoned(cluster, 'w1')).toBe(true)
  expect((await cluster.hyperkube('node', 'uncordon', 'w1', '--force')).code).toBe(0)
  expect(await isCordoned(cluster, 'w1')).toBe(false)
  await kubectl.run('delete', 'namespace', namespace, '--wait=true')
}

interface WebPod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec: { readonly nodeName?: string }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function listWebPods({ api }: UpCluster): Promise<readonly WebPod[]> {
  return (await api.get<{ items: readonly WebPod[] }>(podsPath)).items
}

function isAvailable({ metadata, status }: WebPod): boolean {
  const isReady = status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True')
  return isReady === true && metadata.deletionTimestamp === undefined
}

export async function isCordoned({ api }: UpCluster, node: string): Promise<boolean> {
  const { spec } = await api.get<{ spec: { unschedulable?: boolean } }>(`/api/v1/nodes/${node}`)
  return spec.unschedulable === true
}

/** Starts two pods of a Deployment, both on `node`. */
async function startBothPodsOn(
  node: string,
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  const { api } = cluster
  const other = node === 'w1' ? 'w2' : 'w1'
  await using kubectl = await openKubectl(cluster, kubernetes)
  await api.remove(`${budgets}/web`)
  await api.remove(`${deployments}/web`, { propagationPolicy: 'Background' })
  await api.ensure('/api/v1/namespaces', { metadata: { name: namespace } })
  await pollUntil('those of before to be gone', async () => (await listWebPods(cluster)).length === 0, {
    timeoutMs: 60_000,
  })
  await kubectl.run('cordon', other)
  await api.create(deployments, deployment)
  await pollUntil(
    `two pods on ${node}`,
    async () => {
      const ready = (await listWebPods(cluster)).filter(isAvailable)
      return ready.length === 2 && ready.every(({ spec }) => spec.nodeName === node)
    },
    { timeoutMs: 120_000 },
  )
  await kubectl.run('uncordon', other)
}

/** Replaces the disruption budget, and waits until its controller has counted the pods. */
async function replaceBudget({ api }: UpCluster, minAvailable: number): Promise<void> {
  await api.remove(`${budgets}/web`)
  await api.create(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
  })
  await pollUntil(
    'the budget to be counted',
    async () => {
      const { status } = await api.get<{ status?: { expectedPods?: number; currentHealthy?: number } }>(
        `${budgets}/web`,
      )
      return status?.expectedPods === 2 && status.currentHealthy === 2
    },
    { timeoutMs: 60_000 },
  )
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'web',
            image: testImage,
            imagePullPolicy: 'IfNotPresent',
            args: ['netexec', '--http-port=8080'],
            readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
}
