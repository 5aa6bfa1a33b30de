import type { Manifest } from '../../kube/object.ts'
import type { DnsSettings } from '../../spec/addons.ts'
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

export const app = 'coredns'
/** By this label policies, monitoring and tests of all the world find the DNS of a cluster. */
export const selector = { 'k8s-app': 'kube-dns' }

export function deployment(settings: DnsSettings, image: string, replicas: number): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: namespaced('coredns', app),
    spec: {
      replicas,
      // A single one goes only when the next one answers.
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: replicas === 1 ? 0 : 1, maxSurge: 1 },
      },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: { ...labelsOf(app), ...selector } },
        spec: {
          serviceAccountName: app,
          // With the resolver of the host: it is the DNS of the cluster itself.
          dnsPolicy: 'Default',
          ...placement(settings, onControlPlanes),
          ...spread(selector),
          securityContext: {
            ...unprivileged(65_532),
            // Its port is a low one, and a user's programs have no capabilities unless their file has.
            sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
          },
          containers: [container(settings, image)],
          volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
        },
      },
    },
  }
}

function container(settings: DnsSettings, image: string): Record<string, unknown> {
  return {
    name: 'coredns',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['-conf', '/etc/coredns/Corefile'],
    resources: resourcesOf(settings, {
      requests: { cpu: '100m', memory: '70Mi' },
      limits: { memory: '170Mi' },
    }),
    // Upstream's file has this capability, and could not be started by somebody who must not have it.
    securityContext: locked('NET_BIND_SERVICE'),
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
