import type { Manifest } from '../../kube/object.ts'
import type { MetricsSettings } from '../../spec/addons.ts'
import {
  labelsOf,
  locked,
  namespaced,
  onControlPlanes,
  placement,
  resourcesOf,
  spread,
  unprivileged,
} from '../manifest-helpers.ts'

export const app = 'metrics-server'

const user = 65_534
const tls = '/etc/metrics-server/tls'

export function deployment(settings: MetricsSettings, image: string, hosts: number): Manifest {
  const selector = labelsOf(app)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: namespaced('metrics-server', app),
    spec: {
      replicas: settings.replicas ?? 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selector },
      template: {
        // A new certificate needs no new pod: it reads the files again by itself.
        metadata: { labels: selector },
        spec: {
          serviceAccountName: app,
          ...placement(settings, onControlPlanes),
          ...spread(selector),
          securityContext: unprivileged(user),
          containers: [container(settings, image, hosts)],
          // To be read by its group, which is that of the program alone.
          volumes: [{ name: 'tls', secret: { secretName: 'metrics-server', defaultMode: 0o440 } }],
        },
      },
    },
  }
}

function container(settings: MetricsSettings, image: string, hosts: number): Record<string, unknown> {
  return {
    name: 'metrics-server',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      '--secure-port=10250',
      `--tls-cert-file=${tls}/tls.crt`,
      `--tls-private-key-file=${tls}/tls.key`,
      // The authority of the cluster, which has signed what kubelets present: the ConfigMap kube-root-ca.crt.
      '--kubelet-certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
      '--kubelet-preferred-address-types=InternalIP',
      '--kubelet-use-node-status-port',
      '--metric-resolution=15s',
    ],
    // As upstream has measured: for a hundred nodes, and a little more for each beyond.
    resources: resourcesOf(settings, {
      requests: { cpu: `${Math.max(100, hosts)}m`, memory: `${Math.max(200, 2 * hosts)}Mi` },
    }),
    securityContext: locked(),
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
