import type { Manifest } from '../../kube/object.ts'
import { type AddonDefinition, imageOf } from '../addon-definition.ts'
import { clusterWide, labelsOf, namespace, namespaced } from '../manifest-helpers.ts'
import { app, deployment } from './deployment.ts'
import { rights } from './rbac.ts'

export const metricsServer: AddonDefinition = {
  name: 'metrics-server',
  about: 'what pods and nodes use',
  setting: 'metrics',
  images: ['metrics-server'],
  manifests(input) {
    const { cluster, metricsCertificate } = input
    const { metrics, hosts } = cluster.spec
    if (metrics === 'none') return []
    // Without a certificate nothing is put into a cluster, only looked at: there the Secret is empty.
    const { authority, certificate, privateKey } = metricsCertificate ?? noCertificate
    return [
      ...rights(),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: namespaced('metrics-server', app),
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) },
      },
      service,
      deployment(metrics, imageOf(input, 'metrics-server'), hosts.length),
      apiService(base64(authority)),
    ]
  },
}

const noCertificate = { authority: '', certificate: '', privateKey: '' }

const service: Manifest = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: namespaced('metrics-server', app),
  spec: {
    selector: labelsOf(app),
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 'https', appProtocol: 'https' }],
  },
}

/** With this the API asks the service above for everything in the group. */
function apiService(caBundle: string): Manifest {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: clusterWide('v1beta1.metrics.k8s.io', app),
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { name: 'metrics-server', namespace },
      caBundle,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
