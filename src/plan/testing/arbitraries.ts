import { type Arbitrary, constantFrom, nat, record, subarray, tuple } from 'fast-check'
import { listDefaultVersions } from '../../catalog/catalog.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { type Cluster, clusterSchema } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { buildPlanInput, type FactsVariation } from './fixtures.ts'
import type { PlanInput } from '../context.ts'

/** Number of hosts of each kind in a generated cluster. */
export interface ClusterShape {
  readonly controlPlanes: number
  readonly etcd: number
  readonly workers: number
  readonly windows: number
}

export const clusterShapes: Arbitrary<ClusterShape> = record({
  controlPlanes: constantFrom(1, 1, 2, 3, 5),
  etcd: constantFrom(0, 0, 1, 3),
  workers: nat({ max: 6 }),
  windows: constantFrom(0, 0, 1, 2),
})

export function buildHosts({ controlPlanes, etcd, workers, windows }: ClusterShape): object[] {
  const numbered = (prefix: string, count: number, more: object): object[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `${prefix}${index + 1}`,
      address: `10.0.${prefix.charCodeAt(0)}.${index + 1}`,
      ...more,
    }))
  return [
    ...numbered('cp', controlPlanes, {
      roles: workers === 0 ? ['control-plane', 'worker'] : ['control-plane'],
    }),
    ...numbered('etcd', etcd, { roles: ['etcd'] }),
    ...numbered('worker', workers, { roles: ['worker'] }),
    ...numbered('nt', windows, { roles: ['worker'], os: 'windows' }),
  ]
}

const settings = record({
  kubernetes: constantFrom(...listDefaultVersions(shippedCatalog)),
  api: record(
    {
      port: constantFrom(6443, 443, 8443),
      sans: subarray(['k8s.example.com', '203.0.113.9']),
      virtualIP: constantFrom('10.0.99.200'),
    },
    { requiredKeys: [] },
  ),
  network: record(
    {
      plugin: constantFrom('flannel', 'none'),
      pods: constantFrom('10.244.0.0/16', '172.20.0.0/14'),
      services: constantFrom('10.96.0.0/16', '172.30.0.0/20'),
      domain: constantFrom('cluster.local', 'k8s.example'),
    },
    { requiredKeys: [] },
  ),
  components: record(
    {
      apiServer: constantFrom(
        {},
        { args: { 'max-requests-inflight': 800 } },
        { args: { 'enable-admission-plugins': 'AlwaysPullImages' } },
        { args: { 'oidc-issuer-url': 'https://id.example.com', 'oidc-client-id': '$HOME %h "x y"' } },
      ),
      kubelet: constantFrom(
        {},
        { maxPods: 40, systemReserved: { cpu: '200m' } },
        { config: { maxOpenFiles: 7 } },
      ),
      kubeProxy: constantFrom({}, { mode: 'iptables' }),
      containerd: constantFrom({}, { config: 'version = 3\n' }),
    },
    { requiredKeys: [] },
  ),
  registries: subarray([
    { host: 'docker.io', mirrors: ['https://registry.example.com'] },
    { host: 'ghcr.io', username: 'puller', password: { secret: 'puller' } },
  ]),
  cloudProvider: constantFrom('none', 'external'),
  windows: record({ cloud: constantFrom('none', 'aws', 'gcp') }, { requiredKeys: [] }),
  proxy: constantFrom(
    undefined,
    { http: 'http://proxy.example.com:3128/a%20b', no: ['10.0.0.0/8'] },
    {
      https: 'http://proxy.example.com:3128',
      username: 'puller',
      password: { secret: 'puller' },
    },
  ),
})

export const arbitraryClusters: Arbitrary<Cluster> = tuple(
  clusterShapes,
  settings,
  constantFrom('IPv4', 'IPv4 first', 'IPv6 first'),
).map(([shape, { proxy, network, ...spec }, families]) =>
  clusterSchema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'random' },
    spec: {
      ...spec,
      ...(proxy === undefined ? {} : { proxy }),
      // Windows hosts cannot join a dual-stack cluster.
      ...(families !== 'IPv4' && shape.windows === 0
        ? { network: addIpv6Networks(network, families), hosts: buildHosts(shape).map(addIpv6Address) }
        : { network, hosts: buildHosts(shape) }),
    },
  }),
)

function addIpv6Networks(
  {
    pods = '10.244.0.0/16',
    services = '10.96.0.0/16',
    ...network
  }: { readonly pods?: string; readonly services?: string },
  order: 'IPv4 first' | 'IPv6 first',
): object {
  const [podNetworks, serviceNetworks] = [
    [pods, 'fd00:10:244::/56'],
    [services, 'fd00:10:96::/112'],
  ].map((one) => (order === 'IPv4 first' ? one : one.toReversed()))
  return { ...network, pods: podNetworks, services: serviceNetworks }
}

function addIpv6Address(host: object, index: number): object {
  return { ...host, internalAddressIPv6: `fd00:0:0:1::${index + 1}` }
}

/**
 * Variations of host facts in generated clusters. Which variation a host gets depends only on its name and a
 * generated number (`salt`).
 */
const hostVariations: readonly FactsVariation[] = [
  {},
  { linux: { cgroup: { version: 1, controllers: ['cpu', 'cpuset', 'memory', 'pids'] } } },
  { linux: { container: true, missingCapabilities: ['CAP_SYS_RESOURCE'] } },
  { linux: { swap: true, networkManager: true, selinux: 'enforcing' } },
  { linux: { firewalls: ['docker', 'ufw'], programs: ['curl', 'ipset', 'iptables', 'keepalived', 'nft'] } },
  { linux: { programs: ['curl', 'ipset', 'iptables', 'keepalived'] }, windows: { build: 26_100 } },
  {
    linux: {
      arch: 'arm64',
      resolver: { file: '/run/systemd/resolve/resolv.conf', servers: ['192.0.2.53'], systemdResolved: true },
    },
  },
]

export const arbitraryInputs: Arbitrary<PlanInput> = tuple(arbitraryClusters, nat(100)).map(
  ([cluster, salt]) => {
    const input = buildPlanInput(
      cluster,
      (host: HostSpec) => hostVariations[selectKind(host.name, salt)] ?? {},
    )
    return {
      ...input,
      identity: {
        ...input.identity,
        tags: new Map([
          ...input.identity.tags,
          ['registry-login/ghcr.io', 'tag'],
          ['proxy-environment', 'tag'],
          ['proxy-login', 'tag'],
        ]),
      },
    }
  },
)

function selectKind(name: string, salt: number): number {
  const sum = Buffer.from(name).reduce((total, byte) => total + byte, salt)
  return sum % hostVariations.length
}
