import type { Manifest } from '../../kube/object.ts'
import { type AddonDefinition, findAddonImage } from '../addon-definition.ts'
import {
  buildClusterMetadata,
  buildAppLabels,
  addonNamespace,
  buildNamespacedMetadata,
} from '../manifest-helpers.ts'
import { metricsServerApp, buildMetricsServerDeployment } from './deployment.ts'
import { buildMetricsServerRbac } from './rbac.ts'

export const metricsServer: AddonDefinition = {
  name: 'metrics-server',
  description: 'what pods and nodes use',
  setting: 'metrics',
  images: ['metrics-server'],
  buildManifests(input) {
    const { cluster, metricsCertificate } = input
    const { metrics, hosts } = cluster.spec
    if (metrics === 'none') return []
    // Without a certificate the manifests are only listed and never applied. The Secret then has no content.
    const { ca, certificate, privateKey } = metricsCertificate ?? noCertificate
    return [
      ...buildMetricsServerRbac(),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: buildNamespacedMetadata('metrics-server', metricsServerApp),
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': toBase64(certificate), 'tls.key': toBase64(privateKey) },
      },
      service,
      buildMetricsServerDeployment(metrics, findAddonImage(input, 'metrics-server'), hosts.length),
      buildApiService(toBase64(ca)),
    ]
  },
}

const noCertificate = { ca: '', certificate: '', privateKey: '' }

const service: Manifest = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: buildNamespacedMetadata('metrics-server', metricsServerApp),
  spec: {
    selector: buildAppLabels(metricsServerApp),
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 'https', appProtocol: 'https' }],
  },
}

/**
 * Registers metrics.k8s.io: the API server forwards requests for this group to the metrics-server service.
 */
function buildApiService(caBundle: string): Manifest {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: buildClusterMetadata('v1beta1.metrics.k8s.io', metricsServerApp),
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { name: 'metrics-server', namespace: addonNamespace },
      caBundle,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  }
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
