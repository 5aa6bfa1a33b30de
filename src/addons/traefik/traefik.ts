import type { Manifest } from '../../kube/object.ts'
import type { IngressSettings } from '../../spec/addons.ts'
import { type AddonDefinition, findAddonImage } from '../addon-definition.ts'
import { buildClusterMetadata } from '../manifest-helpers.ts'
import { buildServiceAccount } from '../service-account.ts'
import { traefikApp, buildTraefikDaemonSet, traefikIngressClass } from './daemon-set.ts'

export const traefik: AddonDefinition = {
  name: 'traefik',
  description: 'Ingresses, on the ports of every node',
  setting: 'ingress',
  images: ['traefik'],
  buildManifests(input) {
    const { ingress } = input.cluster.spec
    if (ingress === 'none') return []
    return [
      buildIngressClass(ingress),
      ...buildServiceAccount(traefikApp, traefikApp, rules),
      buildTraefikDaemonSet(ingress, findAddonImage(input, 'traefik')),
    ]
  },
}

/** RBAC rules of Traefik. It reads Ingresses and their backends, including certificates. */
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
    spec: { controller: 'traefik.io/ingress-controller' },
  }
}
