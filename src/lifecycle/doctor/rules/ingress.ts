import { findUnservedAnnotations, type UnservedAnnotations } from '../../../addons/nginx-annotations.ts'
import { describeReference } from '../../../addons/reference.ts'
import { formatCount } from '../../../kit/text.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import type { Diagnosis } from '../diagnosis.ts'

/** Maximum number of Ingresses in the evidence. */
const maxNamed = 20

/** Finds Ingresses with annotations of ingress-nginx that have no effect in this cluster. */
export function findUnservedIngresses({ ingress }: ClusterHealthObservation): Diagnosis[] {
  if (ingress === undefined) return []
  const unserved = findUnservedAnnotations(ingress)
  if (unserved.length === 0) return []
  const named = unserved.slice(0, maxNamed).map(describeUnserved)
  const omitted = unserved.length - named.length
  return [
    {
      code: 'INGRESS_ANNOTATIONS_UNSERVED',
      severity: 'warning',
      what: `annotations nginx.ingress.kubernetes.io/ of ${formatCount(unserved.length, 'Ingress object')} have no effect`,
      component: 'traefik',
      evidence: [...named, ...(omitted === 0 ? [] : [`and ${omitted} more`])],
      command: ingress.nginxAnnotations
        ? 'kubectl -n NAMESPACE edit ingress NAME'
        : 'set spec.ingress.nginxAnnotations: true in cluster.yml, then hyperkube up',
      needsOperator: true,
    },
  ]
}

function describeUnserved(one: UnservedAnnotations): string {
  const className = one.className === undefined ? 'without a class' : `of class ${one.className}`
  return `${describeReference(one)} ${className}: ${one.annotations.join(', ')}`
}
