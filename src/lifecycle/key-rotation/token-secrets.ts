import { createHash, createPublicKey } from 'node:crypto'
import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { formatObjectKey } from '../../kube/object-store.ts'

/** Pod tokens are valid for an hour; five minutes are added for clock skew. */
export const tokenLifetimeMs = 65 * 60_000

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).default({}) })
const secretKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'Secret', schema }
const header = z.looseObject({ kid: z.string() })

/**
 * Finds Secrets with service account tokens that were signed with this key. Such tokens never expire. Returns
 * the Secrets as NAMESPACE/NAME.
 */
export async function findTokenSecrets(
  api: KubeClient,
  publicKey: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const id = computeKeyId(publicKey)
  const { items } = await listObjects(api, secretKind, {
    fields: 'type=kubernetes.io/service-account-token',
    signal,
  })
  return items
    .filter(({ data }) => readKeyId(Buffer.from(data['token'] ?? '', 'base64').toString('latin1')) === id)
    .map(({ metadata }) => formatObjectKey(metadata))
}

/** Computes the key id that API servers write into the tokens they sign. */
export function computeKeyId(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('base64url')
}

function readKeyId(token: string): string | undefined {
  try {
    const [first = ''] = token.split('.')
    return header.parse(JSON.parse(Buffer.from(first, 'base64url').toString('utf8'))).kid
  } catch {
    return undefined
  }
}
