import { addressAt } from '../../spec/cidr.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Manifest } from '../../kube/object.ts'
import { type AddonDefinition, findAddonImage } from '../addon-definition.ts'
import { buildAppLabels, buildNamespacedMetadata } from '../manifest-helpers.ts'
import { buildServiceAccount } from '../service-account.ts'
import { buildCorefile } from './corefile.ts'
import { corednsApp, buildCorednsDeployment, corednsSelector } from './deployment.ts'

export const coredns: AddonDefinition = {
  name: 'coredns',
  description: 'names of services',
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

/**
 * Builds the DNS service. Its name and address are fixed, because kubelets write the address into every pod.
 */
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
