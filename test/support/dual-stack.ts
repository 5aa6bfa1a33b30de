import { isIP } from 'node:net'
import { expect } from 'vitest'
import { dialFromPod, probe, type ProbePod } from '../../lab/bench/workload.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Operator } from './operator.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { UpCluster } from './up-cluster.ts'

export const dualStackNetworks = {
  pods: ['10.244.0.0/16', 'fd00:10:244::/56'],
  services: ['10.96.0.0/16', 'fd00:10:96::/112'],
}

/** Address families of a dual-stack cluster, the primary one first. */
export type Families = readonly [4, 6] | readonly [6, 4]
export const ipv4First: Families = [4, 6]
export const ipv6First: Families = [6, 4]

/** Makes the cluster of an operator dual-stack. */
export async function setDualStack(
  { edit }: Pick<Operator, 'edit'>,
  families: Families = ipv4First,
): Promise<void> {
  await edit((document) => {
    for (const [name, networks] of Object.entries(dualStackNetworks))
      document.setIn(['spec', 'network', name], families[0] === 4 ? networks : networks.toReversed())
  })
}

/** A pod with an address of each family. `address` is the IPv4 address. */
export interface DualStackPod extends ProbePod {
  readonly ipv6Address: string
}

/** Reads the addresses of a pod, and expects the primary one to be of the first family. */
export async function readDualStackPod(
  api: KubeApi,
  pod: ProbePod,
  families: Families = ipv4First,
): Promise<DualStackPod> {
  const { status } = await api.get<{ status: { podIPs?: readonly { ip: string }[] } }>(
    `/api/v1/namespaces/default/pods/${pod.name}`,
  )
  const addresses = (status.podIPs ?? []).map(({ ip }) => ip)
  expect(
    addresses.map((address) => isIP(address)),
    pod.name,
  ).toEqual(families)
  const find = (family: number): string => addresses.find((address) => isIP(address) === family) ?? ''
  return { ...pod, address: find(4), ipv6Address: find(6) }
}

const servicePath = '/api/v1/namespaces/default/services'
const serviceName = 'probe-dual'

/** Creates a Service of the probe pods that prefers dual-stack. Returns its addresses and its node port. */
export async function createDualStackService(
  api: KubeApi,
  families: Families = ipv4First,
): Promise<{ readonly addresses: readonly string[]; readonly nodePort: number }> {
  await api.ensure(servicePath, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName },
    spec: {
      type: 'NodePort',
      ipFamilyPolicy: 'PreferDualStack',
      selector: { app: probe.name },
      ports: [{ port: 80, targetPort: probe.port }],
    },
  })
  const { spec } = await api.get<{ spec: { clusterIPs: string[]; ports: { nodePort: number }[] } }>(
    `${servicePath}/${serviceName}`,
  )
  expect(spec.clusterIPs.map((address) => isIP(address))).toEqual(families)
  return { addresses: spec.clusterIPs, nodePort: spec.ports[0]?.nodePort ?? 0 }
}

/** Waits until a pod gets a response from an address. Returns the name of the pod that responded. */
export async function waitForResponse(
  api: KubeApi,
  from: ProbePod,
  address: string,
  port: number,
): Promise<string> {
  return pollUntil(
    `${address} to answer ${from.name}`,
    async () => (await dialFromPod(api, from, address, port)) ?? false,
    // A lost route is repaired after two failed probes.
    { timeoutMs: 180_000 },
  )
}

/** Waits until all sources reach both addresses of the target, or until none reaches any. */
export async function expectBothFamilies(
  api: KubeApi,
  sources: readonly ProbePod[],
  target: DualStackPod,
  expected: boolean,
): Promise<void> {
  for (const source of sources) {
    for (const address of [target.address, target.ipv6Address]) {
      await pollUntil(
        `${source.node} ${expected ? 'to reach' : 'not to reach'} ${address}`,
        async () => ((await dialFromPod(api, source, address, probe.port)) === target.name) === expected,
        { timeoutMs: 60_000, intervalMs: 100 },
      )
    }
  }
}

/** Expects that each node has an address and a pod network of each family, in this order. */
export async function expectDualStackNodes(
  { api, hosts }: UpCluster,
  families: Families = ipv4First,
): Promise<void> {
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  expect(items).toHaveLength(hosts.length)
  for (const { metadata, spec, status } of items) {
    const addresses = status.addresses.filter(({ type }) => type === 'InternalIP')
    expect(
      addresses.map(({ address }) => isIP(address)),
      metadata.name,
    ).toEqual(families)
    expect(
      spec.podCIDRs.map((network) => isIP(network.split('/')[0] ?? '')),
      metadata.name,
    ).toEqual(families)
  }
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly podCIDRs: readonly string[] }
    readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] }
  }[]
}

/** Returns the MTU of the pod bridge and of both VXLAN interfaces of a host. */
export async function readPodMtus(host: Host): Promise<readonly number[]> {
  const links = ['cni0', 'flannel.4096', 'flannel-v6.4096']
  const { stdout } = await host.script(
    links.map((link) => `ip -o link show ${link} | sed 's/.* mtu \\([0-9]*\\) .*/\\1/'`).join('\n'),
  )
  return stdout.trim().split('\n').map(Number)
}

/** Requests a URL from a host itself and returns the response. */
export async function curlFromHost(host: Host, address: string, port: number): Promise<string> {
  const target = isIP(address) === 6 ? `[${address}]` : address
  const { stdout } = await host.exec(['curl', '-gsS', '-m', '5', `http://${target}:${port}/hostname`])
  return stdout.trim()
}

/** Waits until a host reaches a pod. Returns the name of the pod. */
export async function waitForPodFromHost(host: Host, address: string, port: number): Promise<string> {
  return pollUntil(
    `a response of ${address}`,
    async () => curlFromHost(host, address, port).catch(() => ''),
    {
      timeoutMs: 180_000,
      intervalMs: 250,
    },
  )
}

/** Expects that two pods exchange packets of the largest size over IPv6, without fragments. */
export async function expectLargeIpv6Packets(api: KubeApi, from: ProbePod, to: DualStackPod): Promise<void> {
  const body = 'x'.repeat(8000)
  const query = `dial?host=${to.ipv6Address}&port=${probe.port}&request=echo?msg=${body}&protocol=http&tries=1`
  const response = await api.get<{ responses?: string[] }>(
    `/api/v1/namespaces/default/pods/${from.name}:${probe.port}/proxy/${query}`,
  )
  expect(response.responses?.[0]).toHaveLength(body.length)
}
