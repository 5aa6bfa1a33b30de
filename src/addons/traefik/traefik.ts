import type { Manifest } from '../../kube/object.ts'
import type { IngressSettings } from '../../spec/addons.ts'
import { type AddonDefinition, imageOf } from '../addon-definition.ts'
import { clusterWide } from '../manifest-helpers.ts'
import { account } from '../service-account.ts'
import { app, daemonSet, ingressClass } from './daemon-set.ts'

export const traefik: AddonDefinition = {
  name: 'traefik',
  about: 'Ingresses, on the ports of every node',
  setting: 'ingress',
  images: ['traefik'],
  manifests(input) {
    const { ingress } = input.cluster.spec
    if (ingress === 'none') return []
    return [classOf(ingress), ...account(app, app, rights), daemonSet(ingress, imageOf(input, 'traefik'))]
  },
}

/** It reads Ingresses and what they lead to, certificates among it, and writes nothing. */
const rights = [
  { apiGroups: [''], resources: ['services', 'secrets', 'nodes'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['ingresses', 'ingressclasses'],
    verbs: ['list', 'watch'],
  },
]

function classOf({ defaultClass }: IngressSettings): Manifest {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: {
      ...clusterWide(ingressClass, app),
      annotations: { 'ingressclass.kubernetes.io/is-default-class': String(defaultClass) },
    },
    spec: { controller: 'traefik.io/ingress-controller' },
  }
}
