import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { formatObjectKey } from '../../kube/object-store.ts'
import { listObjects } from '../../kube/read-objects.ts'

const schema = kubeObject.extend({
  metadata: metadata.extend({ namespace: z.string() }),
  spec: z.record(z.string(), z.unknown()),
})
const podKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'Pod', schema }

/**
 * Lists the Secrets that pods of a node use now, as NAMESPACE/NAME. The API lets a node read exactly these
 * Secrets. Secrets of pods that ran on the node earlier are unknown and not listed.
 */
export async function listExposedSecrets(
  api: KubeClient,
  node: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { items } = await listObjects(api, podKind, { fields: `spec.nodeName=${node}`, signal })
  const names = items.flatMap(({ metadata: { namespace }, spec }) =>
    findSecretNames(spec).map((name) => formatObjectKey({ namespace, name })),
  )
  return [...new Set(names)].toSorted()
}

const secretName = z.looseObject({ secretName: z.string() }).transform((one) => one.secretName)
const namedSecret = z.looseObject({ name: z.string() }).transform(({ name }) => name)
const reference = z.union([secretName, namedSecret])

/** Finds all Secret references of a pod: in volumes, environment variables and imagePullSecrets. */
export function findSecretNames(value: unknown, key = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => findSecretNames(item, key))
  if (value === null || typeof value !== 'object') return []
  const own = /^secret$|secretKeyRef$|secretRef$|^imagePullSecrets$/i.test(key)
    ? reference.safeParse(value)
    : undefined
  return [
    ...(own?.success === true ? [own.data] : []),
    ...Object.entries(value).flatMap(([name, child]) => findSecretNames(child, name)),
  ]
}
