import {
  bundleVersionAnnotation,
  gatewayApiVersion,
  readGatewayApiCrds,
} from '../../addons/built-in/gateway-api.ts'
import type { LiveObjects } from '../../addons/live-objects.ts'
import { formatReferenceKey, type ObjectReference, toReference } from '../../addons/reference.ts'
import type { Finding } from '../../contract/finding.ts'
import { truncateList } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** Lists the CRDs that the cluster must already have. Empty unless the operator manages them. */
export function listExternalCrds({ spec: { ingress } }: Cluster): ObjectReference[] {
  if (ingress === 'none' || ingress.gatewayApi?.crds !== 'external') return []
  return readGatewayApiCrds().map(toReference)
}

/**
 * Refuses CRDs that the operator manages if they are missing or older than those that Traefik needs. Traefik
 * would wait for them without an error, and serve no route.
 */
export function checkExternalCrds(crds: readonly ObjectReference[], live: LiveObjects): Finding[] {
  const unsuitable = crds.flatMap((crd) => {
    const object = live.get(formatReferenceKey(crd))
    if (object === undefined) return [`${crd.name} is missing`]
    const version = object.metadata.annotations?.[bundleVersionAnnotation] ?? 'an unknown version'
    return isNewEnough(version) ? [] : [`${crd.name} has ${version}`]
  })
  if (unsuitable.length === 0) return []
  return [
    {
      code: 'GATEWAY_API_MISSING',
      severity: 'error',
      message: `spec.ingress.gatewayApi.crds is external, but the cluster lacks CRDs of ${gatewayApiVersion} or later: ${truncateList(unsuitable, 3)}`,
      hint: 'install them first, or remove crds: external, and hyperkube installs them',
      path: 'spec.ingress.gatewayApi.crds',
    },
  ]
}

function isNewEnough(version: string): boolean {
  const [needed, found] = [gatewayApiVersion, version].map((text) => /^v(\d+)\.(\d+)/.exec(text))
  if (needed?.[1] !== found?.[1] || needed?.[2] === undefined || found?.[2] === undefined) return false
  return Number(found[2]) >= Number(needed[2])
}
