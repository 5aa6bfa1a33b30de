import type { Manifest } from '../../kube/object.ts'
import type { MetricsSettings } from '../../spec/addons.ts'
import { type AddonDefinition, findAddonImage } from './addon-definition.ts'
import {
  addonNamespace,
  buildAppLabels,
  buildClusterMetadata,
  buildContainerSecurity,
  buildNamespacedMetadata,
  buildPlacement,
  buildPodSecurity,
  buildResources,
  buildServiceAccount,
  buildSpreadConstraints,
  buildSubject,
  controlPlaneTolerations,
  rbacGroup,
} from './manifest-helpers.ts'

const metricsServerApp = 'metrics-server'

const user = 65_534

const tls = '/etc/metrics-server/tls'

export const metricsServer: AddonDefinition = {
  name: 'metrics-server',
  description: 'CPU and memory usage of pods and nodes',
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

function buildMetricsServerDeployment(settings: MetricsSettings, image: string, hosts: number): Manifest {
  const selector = buildAppLabels(metricsServerApp)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: buildNamespacedMetadata('metrics-server', metricsServerApp),
    spec: {
      replicas: settings.replicas ?? 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selector },
      template: {
        // The pod template contains no digest of the certificate, because metrics-server reloads changed
        // certificate files without a restart.
        metadata: { labels: selector },
        spec: {
          serviceAccountName: metricsServerApp,
          ...buildPlacement(settings, { tolerations: controlPlaneTolerations }),
          ...buildSpreadConstraints(selector),
          securityContext: buildPodSecurity(user),
          containers: [buildContainer(settings, image, hosts)],
          // The certificate files can be read only by root and by the group of metrics-server.
          volumes: [{ name: 'tls', secret: { secretName: 'metrics-server', defaultMode: 0o440 } }],
        },
      },
    },
  }
}

function buildContainer(settings: MetricsSettings, image: string, hosts: number): Record<string, unknown> {
  return {
    name: 'metrics-server',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      '--secure-port=10250',
      `--tls-cert-file=${tls}/tls.crt`,
      `--tls-private-key-file=${tls}/tls.key`,
      // Cluster CA, which signs the serving certificates of kubelets. The file comes from the ConfigMap
      // kube-root-ca.crt.
      '--kubelet-certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
      '--kubelet-preferred-address-types=InternalIP',
      '--kubelet-use-node-status-port',
      '--metric-resolution=15s',
    ],
    // Values that upstream measured: a base for a hundred nodes, and a little more for each further node.
    resources: buildResources(settings, {
      requests: { cpu: `${Math.max(100, hosts)}m`, memory: `${Math.max(200, 2 * hosts)}Mi` },
    }),
    securityContext: buildContainerSecurity(),
    ports: [{ name: 'https', containerPort: 10_250, protocol: 'TCP' }],
    readinessProbe: {
      httpGet: { path: '/readyz', port: 'https', scheme: 'HTTPS' },
      periodSeconds: 5,
      failureThreshold: 3,
    },
    livenessProbe: {
      httpGet: { path: '/livez', port: 'https', scheme: 'HTTPS' },
      initialDelaySeconds: 20,
      periodSeconds: 10,
      failureThreshold: 3,
    },
    volumeMounts: [{ name: 'tls', mountPath: tls, readOnly: true }],
  }
}

function buildMetricsServerRbac(): Manifest[] {
  return [
    ...buildServiceAccount(metricsServerApp, 'system:metrics-server', [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ]),
    readerRole,
    // metrics-server uses the API server to authenticate and authorize its clients.
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: buildClusterMetadata('metrics-server:system:auth-delegator', metricsServerApp),
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [buildSubject(metricsServerApp)],
    },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'RoleBinding',
      metadata: buildNamespacedMetadata('metrics-server-auth-reader', metricsServerApp),
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects: [buildSubject(metricsServerApp)],
    },
  ]
}

/** Aggregated role: users who may view a namespace may also view the metrics of its pods. */
const readerRole: Manifest = {
  apiVersion: `${rbacGroup}/v1`,
  kind: 'ClusterRole',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: {
      ...buildAppLabels(metricsServerApp),
      ...Object.fromEntries(
        ['view', 'edit', 'admin'].map((role) => [`${rbacGroup}/aggregate-to-${role}`, 'true']),
      ),
    },
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
}
