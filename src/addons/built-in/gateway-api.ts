import type { Manifest } from '../../kube/object.ts'
import type { IngressSettings } from '../../spec/addons.ts'
import { parseManifest } from '../manifest.ts'
import type { ObjectReference } from '../reference.ts'
import { isCrd } from '../waves.ts'
import vendored from './gateway-api.json' with { type: 'json' }
import { buildClusterMetadata, buildNamespacedMetadata } from './manifest-helpers.ts'

/** Version of the CRDs that hyperkube installs: the version that Traefik was built with. */
export const gatewayApiVersion = vendored.version

const group = 'gateway.networking.k8s.io'

/** Annotations of every CRD of the Gateway API: its version, and `standard` or `experimental`. */
export const bundleVersionAnnotation = `${group}/bundle-version`

/** True for the CRDs of the Gateway API that the addon traefik installs. */
export function isGatewayApiCrd(addon: string, reference: ObjectReference): boolean {
  return addon === 'traefik' && isCrd(reference) && reference.name.endsWith(`.${group}`)
}

/**
 * Reads upstream's CRDs. Each gets an annotation by which hyperkube never deletes it: with a CRD the API
 * server would delete all routes of users, and other programs may use the CRDs too.
 */
export function readGatewayApiCrds(): Manifest[] {
  return vendored.crds.map(({ file, manifest }) => {
    const parsed = parseManifest(JSON.parse(manifest))
    if (!parsed.ok) throw new Error(`${file}: ${parsed.reason}`)
    const { metadata } = parsed.manifest
    const annotations = { ...Object(metadata['annotations']), 'helm.sh/resource-policy': 'keep' }
    return { ...parsed.manifest, metadata: { ...metadata, annotations } }
  })
}

/** RBAC rules for the Gateway API. ConfigMaps may contain CAs of backends. */
export const gatewayApiRules = [
  { apiGroups: [''], resources: ['namespaces', 'configmaps'], verbs: ['list', 'watch'] },
  {
    apiGroups: [group],
    resources: [
      'gatewayclasses',
      'gateways',
      'httproutes',
      'grpcroutes',
      'referencegrants',
      'backendtlspolicies',
    ],
    verbs: ['list', 'watch'],
  },
  {
    apiGroups: [group],
    resources: [
      'gatewayclasses/status',
      'gateways/status',
      'httproutes/status',
      'grpcroutes/status',
      'backendtlspolicies/status',
    ],
    verbs: ['update'],
  },
]

/** Builds the CRDs, the GatewayClass and the default Gateway, as far as the settings ask for them. */
export function buildGatewayApi({ gatewayApi, httpPort }: IngressSettings, app: string): Manifest[] {
  if (gatewayApi === undefined) return []
  return [
    ...(gatewayApi.crds === 'install' ? readGatewayApiCrds() : []),
    {
      apiVersion: `${group}/v1`,
      kind: 'GatewayClass',
      metadata: buildClusterMetadata('traefik', app),
      spec: { controllerName: 'traefik.io/gateway-controller' },
    },
    ...(gatewayApi.defaultGateway ? [buildDefaultGateway(httpPort, app)] : []),
  ]
}

function buildDefaultGateway(port: number, app: string): Manifest {
  const allowedRoutes = { namespaces: { from: 'All' } }
  return {
    apiVersion: `${group}/v1`,
    kind: 'Gateway',
    metadata: buildNamespacedMetadata('traefik', app),
    spec: {
      gatewayClassName: 'traefik',
      listeners: [{ name: 'http', port, protocol: 'HTTP', allowedRoutes }],
    },
  }
}
