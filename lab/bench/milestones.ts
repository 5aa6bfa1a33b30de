import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import type { Access, Attempt, Ground } from '../cluster/contender.ts'
import { KubeApi } from '../cluster/kube-api.ts'
import type { Host } from '../hosts/host.ts'
import { addonsUsable } from './addon-checks.ts'
import { probePods, probeService, probeWorkload } from './workload.ts'

/** What a user waits for, in the order it usually comes. */
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

const limit = 300_000
const every = 100

interface List<T> {
  readonly items: readonly T[]
}

interface Node {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Watches an attempt from outside, the same way for every contender, and notes when each milestone came. */
export async function observe(
  { cast, addons }: Pick<Ground, 'cast' | 'addons'>,
  attempt: Attempt,
  started: number,
  signal: AbortSignal,
  onMilestone: (milestone: Milestone) => void,
): Promise<Times> {
  const times = new Map<Milestone, number>()
  const reached = (milestone: Milestone): void => {
    times.set(milestone, performance.now() - started)
    onMilestone(milestone)
  }
  const access = await attempt.access
  const hosts = [...cast.controlPlanes, ...cast.workers]
  const apis = cast.controlPlanes.map((host) => apiOf(host, access))
  const [first] = apis
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  const wait = async (what: string, look: () => Promise<boolean>): Promise<true> =>
    until(what, look, { within: limit, every, signal })

  const etcd = async (): Promise<void> => {
    await Promise.all(cast.controlPlanes.map(async (host) => waitForEtcd(host, access, wait)))
    reached('etcd healthy')
  }
  // Asked once of each, for all who wait for it.
  const ready = apis.map(async (api) =>
    wait('an API server to be ready', async () => (await api.text('/readyz')) === 'ok'),
  )
  const anyReady = async (): Promise<void> => {
    await Promise.any(ready)
    reached('an API server ready')
  }
  const allReady = async (): Promise<void> => {
    await Promise.all(ready)
    reached('all API servers ready')
  }
  const cluster = async (): Promise<void> => {
    await ready[0]
    await probeWorkload(first, signal)
    await wait('all nodes to be Ready', async () => {
      const { items } = await first.get<List<Node>>('/api/v1/nodes')
      return items.filter(isReady).length === hosts.length
    })
    reached('all nodes Ready')
  }
  const pods = async (): Promise<void> => {
    await ready[0]
    await wait('a pod to run on every node', async () => (await probePods(first)).length === hosts.length)
    reached('a pod Running on every node')
    if (hosts.length > 1) {
      await wait('HTTP between all pods', async () => probeService(first, 'pods', hosts.length))
      reached('HTTP across nodes')
    }
    await wait('the service to answer', async () => probeService(first, 'service', hosts.length))
    reached('ClusterIP answers')
    if (!addons) return
    for (const [what, look] of addonsUsable(first, hosts)) await wait(what, look)
    reached('addons usable')
  }
  try {
    await settleAll([etcd(), anyReady(), allReady(), cluster(), pods(), attempt.finished])
  } finally {
    for (const api of apis) api.close()
  }
  return times
}

function apiOf(host: Host, access: Access): KubeApi {
  return new KubeApi(`https://${host.address}:6443`, access.api)
}

async function waitForEtcd(
  host: Host,
  access: Access,
  wait: (what: string, look: () => Promise<boolean>) => Promise<true>,
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
