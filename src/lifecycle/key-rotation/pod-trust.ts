import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { hasCertificate } from '../../pki/certificates.ts'
import { pollRotation, type RotationWaitOptions } from './poll.ts'

/**
 * ConfigMap with the CAs that pods trust for the API. It exists in every namespace and is mounted in every
 * pod that has a token.
 */
export const rootCaName = 'kube-root-ca.crt'
const timeoutMs = 120_000

const schema = kubeObject.extend({
  metadata: metadata.extend({
    namespace: z.string(),
    creationTimestamp: z.string(),
    managedFields: z.array(z.looseObject({ time: z.string().optional() })).default([]),
  }),
  data: z.record(z.string(), z.string()).default({}),
})
type RootCaConfigMap = z.infer<typeof schema>
const kind: Kind<RootCaConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/**
 * Waits until the ConfigMaps of all namespaces contain a CA certificate. Returns the time of the last change
 * of each ConfigMap, by namespace.
 */
export async function waitUntilTrusted(
  api: KubeClient,
  certificate: string,
  wait: RotationWaitOptions,
): Promise<ReadonlyMap<string, number>> {
  const isDone = ({ data }: RootCaConfigMap): boolean => hasCertificate(data['ca.crt'] ?? '', certificate)
  const roots = await waitForNamespaces(api, isDone, 'to receive the new CA', wait)
  return new Map(roots.map((root) => [root.metadata.namespace, lastChange(root.metadata)]))
}

/** Waits until no namespace has the CA certificate in its ConfigMap any more. */
export async function waitUntilDistrusted(
  api: KubeClient,
  certificate: string,
  wait: RotationWaitOptions,
): Promise<void> {
  const isDone = ({ data }: RootCaConfigMap): boolean => !hasCertificate(data['ca.crt'] ?? '', certificate)
  await waitForNamespaces(api, isDone, 'to drop the previous CA', wait)
}

/**
 * Waits until the ConfigMaps of all namespaces satisfy `isDone`. The active controller manager updates them
 * one after the other.
 */
async function waitForNamespaces(
  api: KubeClient,
  isDone: (root: RootCaConfigMap) => boolean,
  what: string,
  wait: RotationWaitOptions,
): Promise<readonly RootCaConfigMap[]> {
  let found: readonly RootCaConfigMap[] = []
  const options = { fields: `metadata.name=${rootCaName}`, signal: wait.signal }
  await pollRotation(
    wait,
    timeoutMs,
    async () => {
      found = (await listObjects(api, kind, options)).items
      const remaining = found.filter((root) => !isDone(root)).length
      if (found.length === 0) return 'kube-controller-manager to publish the CA to namespaces'
      return remaining === 0 ? undefined : `${remaining} of ${found.length} namespaces ${what}`
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_PUBLISHED', `waited two minutes for ${reason}`, {
        hint: 'on control planes: journalctl -u kube-controller-manager -n 50; then run the same command again',
      }),
  )
  return found
}

function lastChange({ managedFields, creationTimestamp }: RootCaConfigMap['metadata']): number {
  const times = managedFields.flatMap(({ time }) => time ?? [])
  return Math.max(...[creationTimestamp, ...times].map((time) => Date.parse(time)))
}
