import { z } from 'zod'
import type { ProbeApi } from './probe-api.ts'
import { Kept } from './rate-limited-cache.ts'

/** No more than is needed: all of it is kept. */
const service = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    creationTimestamp: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({
    type: z.string().default('ClusterIP'),
    clusterIP: z.string().default('None'),
    internalTrafficPolicy: z.string().default('Cluster'),
    ports: z
      .array(z.object({ name: z.string().default(''), protocol: z.string().default('TCP'), port: z.int() }))
      .default([]),
  }),
})
type Service = z.infer<typeof service>

const slice = z.object({
  metadata: z.object({ namespace: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
  addressType: z.string(),
  endpoints: z
    .array(z.object({ conditions: z.object({ ready: z.boolean().nullish() }).default({}) }))
    .nullish(),
  ports: z.array(z.object({ name: z.string().default('') })).nullish(),
})
type Slice = z.infer<typeof slice>

/** A port of a service that must have a rule on every node. */
export interface ServicePort {
  readonly namespace: string
  readonly service: string
  /** 10.96.0.10 udp 53. */
  readonly rule: string
}

/** kube-proxy has to hear of it first, in milliseconds. */
const youth = 60_000

/** What kube-proxy is to make rules of, as it sees it itself. */
export class Services {
  readonly #api: ProbeApi
  readonly #services: Kept<readonly Service[]>
  readonly #slices: Kept<readonly Slice[]>

  /** `monotonic` in milliseconds, by a clock that nobody sets. */
  constructor(api: ProbeApi, monotonic: () => number) {
    this.#api = api
    this.#services = new Kept(monotonic)
    this.#slices = new Kept(monotonic)
  }

  /** As it was said of late: from a minute ago to an hour, in a large cluster. */
  async ports(kubeconfig: string, now: Date, signal: AbortSignal): Promise<readonly ServicePort[]> {
    const query = { resourceVersion: '0' }
    const all = await this.#services.get(
      kubeconfig,
      async () => this.#api.text({ kubeconfig, path: '/api/v1/services', query }, signal),
      servicesIn,
    )
    const behind = await this.#slices.get(
      kubeconfig,
      async () => this.#api.text({ kubeconfig, path: `${discovery}/endpointslices`, query }, signal),
      slicesIn,
    )
    return portsOf(all, behind, now)
  }

  /** The ports of one service, as they are now. kube-proxy may list and not get, so one is a list as well. */
  async portsNow(
    kubeconfig: string,
    { namespace, service: name }: ServicePort,
    now: Date,
    signal: AbortSignal,
  ): Promise<readonly ServicePort[]> {
    const within = `namespaces/${encodeURIComponent(namespace)}`
    const text = await this.#api.text(
      { kubeconfig, path: `/api/v1/${within}/services`, query: { fieldSelector: `metadata.name=${name}` } },
      signal,
    )
    const behind = await this.#api.text(
      {
        kubeconfig,
        path: `${discovery}/${within}/endpointslices`,
        query: { labelSelector: `${serviceName}=${name}` },
      },
      signal,
    )
    return portsOf(servicesIn(text), slicesIn(behind), now)
  }
}

const discovery = '/apis/discovery.k8s.io/v1'
const serviceName = 'kubernetes.io/service-name'

function servicesIn(text: string): readonly Service[] {
  return z.object({ items: z.array(service).nullish() }).parse(JSON.parse(text)).items ?? []
}

function slicesIn(text: string): readonly Slice[] {
  return z.object({ items: z.array(slice).nullish() }).parse(JSON.parse(text)).items ?? []
}

/** Those with somebody behind them: of the others, there is nothing to find. */
export function portsOf(
  services: readonly Service[],
  slices: readonly Slice[],
  now: Date,
): readonly ServicePort[] {
  const backed = new Set(slices.filter(isBacked).flatMap(backedPorts))
  return services
    .filter((one) => isOurs(one) && now.getTime() - Date.parse(one.metadata.creationTimestamp) > youth)
    .flatMap(({ metadata: { namespace, name }, spec: { clusterIP, ports } }) =>
      ports
        .filter((port) => backed.has(`${namespace}/${name}/${port.name}`))
        .map(({ protocol, port }) => ({
          namespace,
          service: name,
          rule: `${clusterIP} ${protocol.toLowerCase()} ${port}`,
        })),
    )
}

/** Whether kube-proxy makes the same rules for it on every node. */
function isOurs({
  metadata: { labels },
  spec: { type, clusterIP, internalTrafficPolicy },
}: Service): boolean {
  const foreign = labels['service.kubernetes.io/service-proxy-name'] !== undefined
  const isIpv4 = /^\d+\.\d+\.\d+\.\d+$/.test(clusterIP)
  // With `Local`, a node on which nobody is behind it has no rule, and rightly so.
  return !foreign && type !== 'ExternalName' && isIpv4 && internalTrafficPolicy === 'Cluster'
}

function isBacked({ addressType, endpoints }: Slice): boolean {
  // Nothing said of it counts as ready.
  return addressType === 'IPv4' && (endpoints ?? []).some(({ conditions }) => conditions.ready !== false)
}

function backedPorts({ metadata: { namespace, labels }, ports }: Slice): string[] {
  return (ports ?? []).map(({ name }) => `${namespace}/${labels[serviceName]}/${name}`)
}
