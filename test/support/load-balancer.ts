import { listProbePods, probe } from '../../lab/bench/workload.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { networkName } from '../../lab/hosts/names.ts'
import { hardwareAddress } from '../../lab/hosts/network.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { fetchPodName, isStable, measureLongestGap, measureOutage, watchAddress } from './address-watch.ts'
import { type HostFault, shutdown, waitUntilOff } from './host-faults.ts'
import type { UpCluster } from './up-cluster.ts'

const [firstInPool, lastInPool] = [200, 219]

function replaceLastByte(address: string, byte: number): string {
  return `${address.slice(0, address.lastIndexOf('.'))}.${byte}`
}

/** Returns addresses of the lab's network that its hosts do not use. */
export function formatPool(gateway: string): string {
  return `${replaceLastByte(gateway, firstInPool)}-${lastPoolAddress(gateway)}`
}

export function lastPoolAddress(gateway: string): string {
  return replaceLastByte(gateway, lastInPool)
}

export function isInPool(gateway: string, address: string): boolean {
  const byte = Number(address.split('.').at(-1))
  return replaceLastByte(gateway, byte) === address && byte >= firstInPool && byte <= lastInPool
}

type TrafficPolicy = 'Local' | 'Cluster'

interface ServiceStatus {
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { readonly ip: string }[] } }
}

const services = '/api/v1/namespaces/default/services'

/** Creates a Service of the type LoadBalancer for the probe pods. Returns the address that it gets. */
export async function createBalancedService(
  api: KubeApi,
  name: string,
  externalTrafficPolicy: TrafficPolicy,
): Promise<string> {
  await api.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: {
      type: 'LoadBalancer',
      externalTrafficPolicy,
      selector: { app: probe.name },
      ports: [{ port: 80, targetPort: probe.port }],
    },
  })
  return pollUntil(
    `an address of ${name}`,
    async () => (await api.get<ServiceStatus>(`${services}/${name}`)).status.loadBalancer.ingress?.[0]?.ip,
    { timeoutMs: 60_000 },
  )
}

/** Returns the names of the hosts that respond to ARP requests for an address, on the bridge of the lab. */
export async function listArpResponders(cluster: UpCluster, address: string): Promise<string[]> {
  const bridge = networkName(cluster.lab.network)
  const argv = ['busybox', 'arping', '-c', '2', '-w', '3', '-I', bridge, address] as const
  const { stdout } = await runProgram(argv, { allowFailure: true })
  // busybox prints the bytes of a hardware address without leading zeros.
  const responders = [...stdout.matchAll(/reply from \S+ \[([0-9a-f:]+)\]/gi)].map(([, mac = '']) =>
    mac
      .toLowerCase()
      .split(':')
      .map((byte) => byte.padStart(2, '0'))
      .join(':'),
  )
  const names = new Map(cluster.hosts.map((host) => [hardwareAddress(host.address), host.name]))
  return [...new Set(responders)].map((mac) => names.get(mac) ?? mac).toSorted()
}

/** Returns the host that serves an address of a Service with the traffic policy Local. */
export async function findServingHost(cluster: UpCluster, address: string): Promise<Host> {
  const pod = await pollUntil(`a response of ${address}`, async () => fetchPodName(address), {
    timeoutMs: 60_000,
  })
  const node = (await listProbePods(cluster.api)).find(({ name }) => name === pod)?.node
  const host = cluster.hosts.find(({ name }) => name === node)
  if (host === undefined) throw new Error(`no node has the pod ${pod}`)
  return host
}

/** What happened to an address when the node that served it failed. */
export interface FailoverRound {
  /** Name of the fault. */
  readonly fault: string
  readonly policy: TrafficPolicy
  readonly address: string
  readonly failed: string
  /** Milliseconds from the fault until requests succeed for good. */
  readonly outageMs: number
  /** Hosts that respond to ARP requests during the fault. */
  readonly responders: readonly string[]
  /** Longest time in milliseconds between two responses while the failed host returns. */
  readonly returnGapMs: number
  /** Hosts that respond to ARP requests after the failed one has returned. */
  readonly respondersAfter: readonly string[]
}

/** Lets the host that serves an address fail, and measures how long clients outside get no response. */
export async function runFailoverRound(
  cluster: UpCluster,
  { address, policy }: Pick<FailoverRound, 'address' | 'policy'>,
  fault: HostFault,
): Promise<FailoverRound> {
  const [owner] = await listArpResponders(cluster, address)
  const host = cluster.hosts.find(({ name }) => name === owner)
  if (host === undefined) throw new Error(`no host responds for ${address}`)
  await using watch = watchAddress(address)
  const waitUntilStable = async (what: string, quietMs: number): Promise<void> => {
    await pollUntil(what, async () => isStable(watch.samples(), performance.now() - 600, quietMs), {
      timeoutMs: 240_000,
    })
  }
  await waitUntilStable(`${address} before the fault`, 1000)
  const faultAt = performance.now()
  const others = cluster.hosts.filter(({ name }) => name !== host.name)
  await fault.inject(cluster.lab, host, others)
  await pollUntil(
    `another host than ${host.name} to respond for ${address}`,
    async () => (await listArpResponders(cluster, address)).some((name) => name !== host.name),
    { timeoutMs: 120_000 },
  )
  if (fault === shutdown) await waitUntilOff(host)
  await waitUntilStable(`${address} after the fault`, policy === 'Local' ? 4000 : 8000)
  const outageMs = measureOutage(watch.samples(), faultAt)
  if (outageMs === undefined) throw new Error(`${address} does not respond`)
  const responders = await listArpResponders(cluster, address)
  const returnAt = performance.now()
  await fault.recover(cluster.lab, host)
  await waitForNode(cluster, host.name)
  // The election prefers the same host again, so the address returns to it.
  await pollUntil(
    `${host.name} to respond for ${address} again`,
    async () => (await listArpResponders(cluster, address)).join(' ') === host.name,
    { timeoutMs: 180_000, intervalMs: 1000 },
  )
  await waitUntilStable(`${address} after the return`, 2000)
  return {
    ...{ fault: fault.name, policy, address, failed: host.name, outageMs, responders },
    returnGapMs: measureLongestGap(watch.samples(), returnAt),
    respondersAfter: await listArpResponders(cluster, address),
  }
}

interface PodList {
  readonly items: readonly {
    readonly spec: { readonly nodeName?: string }
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
  }[]
}

/** Waits until the speaker and the probe pod of a node are ready. */
async function waitForNode({ api }: UpCluster, node: string): Promise<void> {
  const paths = [
    '/api/v1/namespaces/metallb-system/pods?labelSelector=app.kubernetes.io%2Fname%3Dmetallb-speaker',
    `/api/v1/namespaces/default/pods?labelSelector=app%3D${probe.name}`,
  ]
  await pollUntil(
    `the pods of ${node} to be ready`,
    async () => {
      const lists = await Promise.all(paths.map(async (path) => api.get<PodList>(path)))
      return lists.every(({ items }) =>
        items.some(
          ({ spec, status }) =>
            spec.nodeName === node &&
            status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True'),
        ),
      )
    },
    { timeoutMs: 240_000, intervalMs: 500 },
  )
}
