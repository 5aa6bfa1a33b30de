import { pollUntil } from '../../src/kit/poll.ts'
import { testImage } from '../cluster/artifacts.ts'
import type { KubeApi } from '../cluster/kube-api.ts'

/**
 * Names and addresses of the probe workload: one web server on every node, and one Service for all of them.
 */
export const probe = {
  namespace: 'default',
  name: 'probe',
  port: 8080,
  nodePort: 30080,
  clusterIP: '10.96.77.77',
  dnsName: 'probe.default.svc.cluster.local',
}

const labels = { app: probe.name }

const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: probe.name },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        tolerations: [{ operator: 'Exists' }],
        containers: [
          {
            name: 'web',
            image: testImage,
            imagePullPolicy: 'IfNotPresent',
            args: ['netexec', `--http-port=${probe.port}`],
          },
        ],
      },
    },
  },
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: probe.name },
  spec: {
    type: 'NodePort',
    clusterIP: probe.clusterIP,
    selector: labels,
    ports: [{ port: 80, targetPort: probe.port, nodePort: probe.nodePort }],
  },
}

export interface ProbePod {
  readonly name: string
  readonly node: string
  readonly address: string
}

export async function createProbeWorkload(api: KubeApi, signal: AbortSignal): Promise<void> {
  const create = async (path: string, object: unknown): Promise<void> => {
    await pollUntil(`${path} to be created`, async () => api.ensure(path, object).then(() => true), {
      timeoutMs: 60_000,
      signal,
    })
  }
  await create('/apis/apps/v1/namespaces/default/daemonsets', daemonSet)
  await create('/api/v1/namespaces/default/services', service)
}

/** Deletes the DaemonSet and the Service of the probe. */
export async function removeProbeWorkload(api: KubeApi): Promise<void> {
  await api.remove(`/apis/apps/v1/namespaces/default/daemonsets/${probe.name}`)
  await api.remove(`/api/v1/namespaces/default/services/${probe.name}`)
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly nodeName?: string }
    readonly status: { readonly phase: string; readonly podIP?: string }
  }[]
}

/** Lists the running pods of the probe workload. */
export async function listProbePods(api: KubeApi): Promise<ProbePod[]> {
  const list = await api.get<PodList>(`/api/v1/namespaces/default/pods?labelSelector=app%3D${probe.name}`)
  return list.items.flatMap(({ metadata, spec, status }) =>
    status.phase === 'Running' && status.podIP !== undefined && spec.nodeName !== undefined
      ? [{ name: metadata.name, node: spec.nodeName, address: status.podIP }]
      : [],
  )
}

/**
 * Lets every probe pod call `target`: all other pods, the Service by its address, or the Service by its name.
 * True if there are `count` pods and every call succeeds.
 */
export async function probeService(
  api: KubeApi,
  target: 'pods' | 'service' | 'name',
  count: number,
): Promise<boolean> {
  const pods = await listProbePods(api)
  if (pods.length !== count) return false
  const calls = pods.flatMap((from) =>
    target !== 'pods'
      ? [dialFromPod(api, from, target === 'name' ? probe.dnsName : probe.clusterIP, 80)]
      : pods.filter((to) => to !== from).map(async (to) => dialFromPod(api, from, to.address, probe.port)),
  )
  return (await Promise.all(calls)).every((response) => response !== undefined)
}

/**
 * Calls an address from a pod. Returns the name of the pod that responds, or undefined without a response.
 */
export async function dialFromPod(
  api: KubeApi,
  from: ProbePod,
  host: string,
  port: number,
): Promise<string | undefined> {
  const query = `dial?host=${host}&port=${port}&request=hostname&protocol=http&tries=1`
  const response = await api.get<{ responses?: string[] }>(
    `/api/v1/namespaces/default/pods/${from.name}:${probe.port}/proxy/${query}`,
  )
  return response.responses?.[0]
}
