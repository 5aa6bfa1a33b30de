import type { KubeApi } from '../cluster/kube-api.ts'
import type { Host } from '../hosts/host.ts'
import { probeService } from './workload.ts'

type AddonCheck = readonly [description: string, check: () => Promise<boolean>]

/** Lists checks that the addons work for a user, in order. A check that has passed is not repeated. */
export function listAddonChecks(api: KubeApi, hosts: readonly Host[]): readonly AddonCheck[] {
  const ingressHosts = selectIngressHosts(hosts)
  return [
    ...deployments.map((name): AddonCheck => [
      `${name} to be available`,
      async () => isDeploymentAvailable(api, name),
    ]),
    ['traefik to be available', async () => isTraefikAvailable(api, ingressHosts.length)],
    ['metrics to be served', async () => isMetricsApiAvailable(api)],
    ['a service name to resolve on every node', async () => probeService(api, 'name', hosts.length)],
    ['Traefik to be reachable on every control plane', async () => isTraefikReachable(ingressHosts)],
    ['a default StorageClass', async () => hasDefaultStorageClass(api)],
  ]
}

const deployments = ['coredns', 'metrics-server', 'local-path-provisioner']
const workloads = '/apis/apps/v1/namespaces/kube-system'

interface Deployment {
  readonly spec: { readonly replicas: number }
  readonly status: { readonly availableReplicas?: number }
}

async function isDeploymentAvailable(api: KubeApi, name: string): Promise<boolean> {
  const { spec, status } = await api.get<Deployment>(`${workloads}/deployments/${name}`)
  return status.availableReplicas === spec.replicas
}

async function isTraefikAvailable(api: KubeApi, nodes: number): Promise<boolean> {
  const { status } = await api.get<{ status: { numberAvailable?: number } }>(
    `${workloads}/daemonsets/traefik`,
  )
  return status.numberAvailable === nodes
}

interface ApiService {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function isMetricsApiAvailable(api: KubeApi): Promise<boolean> {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io'
  const { status } = await api.get<ApiService>(path)
  return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') === true
}

/** Selects the hosts that run Traefik: by default the control planes. */
export function selectIngressHosts(hosts: readonly Host[]): readonly Host[] {
  return hosts.filter(({ name }) => name.startsWith('cp'))
}

/**
 * True if Traefik responds with 404 on every host. Without an Ingress it has no routes, so 404 proves that it
 * is reachable.
 */
async function isTraefikReachable(hosts: readonly Host[]): Promise<boolean> {
  const responses = hosts.map(async ({ address }) =>
    fetch(`http://${address}/`, { signal: AbortSignal.timeout(5000) }),
  )
  return (await Promise.all(responses)).every(({ status }) => status === 404)
}

interface StorageClasses {
  readonly items: readonly {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  }[]
}

async function hasDefaultStorageClass(api: KubeApi): Promise<boolean> {
  const { items } = await api.get<StorageClasses>('/apis/storage.k8s.io/v1/storageclasses')
  return items.some(
    ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  )
}
