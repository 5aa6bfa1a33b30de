import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { find } from '../../kube/read-objects.ts'
import { replace } from '../../kube/write-objects.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { hasCertificate, withoutCertificate } from '../../pki/pem-bundle.ts'
import { type Patience, waitPatiently } from './poll.ts'

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).default({}) })
const configMapKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/** Where API servers say whom those shall trust that serve a part of the API in the cluster. */
const place = { namespace: 'kube-system', name: 'extension-apiserver-authentication' }
const fields = { kubernetes: 'client-ca-file', 'front-proxy': 'requestheader-client-ca-file' } as const
export type PublishedAuthority = keyof typeof fields

const within = 120_000

/** Waits until API servers have said that a certificate of an authority is to be trusted. */
export async function published(
  api: KubeClient,
  authority: PublishedAuthority,
  certificate: string,
  patience: Patience,
): Promise<void> {
  await waitPatiently(
    patience,
    within,
    async () => {
      const found = await find(api, configMapKind, place, { signal: patience.signal })
      const isThere = hasCertificate(found?.data[fields[authority]] ?? '', certificate)
      return isThere ? undefined : `the API to tell of the new authority ${authority}`
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_PUBLISHED', `waited two minutes for ${reason}`, {
        hint: `kubectl -n ${place.namespace} get configmap ${place.name} -o yaml; then the same command again`,
      }),
  )
}

/** Takes a certificate out of what they say: they only ever add to it, and the former one would stay until it expires. */
export async function unpublish(
  api: KubeClient,
  authority: PublishedAuthority,
  certificate: string,
  signal: AbortSignal,
): Promise<void> {
  const field = fields[authority]
  for (;;) {
    const found = await find(api, configMapKind, place, { signal })
    const now = found?.data[field] ?? ''
    if (found === undefined || !hasCertificate(now, certificate)) return
    const data = { ...found.data, [field]: withoutCertificate(now, certificate) }
    try {
      await replace(api, { ...found, data }, { signal })
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    }
  }
}
