import { addressAt } from '../../spec/cidr.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Manifest } from '../../kube/object.ts'
import { type AddonDefinition, imageOf } from '../addon-definition.ts'
import { labelsOf, namespaced } from '../manifest-helpers.ts'
import { account } from '../service-account.ts'
import { corefile } from './corefile.ts'
import { app, deployment, selector } from './deployment.ts'

export const coredns: AddonDefinition = {
  name: 'coredns',
  about: 'names of services',
  setting: 'dns',
  images: ['coredns'],
  manifests(input) {
    const { cluster, resolvers } = input
    const { dns, network } = cluster.spec
    if (dns === 'none') return []
    const [services = ''] = network.services
    const replicas = dns.replicas ?? replicasFor(cluster)
    return [
      ...account(app, 'system:coredns', rights),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: namespaced('coredns', app),
        data: { Corefile: corefile(cluster, dns, resolvers) },
      },
      service(addressAt(services, 10)),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: namespaced('coredns', app),
        spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
      },
      deployment(dns, imageOf(input, 'coredns'), replicas),
    ]
  },
}

const rights = [
  { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
]

/** Hosts come and go through hyperkube alone, so nobody has to count them inside the cluster. */
function replicasFor({ spec }: Cluster): number {
  const hosts = spec.hosts.length
  return hosts === 1 ? 1 : Math.max(2, Math.ceil(hosts / 16))
}

/** Its name and address are known everywhere: kubelets write the address into every pod. */
function service(clusterIP: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...namespaced('kube-dns', app), labels: { ...labelsOf(app), ...selector } },
    spec: {
      clusterIP,
      selector,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 'dns-tcp' },
        { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 'metrics' },
      ],
    },
  }
}
