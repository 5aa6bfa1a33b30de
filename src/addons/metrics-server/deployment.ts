import type { Manifest } from '../../kube/object.ts'
import type { MetricsSettings } from '../../spec/addons.ts'
import {
  buildAppLabels,
  buildContainerSecurity,
  buildNamespacedMetadata,
  controlPlaneTolerations,
  buildPlacement,
  buildResources,
  buildSpreadConstraints,
  buildPodSecurity,
} from '../manifest-helpers.ts'

export const metricsServerApp = 'metrics-server'

const user = 65_534
const tls = '/etc/metrics-server/tls'

export function buildMetricsServerDeployment(
  settings: MetricsSettings,
  image: string,
  hosts: number,
): Manifest {
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
        // A new certificate needs no new pods, because metrics-server reloads the files.
        metadata: { labels: selector },
        spec: {
          serviceAccountName: metricsServerApp,
          ...buildPlacement(settings, controlPlaneTolerations),
          ...buildSpreadConstraints(selector),
          securityContext: buildPodSecurity(user),
          containers: [buildContainer(settings, image, hosts)],
          // The files can be read only by root and by the group of metrics-server.
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
