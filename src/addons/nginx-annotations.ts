import { z } from 'zod'
import { type Kind, kubeObject } from '../kube/object.ts'
import { type ObjectReference, toReference } from './reference.ts'

/** Controller name in the IngressClasses of ingress-nginx, for which Traefik can be a replacement. */
export const nginxControllerName = 'k8s.io/ingress-nginx'
export const traefikControllerName = 'traefik.io/ingress-controller'

const ingress = kubeObject.extend({
  spec: z.looseObject({ ingressClassName: z.string().optional() }).optional(),
})
export type Ingress = z.infer<typeof ingress>
export const ingressKind: Kind<Ingress> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  schema: ingress,
}

const ingressClass = kubeObject.extend({ spec: z.looseObject({ controller: z.string() }) })
export type IngressClass = z.infer<typeof ingressClass>
export const ingressClassKind: Kind<IngressClass> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  schema: ingressClass,
}

/** All Ingresses and IngressClasses of a cluster, and what Traefik serves. */
export interface IngressObservation {
  readonly ingresses: readonly Ingress[]
  readonly classes: readonly IngressClass[]
  /** Whether `spec.ingress.nginxAnnotations` is true. */
  readonly nginxAnnotations: boolean
}

/** An Ingress with annotations of ingress-nginx that have no effect. */
export interface UnservedAnnotations extends ObjectReference {
  /** Name of its IngressClass, by the field or by the annotation. */
  readonly className?: string | undefined
  /** Names without the prefix. */
  readonly annotations: readonly string[]
}

const prefix = 'nginx.ingress.kubernetes.io/'

/** The older way to choose a class. An Ingress with the field ingressClassName does not need it. */
const classAnnotation = 'kubernetes.io/ingress.class'

/**
 * Annotations that the provider for ingress-nginx of Traefik 3.6.12 reads, without the prefix: the struct
 * ingressConfig in pkg/provider/kubernetes/ingress-nginx/annotations.go.
 */
export const supportedAnnotations: ReadonlySet<string> = new Set([
  'affinity',
  'auth-realm',
  'auth-response-headers',
  'auth-secret',
  'auth-secret-type',
  'auth-type',
  'auth-url',
  'backend-protocol',
  'cors-allow-credentials',
  'cors-allow-headers',
  'cors-allow-methods',
  'cors-allow-origin',
  'cors-expose-headers',
  'cors-max-age',
  'enable-cors',
  'force-ssl-redirect',
  'proxy-ssl-name',
  'proxy-ssl-secret',
  'proxy-ssl-server-name',
  'proxy-ssl-verify',
  'service-upstream',
  'session-cookie-domain',
  'session-cookie-max-age',
  'session-cookie-name',
  'session-cookie-path',
  'session-cookie-samesite',
  'session-cookie-secure',
  'ssl-passthrough',
  'ssl-redirect',
  'use-regex',
])

/** Lists the Ingresses with annotations of ingress-nginx that no known controller serves. */
export function findUnservedAnnotations(observation: IngressObservation): UnservedAnnotations[] {
  return observation.ingresses.flatMap((one) => {
    const names = Object.keys(one.metadata.annotations ?? {})
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
    const server = findServer(one, observation)
    if (names.length === 0 || server === 'another controller') return []
    const annotations = names
      .filter((name) => server !== 'nginx provider' || !supportedAnnotations.has(name))
      .toSorted()
    return annotations.length === 0
      ? []
      : [{ ...toReference(one), className: findClassName(one), annotations }]
  })
}

function findClassName({ metadata, spec }: Ingress): string | undefined {
  return spec?.ingressClassName ?? metadata.annotations?.[classAnnotation]
}

/**
 * Finds what serves an Ingress. `no nginx` means that the Ingress is served without these annotations, or not
 * at all. An IngressClass of another controller shows that the operator has installed that controller.
 */
function findServer(
  { metadata, spec }: Ingress,
  { classes, nginxAnnotations }: IngressObservation,
): 'nginx provider' | 'another controller' | 'no nginx' {
  const className = spec?.ingressClassName
  const classNameOfAnnotation = metadata.annotations?.[classAnnotation]
  const controllers = classes
    .filter(({ metadata: { name } }) => className === undefined || name === className)
    .map(({ spec: { controller } }) => controller)
  const isOfNginx =
    className === undefined
      ? ['nginx', undefined].includes(classNameOfAnnotation)
      : controllers.includes(nginxControllerName)
  if (isOfNginx) {
    if (nginxAnnotations) return 'nginx provider'
    return controllers.includes(nginxControllerName) ? 'another controller' : 'no nginx'
  }
  const isOfAnother =
    className === undefined
      ? classNameOfAnnotation !== 'traefik'
      : controllers.some((controller) => controller !== traefikControllerName)
  return isOfAnother ? 'another controller' : 'no nginx'
}
