import { z } from 'zod'
import type { KubeApi } from '../../../lab/cluster/kube-api.ts'
import { pollUntil } from '../../../src/kit/poll.ts'
import type { AdoptedCluster, Contender } from './contender.ts'

const nodeList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ unschedulable: z.boolean().optional() }),
      status: z.object({
        conditions: z.array(z.object({ type: z.string(), status: z.string() })),
        nodeInfo: z.object({ containerRuntimeVersion: z.string(), kubeletVersion: z.string() }),
      }),
    }),
  ),
})

const daemonSetList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z.object({ numberReady: z.int(), desiredNumberScheduled: z.int() }),
    }),
  ),
})

/**
 * Waits until all nodes are Ready with a runtime and accept pods, and until the pods of all DaemonSets are ready.
 * `moved` names the hosts that run what hyperkube installed.
 */
export async function waitForNodes(
  api: KubeApi,
  { hosts, contender }: Pick<AdoptedCluster, 'hosts' | 'contender'>,
  moved: readonly string[],
): Promise<void> {
  const expected = hosts
    .map(({ name }) => `${name} ${selectRuntime(contender, moved.includes(name))}`)
    .toSorted()
  let found: readonly string[] = []
  const areReady = async (): Promise<boolean> => {
    const nodes = nodeList.parse(await api.get('/api/v1/nodes'))
    found = nodes.items
      .filter(
        ({ spec, status }) =>
          spec.unschedulable !== true &&
          status.conditions.some((one) => one.type === 'Ready' && one.status === 'True'),
      )
      .map(
        ({ metadata, status }) => `${metadata.name} ${status.nodeInfo.containerRuntimeVersion.split(':')[0]}`,
      )
      .toSorted()
    const daemonSets = daemonSetList.parse(await api.get('/apis/apps/v1/daemonsets'))
    return (
      found.join() === expected.join() &&
      daemonSets.items.every(({ status }) => status.numberReady === status.desiredNumberScheduled)
    )
  }
  await pollUntil(
    `${expected.join(', ')} to be ready`,
    // The API server of the first control plane may just have started again.
    async () => areReady().catch(() => false),
    { timeoutMs: 300_000, intervalMs: 1000 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; ready nodes: ${found.join(', ')}`, { cause: error })
  })
}

function selectRuntime({ runtime }: Contender, isMoved: boolean): string {
  return isMoved ? 'containerd' : runtime
}

/** Reads the versions of all kubelets. */
export async function listKubeletVersions(api: KubeApi): Promise<readonly string[]> {
  const { items } = nodeList.parse(await api.get('/api/v1/nodes'))
  return [...new Set(items.map(({ status }) => status.nodeInfo.kubeletVersion))]
}
