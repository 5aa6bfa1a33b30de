import { expect, test } from 'vitest'
import {
  findUnservedAnnotations,
  type IngressClass,
  type IngressObservation,
  nginxControllerName,
  supportedAnnotations,
  traefikControllerName,
} from './nginx-annotations.ts'

const apiVersion = 'networking.k8s.io/v1'

function buildClass(name: string, controller: string): IngressClass {
  return { apiVersion, kind: 'IngressClass', metadata: { name }, spec: { controller } }
}
const traefik = buildClass('traefik', traefikControllerName)
const nginx = buildClass('nginx', nginxControllerName)

interface IngressFixture {
  readonly className?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly observation?: Partial<IngressObservation>
}

/** Lists the annotations without effect of one Ingress with use-regex and rewrite-target. */
function findUnserved({ className, annotations, observation }: IngressFixture): readonly string[] {
  const metadata = {
    name: 'web',
    namespace: 'shop',
    annotations: {
      'nginx.ingress.kubernetes.io/use-regex': 'true',
      'nginx.ingress.kubernetes.io/rewrite-target': '/$1',
      'cert-manager.io/issuer': 'mine',
      ...annotations,
    },
  }
  const spec = className === undefined ? {} : { ingressClassName: className }
  const ingresses = [{ apiVersion, kind: 'Ingress', metadata, spec }]
  const defaults = { classes: [traefik], nginxAnnotations: false }
  const found = findUnservedAnnotations({ ...defaults, ...observation, ingresses })
  return found.flatMap((one) => one.annotations)
}

const all = ['rewrite-target', 'use-regex']
const on = { classes: [traefik, nginx], nginxAnnotations: true }
const byAnnotation = (name: string) => ({ annotations: { 'kubernetes.io/ingress.class': name } })

test('without the provider no annotation has an effect', () => {
  for (const className of ['traefik', 'nginx']) {
    expect(findUnserved({ className })).toEqual(all)
    expect(findUnserved(byAnnotation(className))).toEqual(all)
  }
  expect(findUnserved({})).toEqual(all)
})

test('the provider serves the class nginx and Ingresses without a class', () => {
  const unserved = ['rewrite-target']
  expect(findUnserved({ className: 'nginx', observation: on })).toEqual(unserved)
  expect(findUnserved({ ...byAnnotation('nginx'), observation: on })).toEqual(unserved)
  expect(findUnserved({ observation: on })).toEqual(unserved)
  const other = buildClass('old-nginx', nginxControllerName)
  const observation = { ...on, classes: [traefik, nginx, other] }
  expect(findUnserved({ className: 'old-nginx', observation })).toEqual(unserved)
})

test('the provider does not serve the class traefik, or a class that does not exist', () => {
  expect(findUnserved({ className: 'traefik', observation: on })).toEqual(all)
  expect(findUnserved({ ...byAnnotation('traefik'), observation: on })).toEqual(all)
  expect(findUnserved({ className: 'missing', observation: on })).toEqual(all)
})

test('Ingresses of controllers that the operator installed are not reported', () => {
  const observation = { classes: [traefik, nginx, buildClass('haproxy', 'haproxy.org/ingress')] }
  for (const className of ['nginx', 'haproxy']) expect(findUnserved({ className, observation })).toEqual([])
  expect(findUnserved({ ...byAnnotation('nginx'), observation })).toEqual([])
  expect(findUnserved({ ...byAnnotation('haproxy'), observation })).toEqual([])
  expect(findUnserved({ observation })).toEqual([])
})

test('an Ingress with supported annotations only, or with none, is not reported', () => {
  const withAnnotations = (annotations: Record<string, string>) =>
    findUnservedAnnotations({
      ...on,
      ingresses: [{ apiVersion, kind: 'Ingress', metadata: { name: 'web', annotations } }],
    })
  const supported = [...supportedAnnotations].map((name) => [`nginx.ingress.kubernetes.io/${name}`, ''])
  expect(supported).toHaveLength(30)
  expect(withAnnotations(Object.fromEntries(supported))).toEqual([])
  expect(withAnnotations({})).toEqual([])
})
