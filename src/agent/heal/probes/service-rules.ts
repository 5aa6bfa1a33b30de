import { isIP } from 'node:net'
import { z } from 'zod'
import { truncateList } from '../../../kit/text.ts'
import type { RunCommand } from '../../host/command.ts'
import { type ProbeApi, RateLimitedCache } from './probe-api.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { type ChecksByKind, failedResult, healthyResult, type ProbeRunner } from './probe-runner.ts'

/**
 * Maximum number of ports without a rule that are verified with a new API request. The cached list may still
 * contain ports that were deleted.
 */
const sampleSize = 3

/**
 * Checks whether the packet filter has rules for all services. kube-proxy writes changes at once, but it
 * restores deleted rules only once an hour.
 */
export function createServiceRulesProbe(
  { command, clock }: Pick<ProbeDeps, 'command' | 'clock'>,
  services: ServiceReader,
): ProbeRunner<'service-rules'> {
  return async ({ mode, kubeconfig, ipv6 = false }, signal) => {
    const ports = (await services.listPorts(kubeconfig, clock.now(), signal)).filter(
      ({ family }) => ipv6 || family === 4,
    )
    const rules = new Set([
      ...(await readers[mode](command, 4, signal)),
      ...(ipv6 ? await readers[mode](command, 6, signal) : []),
    ])
    const missing = ports.filter(({ rule }) => !rules.has(rule))
    const confirmed: ServicePort[] = []
    for (const port of missing.slice(0, sampleSize)) {
      const now = await services.fetchPorts(kubeconfig, port, clock.now(), signal)
      if (now.some(({ rule }) => rule === port.rule)) confirmed.push(port)
    }
    if (confirmed.length === 0) return healthyResult
    if (rules.size === 0) return failedResult('SERVICE_RULES', 'kube-proxy has written no Service rules')
    const names = confirmed.map(({ namespace, service, rule }) => `${namespace}/${service} (${rule})`)
    return failedResult('SERVICE_RULES', `kube-proxy has written no rules for ${truncateList(names, 3)}`)
  }
}

type ReadRules = (command: RunCommand, family: 4 | 6, signal: AbortSignal) => Promise<ReadonlySet<string>>

/**
 * Functions that read the rules of kube-proxy, one per proxy mode. Each runs one program, which is the main
 * cost of this probe.
 */
const readers: Readonly<Record<ChecksByKind['service-rules']['mode'], ReadRules>> = {
  nftables: async (command, family, signal) => {
    const table = family === 4 ? 'ip' : 'ip6'
    const argv = ['nft', 'list', 'map', table, 'kube-proxy', 'service-ips'] as const
    const { code, stdout, stderr } = await command(argv, { codes: [0, 1], signal })
    if (code === 0) return parseNftRules(stdout)
    // If the table does not exist, there are no rules. After any other error the rules are unknown.
    if (stderr.includes('No such file or directory')) return new Set()
    throw new Error(stderr)
  },
  iptables: async (command, family, signal) => {
    const program = family === 4 ? 'iptables-save' : 'ip6tables-save'
    return parseIptablesRules((await command([program, '-t', 'nat'], { signal })).stdout)
  },
}

/**
 * Parses map elements such as `10.96.0.10 . udp . 53 : goto service-ULMVA6XW-kube-system/kube-dns/udp/dns`.
 */
export function parseNftRules(text: string): ReadonlySet<string> {
  const elements = text.matchAll(/([\da-f]+[.:][\da-f.:]+) \. (\w+) \. (\d+)/g)
  return new Set([...elements].map(([, address, protocol, port]) => `${address} ${protocol} ${port}`))
}

/**
 * Parses rules such as `-A KUBE-SERVICES -d 10.96.0.10/32 -p udp … --dport 53 -j KUBE-SVC-TCOU7JCQXEZGVUNU`.
 */
export function parseIptablesRules(text: string): ReadonlySet<string> {
  const rules = text.matchAll(/^-A KUBE-SERVICES -d ([\da-f.:]+)\/(?:32|128) -p (\w+) .*--dport (\d+) /gm)
  return new Set([...rules].map(([, address, protocol, port]) => `${address} ${protocol} ${port}`))
}

/** Schema of a service. It keeps only the needed fields, because all services are cached. */
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
    clusterIPs: z.array(z.string()).optional(),
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

/** A port of a service for which every node must have a rule. */
interface ServicePort {
  readonly namespace: string
  readonly service: string
  readonly family: 4 | 6
  /** Address, protocol and port, for example `10.96.0.10 udp 53`. */
  readonly rule: string
}

/** Milliseconds that kube-proxy may take to notice a new service. */
const settleMs = 60_000

