import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { replaceObject } from '../../kube/write-objects.ts'
import { hasCertificate, withoutCertificate } from '../../pki/certificates.ts'
import { pollRotation, type RotationWaitOptions } from './poll.ts'

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).default({}) })
const configMapKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/** ConfigMap where API servers publish the CAs that extension API servers must trust. */
const authenticationConfigMap = { namespace: 'kube-system', name: 'extension-apiserver-authentication' }
const fields = { kubernetes: 'client-ca-file', 'front-proxy': 'requestheader-client-ca-file' } as const
export type PublishedCa = keyof typeof fields

const timeoutMs = 120_000

/** Waits until the ConfigMap contains a CA certificate. */
export async function waitUntilPublished(
  api: KubeClient,
  ca: PublishedCa,
  certificate: string,
  wait: RotationWaitOptions,
): Promise<void> {
  await pollRotation(
    wait,
    timeoutMs,
    async () => {
      const found = await findObject(api, configMapKind, authenticationConfigMap, { signal: wait.signal })
      const isThere = hasCertificate(found?.data[fields[ca]] ?? '', certificate)
      return isThere ? undefined : `the API to publish the new CA ${ca}`
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_PUBLISHED', `waited two minutes for ${reason}`, {
        hint: `kubectl -n ${authenticationConfigMap.namespace} get configmap ${authenticationConfigMap.name} -o yaml; then run the same command again`,
      }),
  )
}

/**
 * Removes a CA certificate from the ConfigMap. API servers only add certificates, so a replaced one would
 * stay until it expires.
 */
export async function unpublishCa(
  api: KubeClient,
  ca: PublishedCa,
  certificate: string,
  signal: AbortSignal,
): Promise<void> {
  const field = fields[ca]
  for (;;) {
    const found = await findObject(api, configMapKind, authenticationConfigMap, { signal })
    const now = found?.data[field] ?? ''
    if (found === undefined || !hasCertificate(now, certificate)) return
    const data = { ...found.data, [field]: withoutCertificate(now, certificate) }
    try {
      await replaceObject(api, { ...found, data }, { signal })
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    }
  }
}
