import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { Access, Attempt, SetupContext } from '../cluster/contender.ts'
import { KubeApi } from '../cluster/kube-api.ts'
import type { Host } from '../hosts/host.ts'
import { listAddonChecks } from './addon-checks.ts'
import { createProbeWorkload, listProbePods, probeService } from './workload.ts'

/** Events that a user waits for after the start, in their usual order. */
export const milestones = [
  'etcd healthy',
  'an API server ready',
  'all API servers ready',
  'all nodes Ready',
  'a pod Running on every node',
  'HTTP across nodes',
  'ClusterIP answers',
  'addons usable',
] as const
export type Milestone = (typeof milestones)[number]

/** Milliseconds from the start to each milestone. */
export type Times = ReadonlyMap<Milestone, number>

const milestoneTimeoutMs = 300_000
const intervalMs = 100

interface List<T> {
  readonly items: readonly T[]
}

interface Node {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/**
 * Observes from outside the hosts how a contender creates its cluster, and records when each milestone is
 * reached.
 */
export async function measureMilestones(
  { clusterHosts, addons }: Pick<SetupContext, 'clusterHosts' | 'addons'>,
  attempt: Attempt,
  started: number,
  signal: AbortSignal,
  onMilestone: (milestone: Milestone) => void,
): Promise<Times> {
  const times = new Map<Milestone, number>()
  const recordMilestone = (milestone: Milestone): void => {
    times.set(milestone, performance.now() - started)
    onMilestone(milestone)
  }
  const access = await attempt.access
  const hosts = [...clusterHosts.controlPlanes, ...clusterHosts.workers]
  const apis = clusterHosts.controlPlanes.map((host) => openApi(host, access))
  const [first] = apis
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  const wait = async (description: string, check: () => Promise<boolean>): Promise<true> =>
    pollUntil(description, check, { timeoutMs: milestoneTimeoutMs, intervalMs, signal })

  const etcd = async (): Promise<void> => {
    await Promise.all(clusterHosts.controlPlanes.map(async (host) => waitForEtcd(host, access, wait)))
    recordMilestone('etcd healthy')
  }
  // Each API server has one polling loop, whose result all milestones share.
  const ready = apis.map(async (api) =>
    wait('an API server to be ready', async () => (await api.text('/readyz')) === 'ok'),
  )
  const anyReady = async (): Promise<void> => {
    await Promise.any(ready)
    recordMilestone('an API server ready')
  }
  const allReady = async (): Promise<void> => {
    await Promise.all(ready)
    recordMilestone('all API servers ready')
  }
  const cluster = async (): Promise<void> => {
    await ready[0]
    await createProbeWorkload(first, signal)
    await wait('all nodes to be Ready', async () => {
      const { items } = await first.get<List<Node>>('/api/v1/nodes')
      return items.filter(isReady).length === hosts.length
    })
    recordMilestone('all nodes Ready')
  }
  const pods = async (): Promise<void> => {
    await ready[0]
    await wait('a pod to run on every node', async () => (await listProbePods(first)).length === hosts.length)
    recordMilestone('a pod Running on every node')
    if (hosts.length > 1) {
      await wait('HTTP between all pods', async () => probeService(first, 'pods', hosts.length))
      recordMilestone('HTTP across nodes')
    }
    await wait('the service to respond', async () => probeService(first, 'service', hosts.length))
    recordMilestone('ClusterIP answers')
    if (!addons) return
    for (const [description, check] of listAddonChecks(first, hosts)) await wait(description, check)
    recordMilestone('addons usable')
  }
  try {
    await settleAll([etcd(), anyReady(), allReady(), cluster(), pods(), attempt.finished])
  } finally {
    for (const api of apis) api.close()
  }
  return times
}

function openApi(host: Host, access: Access): KubeApi {
  return new KubeApi(`https://${host.address}:6443`, access.api)
}

async function waitForEtcd(
  host: Host,
  access: Access,
  wait: (description: string, check: () => Promise<boolean>) => Promise<true>,
): Promise<void> {
  const member = new KubeApi(`https://${host.address}:2379`, access.etcd)
  try {
    await wait(`etcd on ${host.name}`, async () => {
      const { health } = await member.get<{ health: string }>('/health')
      return health === 'true'
    })
  } finally {
    member.close()
  }
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
}
