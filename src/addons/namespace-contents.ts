import { z } from 'zod'
import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { type Kind, kindOf, type KubeObject } from '../kube/object.ts'
import { list } from '../kube/read-objects.ts'
import type { CallOptions } from '../kube/request.ts'
import type { Inside } from './decide-prune.ts'
import { describeReference, referenceOf } from './reference.ts'
import { isDefinition, isNamespace } from './waves.ts'

const rbac = 'rbac.authorization.k8s.io/v1'

/** What somebody would miss. The rest of a namespace is made anew by whoever made it. */
const missed: readonly Kind[] = [
  kindOf('v1', 'PersistentVolumeClaim'),
  kindOf('v1', 'Secret'),
  kindOf('v1', 'ConfigMap'),
  kindOf('v1', 'Service'),
  kindOf('v1', 'ServiceAccount'),
  kindOf('v1', 'Pod'),
  kindOf('apps/v1', 'Deployment'),
  kindOf('apps/v1', 'DaemonSet'),
  kindOf('apps/v1', 'StatefulSet'),
  kindOf('batch/v1', 'CronJob'),
  kindOf('batch/v1', 'Job'),
  kindOf('networking.k8s.io/v1', 'Ingress'),
  kindOf('networking.k8s.io/v1', 'NetworkPolicy'),
  kindOf(rbac, 'Role'),
  kindOf(rbac, 'RoleBinding'),
]

/** Kubernetes puts these into every namespace. */
const everywhere = new Set(['ConfigMap kube-root-ca.crt', 'ServiceAccount default'])

const owned = z.looseObject({ ownerReferences: z.array(z.unknown()).min(1) })

const definition = z.looseObject({
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ kind: z.string() }),
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })),
  }),
})

/** What would go with a namespace or a definition: what is in it, or of its kind. Nothing goes with others. */
export async function insideOf(
  client: KubeClient,
  object: KubeObject,
  options: CallOptions = {},
): Promise<Inside[]> {
  const reference = referenceOf(object)
  if (isNamespace(reference)) {
    const all = await settleAll(
      missed.map(async (kind) => listed(client, kind, { namespace: reference.name, ...options })),
    )
    return all
      .flat()
      .filter(({ kind, metadata }) => !everywhere.has(`${kind} ${metadata.name}`))
      .filter(({ metadata }) => !owned.safeParse(metadata).success)
      .map(insideAs)
  }
  if (!isDefinition(reference)) return []
  const { group, names, versions } = definition.parse(object).spec
  const served = versions.find((version) => version.served)
  if (served === undefined) return [{ uid: undefined, what: 'objects of versions that are not served' }]
  return (await listed(client, kindOf(`${group}/${served.name}`, names.kind), options)).map(insideAs)
}

function insideAs(object: KubeObject): Inside {
  return { uid: object.metadata.uid, what: describeReference(referenceOf(object)) }
}

async function listed(
  client: KubeClient,
  kind: Kind,
  options: CallOptions & { readonly namespace?: string },
): Promise<readonly KubeObject[]> {
  try {
    return (await list(client, kind, options)).items
  } catch (error) {
    // A definition that was never established has no objects.
    if (isKubeError(error, 'KUBE_KIND_UNKNOWN') || isKubeError(error, 'KUBE_NOT_FOUND')) return []
    throw error
  }
}
