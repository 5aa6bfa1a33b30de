import type { Manifest } from '../../kube/object.ts'
import { type IngressSettings, traefikHealthPort } from '../../spec/addons.ts'
import { labelsOf, locked, namespaced, placement, resourcesOf, unprivileged } from '../manifest-helpers.ts'

export const app = 'traefik'
export const ingressClass = 'traefik'

const user = 65_532
/** Below this, a port needs a capability. */
const firstFreePort = 1024

export function daemonSet(settings: IngressSettings, image: string): Manifest {
  const selector = labelsOf(app)
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: namespaced('traefik', app),
    spec: {
      // Two cannot have the same ports, so one goes before the next one comes.
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: app,
          hostNetwork: true,
          dnsPolicy: 'ClusterFirstWithHostNet',
          terminationGracePeriodSeconds: 60,
          ...placement(settings, [{ operator: 'Exists' }]),
          ...security(settings).pod,
          containers: [container(settings, image)],
        },
      },
    },
  }
}

/**
 * Kubernetes gives a capability only to root, or to a program whose file has it, as Traefik's has not. So for low ports
 * it is a root that may do nothing else but bind them, and for others it is a plain user.
 */
function security({ httpPort, httpsPort }: IngressSettings): {
  readonly pod: Record<string, unknown>
  readonly container: Record<string, unknown>
} {
  if (Math.min(httpPort, httpsPort) >= firstFreePort) {
    return { pod: { securityContext: unprivileged(user) }, container: locked() }
  }
  const pod = { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }
  return { pod, container: { ...locked('NET_BIND_SERVICE'), runAsUser: 0, runAsGroup: user } }
}

function container(settings: IngressSettings, image: string): Record<string, unknown> {
  const { httpPort, httpsPort } = settings
  const ping = { httpGet: { host: '127.0.0.1', path: '/ping', port: traefikHealthPort } }
  return {
    name: 'traefik',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: flags(settings),
    resources: resourcesOf(settings, { requests: { cpu: '50m', memory: '64Mi' } }),
    securityContext: security(settings).container,
    ports: [
      { name: 'web', containerPort: httpPort, hostPort: httpPort, protocol: 'TCP' },
      { name: 'websecure', containerPort: httpsPort, hostPort: httpsPort, protocol: 'TCP' },
    ],
    readinessProbe: { ...ping, periodSeconds: 2, timeoutSeconds: 2 },
    livenessProbe: { ...ping, periodSeconds: 10, timeoutSeconds: 2, failureThreshold: 3 },
  }
}

function flags({ httpPort, httpsPort }: IngressSettings): string[] {
  return [
    '--global.checknewversion=false',
    '--global.sendanonymoususage=false',
    '--log.level=INFO',
    ...entryPoint('web', httpPort),
    ...entryPoint('websecure', httpsPort),
    '--entrypoints.websecure.http.tls=true',
    `--entrypoints.ping.address=127.0.0.1:${traefikHealthPort}`,
    '--ping=true',
    '--ping.entrypoint=ping',
    '--providers.kubernetesingress=true',
    `--providers.kubernetesingress.ingressclass=${ingressClass}`,
    // As Kubernetes defines prefixes, and 503 for a service without pods rather than 404.
    '--providers.kubernetesingress.strictprefixmatching=true',
    '--providers.kubernetesingress.allowemptyservices=true',
  ]
}

/** It goes on for a moment after its health says that it goes, then ends what was begun. */
function entryPoint(name: string, port: number): string[] {
  const lifecycle = `--entrypoints.${name}.transport.lifecycle`
  return [
    `--entrypoints.${name}.address=:${port}`,
    `--entrypoints.${name}.asdefault=true`,
    `${lifecycle}.requestacceptgracetimeout=5s`,
    `${lifecycle}.gracetimeout=30s`,
  ]
}