/** Reads the services for which kube-proxy must have rules, with the credentials of kube-proxy. */
export class ServiceReader {
  readonly #api: ProbeApi
  readonly #services: RateLimitedCache<readonly Service[]>
  readonly #slices: RateLimitedCache<readonly Slice[]>

  /** `monotonic` returns milliseconds of a monotonic clock. */
  constructor(api: ProbeApi, monotonic: () => number) {
    this.#api = api
    this.#services = new RateLimitedCache(monotonic)
    this.#slices = new RateLimitedCache(monotonic)
  }

  /**
   * Lists the ports of all services from a cache. The cache is up to one minute old, or up to an hour in a
   * large cluster.
   */
  async listPorts(kubeconfig: string, now: Date, signal: AbortSignal): Promise<readonly ServicePort[]> {
    const query = { resourceVersion: '0' }
    const all = await this.#services.get(
      kubeconfig,
      async () => this.#api.text({ kubeconfig, path: '/api/v1/services', query }, signal),
      parseServices,
    )
    const slices = await this.#slices.get(
      kubeconfig,
      async () => this.#api.text({ kubeconfig, path: `${discovery}/endpointslices`, query }, signal),
      parseSlices,
    )
    return selectServicePorts(all, slices, now)
  }

  /**
   * Reads the current ports of one service. kube-proxy may list but not get services, so this is a filtered
   * list.
   */
  async fetchPorts(
    kubeconfig: string,
    { namespace, service: name }: ServicePort,
    now: Date,
    signal: AbortSignal,
  ): Promise<readonly ServicePort[]> {
    const namespacePath = `namespaces/${encodeURIComponent(namespace)}`
    const text = await this.#api.text(
      {
        kubeconfig,
        path: `/api/v1/${namespacePath}/services`,
        query: { fieldSelector: `metadata.name=${name}` },
      },
      signal,
    )
    const slices = await this.#api.text(
      {
        kubeconfig,
        path: `${discovery}/${namespacePath}/endpointslices`,
        query: { labelSelector: `${serviceName}=${name}` },
      },
      signal,
    )
    return selectServicePorts(parseServices(text), parseSlices(slices), now)
  }
}

const discovery = '/apis/discovery.k8s.io/v1'
const serviceName = 'kubernetes.io/service-name'

function parseServices(text: string): readonly Service[] {
  return z.object({ items: z.array(service).nullish() }).parse(JSON.parse(text)).items ?? []
}

function parseSlices(text: string): readonly Slice[] {
  return z.object({ items: z.array(slice).nullish() }).parse(JSON.parse(text)).items ?? []
}

/**
 * Selects the service ports that have ready endpoints. kube-proxy does not forward traffic for other ports.
 */
function selectServicePorts(
  services: readonly Service[],
  slices: readonly Slice[],
  now: Date,
): readonly ServicePort[] {
  const backed = new Set(slices.filter(isBacked).flatMap(backedPorts))
  return services
    .filter(
      (one) =>
        hasRuleOnEveryNode(one) && now.getTime() - Date.parse(one.metadata.creationTimestamp) > settleMs,
    )
    .flatMap(({ metadata: { namespace, name }, spec }) =>
      listClusterAddresses(spec).flatMap(({ address, family }) =>
        spec.ports
          .filter((port) => backed.has(`${namespace}/${name}/${port.name} ${family}`))
          .map(({ protocol, port }) => ({
            namespace,
            service: name,
            family,
            rule: `${address} ${protocol.toLowerCase()} ${port}`,
          })),
      ),
    )
}

/** True if kube-proxy must have a rule for the service on every node. */
function hasRuleOnEveryNode({
  metadata: { labels },
  spec: { type, internalTrafficPolicy },
}: Service): boolean {
  const hasOtherProxy = labels['service.kubernetes.io/service-proxy-name'] !== undefined
  // With the policy `Local` a node without an endpoint rightly has no rule.
  return !hasOtherProxy && type !== 'ExternalName' && internalTrafficPolicy === 'Cluster'
}

/** Lists the cluster addresses of a service: none, one, or one of each family. */
function listClusterAddresses({
  clusterIP,
  clusterIPs = [clusterIP],
}: Service['spec']): readonly { readonly address: string; readonly family: 4 | 6 }[] {
  return clusterIPs.flatMap((address) => {
    const family = isIP(address)
    return family === 4 || family === 6 ? [{ address, family }] : []
  })
}

function isBacked({ addressType, endpoints }: Slice): boolean {
  // An endpoint without a ready condition counts as ready.
  return addressType !== 'FQDN' && (endpoints ?? []).some(({ conditions }) => conditions.ready !== false)
}

function backedPorts({ metadata: { namespace, labels }, addressType, ports }: Slice): string[] {
  const family = addressType === 'IPv4' ? 4 : 6
  return (ports ?? []).map(({ name }) => `${namespace}/${labels[serviceName]}/${name} ${family}`)
}
