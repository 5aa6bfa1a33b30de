import type { Manifest } from '../../kube/object.ts'
import type { DnsSettings } from '../../spec/addons.ts'
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

export const corednsApp = 'coredns'
/** Policies, monitoring and conformance tests find the cluster DNS by this label. */
export const corednsSelector = { 'k8s-app': 'kube-dns' }

export function buildCorednsDeployment(settings: DnsSettings, image: string, replicas: number): Manifest {
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
          // CoreDNS is the cluster DNS, so it uses the resolver of the host.
          dnsPolicy: 'Default',
          ...buildPlacement(settings, controlPlaneTolerations),
          ...buildSpreadConstraints(corednsSelector),
          securityContext: {
            ...buildPodSecurity(65_532),
            // CoreDNS listens on port 53 as an unprivileged user. Kubernetes gives such a user a capability
            // only through the program file.
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
    // The upstream program file has this capability, and does not start if the bounding set lacks it.
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
