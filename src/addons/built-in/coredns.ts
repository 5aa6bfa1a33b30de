import type { Manifest } from '../../kube/object.ts'
import type { DnsSettings } from '../../spec/addons.ts'
import { addressAt } from '../../spec/cidr.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type AddonDefinition, findAddonImage } from './addon-definition.ts'
import {
  buildAppLabels,
  buildContainerSecurity,
  buildNamespacedMetadata,
  buildPlacement,
  buildPodSecurity,
  buildResources,
  buildServiceAccount,
  buildSpreadConstraints,
  controlPlaneTolerations,
} from './manifest-helpers.ts'

const corednsApp = 'coredns'

/** Policies, monitoring and conformance tests find the cluster DNS by this label. */
const corednsSelector = { 'k8s-app': 'kube-dns' }

export const coredns: AddonDefinition = {
  name: 'coredns',
  description: 'cluster DNS',
  setting: 'dns',
  images: ['coredns'],
  buildManifests(input) {
    const { cluster, resolvers } = input
    const { dns, network } = cluster.spec
    if (dns === 'none') return []
    const [services = ''] = network.services
    const replicas = dns.replicas ?? computeReplicas(cluster)
    return [
      ...buildServiceAccount(corednsApp, 'system:coredns', rules),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: buildNamespacedMetadata('coredns', corednsApp),
        data: { Corefile: buildCorefile(cluster, dns, resolvers) },
      },
      buildService(addressAt(services, 10)),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: buildNamespacedMetadata('coredns', corednsApp),
        spec: { maxUnavailable: 1, selector: { matchLabels: corednsSelector } },
      },
      buildCorednsDeployment(dns, findAddonImage(input, 'coredns'), replicas),
    ]
  },
}

const rules = [
  { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
]

/**
 * Computes the replicas from the number of hosts. An autoscaler is not needed, because hosts join and leave
 * only through hyperkube.
 */
function computeReplicas({ spec }: Cluster): number {
  const hosts = spec.hosts.length
  return hosts === 1 ? 1 : Math.max(2, Math.ceil(hosts / 16))
}

/** Builds the DNS service. Its address is fixed, because kubelets configure this address in every pod. */
function buildService(clusterIP: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...buildNamespacedMetadata('kube-dns', corednsApp),
      labels: { ...buildAppLabels(corednsApp), ...corednsSelector },
    },
    spec: {
      clusterIP,
      selector: corednsSelector,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 'dns-tcp' },
        { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 'metrics' },
      ],
    },
  }
}

function buildCorednsDeployment(settings: DnsSettings, image: string, replicas: number): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: buildNamespacedMetadata('coredns', corednsApp),
    spec: {
      replicas,
      // A single replica is stopped only after its replacement is ready.
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: replicas === 1 ? 0 : 1, maxSurge: 1 },
      },
      selector: { matchLabels: corednsSelector },
      template: {
        metadata: { labels: { ...buildAppLabels(corednsApp), ...corednsSelector } },
        spec: {
          serviceAccountName: corednsApp,
          // CoreDNS is itself the cluster DNS, so its pods use the resolver of the host.
          dnsPolicy: 'Default',
          ...buildPlacement(settings, { tolerations: controlPlaneTolerations }),
          ...buildSpreadConstraints(corednsSelector),
          securityContext: {
            ...buildPodSecurity(65_532),
            // This sysctl lets CoreDNS listen on port 53 as an unprivileged user. The capability of its
            // program file has no effect, because the container forbids privilege escalation.
            sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
          },
          containers: [buildContainer(settings, image)],
          volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
        },
      },
    },
  }
}

function buildContainer(settings: DnsSettings, image: string): Record<string, unknown> {
  return {
    name: 'coredns',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['-conf', '/etc/coredns/Corefile'],
    resources: buildResources(settings, {
      requests: { cpu: '100m', memory: '70Mi' },
      limits: { memory: '170Mi' },
    }),
    // The CoreDNS program file has this capability. The program would not start if the container dropped the
    // capability.
    securityContext: buildContainerSecurity('NET_BIND_SERVICE'),
    ports: [
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
      { name: 'metrics', containerPort: 9153, protocol: 'TCP' },
      { name: 'health', containerPort: 8080, protocol: 'TCP' },
      { name: 'ready', containerPort: 8181, protocol: 'TCP' },
    ],
    readinessProbe: { httpGet: { path: '/ready', port: 'ready' }, periodSeconds: 2, timeoutSeconds: 2 },
    livenessProbe: {
      httpGet: { path: '/health', port: 'health' },
      initialDelaySeconds: 60,
      timeoutSeconds: 5,
      failureThreshold: 5,
    },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
  }
}

/** Maximum number of upstream servers that CoreDNS accepts. */
const maxServers = 15

function buildCorefile(
  cluster: Cluster,
  settings: DnsSettings,
  resolvers: readonly (readonly string[])[],
): string {
  const { domain } = cluster.spec.network
  const servers = findServers(cluster, settings, resolvers)
  const lines = [
    ...(servers.length > 0
      ? ['errors']
      : [
          'errors {',
          '   # No server is configured for names outside the cluster.',
          `   consolidate 5m "no next plugin found$"`,
          '}',
        ]),
    'health {',
    '   lameduck 5s',
    '}',
    'ready',
    `kubernetes ${domain} in-addr.arpa ip6.arpa {`,
    '   pods insecure',
    '   fallthrough in-addr.arpa ip6.arpa',
    '   ttl 30',
    '}',
    'prometheus :9153',
    ...(servers.length > 0 ? [`forward . ${servers.join(' ')} {`, '   max_concurrent 1000', '}'] : []),
    'cache 30 {',
    '   # Names of the cluster are not cached, so changes apply at once.',
    `   disable success ${domain}`,
    `   disable denial ${domain}`,
    '}',
    'loop',
    'reload',
    'loadbalance',
  ]
  return ['.:53 {', ...lines.map((line) => `    ${line}`), '}', ''].join('\n')
}

/**
 * Returns the upstream resolvers for names outside the cluster, by default the host's /etc/resolv.conf.
 * CoreDNS cannot use that file if it is empty or names only loopback addresses. If a host has such a file,
 * all pods use the resolvers of the other hosts.
 */
function findServers(
  cluster: Cluster,
  { forward }: DnsSettings,
  resolvers: readonly (readonly string[])[],
): readonly string[] {
  if (forward !== undefined) return forward
  const others = resolvers.map((servers) => servers.filter((server) => !isLoopback(server)))
  if (hasCustomResolvConf(cluster) || others.every((servers) => servers.length > 0))
    return ['/etc/resolv.conf']
  return [...new Set(others.flat())].toSorted().slice(0, maxServers)
}

/** True if the upstream resolvers of CoreDNS depend on the hosts. */
export function hasHostDependentDns(cluster: Cluster): boolean {
  const { dns } = cluster.spec
  return dns !== 'none' && dns.forward === undefined && !hasCustomResolvConf(cluster)
}

function isLoopback(server: string): boolean {
  return server.startsWith('127.') || server === '::1'
}

/**
 * True if the user has configured a resolv.conf for kubelets. The user is then responsible for its content.
 */
function hasCustomResolvConf({ spec }: Cluster): boolean {
  const kubelets = [spec.components.kubelet, ...spec.hosts.map(({ components }) => components?.kubelet)]
  return kubelets.some(
    (kubelet) =>
      kubelet?.config?.['resolvConf'] !== undefined || kubelet?.args?.['resolv-conf'] !== undefined,
  )
}
