import type { Manifest } from '../../kube/object.ts'
import { type IngressSettings, traefikHealthPort } from '../../spec/addons.ts'
import { type AddonDefinition, findAddonImage } from './addon-definition.ts'
import { buildGatewayApi, gatewayApiRules } from './gateway-api.ts'
import {
  buildAppLabels,
  buildClusterMetadata,
  buildContainerSecurity,
  buildNamespacedMetadata,
  buildPlacement,
  buildPodSecurity,
  buildResources,
  buildServiceAccount,
  controlPlaneSelector,
} from './manifest-helpers.ts'
import { nginxControllerName, traefikControllerName } from '../nginx-annotations.ts'

const traefikApp = 'traefik'

const traefikIngressClass = 'traefik'

const user = 65_532

/** First port that a program can bind without a capability. */
const firstFreePort = 1024

export const traefik: AddonDefinition = {
  name: 'traefik',
  description: 'Ingress controller on control planes',
  setting: 'ingress',
  images: ['traefik'],
  buildManifests(input) {
    const { ingress } = input.cluster.spec
    if (ingress === 'none') return []
    return [
      buildIngressClass(ingress),
      ...(ingress.nginxAnnotations ? [nginxIngressClass] : []),
      ...buildGatewayApi(ingress, traefikApp),
      ...buildServiceAccount(traefikApp, traefikApp, [
        ...rules,
        ...(ingress.gatewayApi === undefined ? [] : gatewayApiRules),
      ]),
      buildTraefikDaemonSet(ingress, findAddonImage(input, 'traefik')),
    ]
  },
}

/**
 * RBAC rules of Traefik. It reads Ingresses and their backends, including certificates. Traefik can list
 * Secrets only of all namespaces at once, so it runs on control planes by default.
 */
const rules = [
  { apiGroups: [''], resources: ['services', 'secrets', 'nodes'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['ingresses', 'ingressclasses'],
    verbs: ['list', 'watch'],
  },
]

function buildIngressClass({ defaultClass }: IngressSettings): Manifest {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: {
      ...buildClusterMetadata(traefikIngressClass, traefikApp),
      annotations: { 'ingressclass.kubernetes.io/is-default-class': String(defaultClass) },
    },
    spec: { controller: traefikControllerName },
  }
}

/**
 * The class of ingress-nginx, with its controller name. Traefik serves the Ingresses of every class with this
 * controller name.
 */
const nginxIngressClass: Manifest = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: buildClusterMetadata('nginx', traefikApp),
  spec: { controller: nginxControllerName },
}

function buildTraefikDaemonSet(settings: IngressSettings, image: string): Manifest {
  const selector = buildAppLabels(traefikApp)
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: buildNamespacedMetadata('traefik', traefikApp),
    spec: {
      // Two pods cannot bind the same host ports, so the old pod ends before the new pod starts.
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: traefikApp,
          hostNetwork: true,
          dnsPolicy: 'ClusterFirstWithHostNet',
          terminationGracePeriodSeconds: 60,
          ...buildPlacement(settings, {
            tolerations: [{ operator: 'Exists' }],
            nodeSelector: controlPlaneSelector,
          }),
          ...buildSecurity(settings).pod,
          containers: [buildContainer(settings, image)],
        },
      },
    },
  }
}

/**
 * Builds the security contexts. Ports below 1024 need the capability NET_BIND_SERVICE. A process that is not
 * root gets this capability only if its program file has it, and Traefik's file does not. Traefik therefore
 * runs as root with only this capability. With higher ports it runs as an unprivileged user.
 */
function buildSecurity({ httpPort, httpsPort }: IngressSettings): {
  readonly pod: Record<string, unknown>
  readonly container: Record<string, unknown>
} {
  if (Math.min(httpPort, httpsPort) >= firstFreePort) {
    return { pod: { securityContext: buildPodSecurity(user) }, container: buildContainerSecurity() }
  }
  const pod = { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }
  return { pod, container: { ...buildContainerSecurity('NET_BIND_SERVICE'), runAsUser: 0, runAsGroup: user } }
}

function buildContainer(settings: IngressSettings, image: string): Record<string, unknown> {
  const { httpPort, httpsPort } = settings
  const ping = { httpGet: { host: '127.0.0.1', path: '/ping', port: traefikHealthPort } }
  return {
    name: 'traefik',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: buildFlags(settings),
    resources: buildResources(settings, { requests: { cpu: '50m', memory: '64Mi' } }),
    securityContext: buildSecurity(settings).container,
    ports: [
      { name: 'web', containerPort: httpPort, hostPort: httpPort, protocol: 'TCP' },
      { name: 'websecure', containerPort: httpsPort, hostPort: httpsPort, protocol: 'TCP' },
    ],
    readinessProbe: { ...ping, periodSeconds: 2, timeoutSeconds: 2 },
    livenessProbe: { ...ping, periodSeconds: 10, timeoutSeconds: 2, failureThreshold: 3 },
  }
}

function buildFlags({ httpPort, httpsPort, gatewayApi, nginxAnnotations }: IngressSettings): string[] {
  return [
    '--global.checknewversion=false',
    '--global.sendanonymoususage=false',
    '--log.level=INFO',
    ...buildEntryPoint('web', httpPort),
    ...buildEntryPoint('websecure', httpsPort),
    '--entrypoints.websecure.http.tls=true',
    `--entrypoints.ping.address=127.0.0.1:${traefikHealthPort}`,
    '--ping=true',
    '--ping.entrypoint=ping',
    '--providers.kubernetesingress=true',
    `--providers.kubernetesingress.ingressclass=${traefikIngressClass}`,
    // Traefik matches path prefixes as Kubernetes defines them. For a service without pods it responds with
    // 503 instead of 404.
    '--providers.kubernetesingress.strictprefixmatching=true',
    '--providers.kubernetesingress.allowemptyservices=true',
    ...(gatewayApi === undefined ? [] : ['--providers.kubernetesgateway=true']),
    // ingress-nginx of RKE1 also served Ingresses without a class. The other provider does not serve them.
    ...(nginxAnnotations
      ? [
          '--providers.kubernetesingressnginx=true',
          '--providers.kubernetesingressnginx.watchingresswithoutclass=true',
        ]
      : []),
  ]
}

/**
 * Builds the flags of an entry point. On shutdown Traefik accepts requests for some more seconds after its
 * health check fails, then finishes the open requests.
 */
function buildEntryPoint(name: string, port: number): string[] {
  const lifecycle = `--entrypoints.${name}.transport.lifecycle`
  return [
    `--entrypoints.${name}.address=:${port}`,
    `--entrypoints.${name}.asdefault=true`,
    `${lifecycle}.requestacceptgracetimeout=5s`,
    `${lifecycle}.gracetimeout=30s`,
  ]
}
