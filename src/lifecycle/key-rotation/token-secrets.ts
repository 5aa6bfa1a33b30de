import { createHash, createPublicKey } from 'node:crypto'
import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { list } from '../../kube/read-objects.ts'
import { keyOf } from '../../kube/object-store.ts'

/** Tokens that pods get are good for an hour, and a little more for clocks that differ. */
export const tokenLifetime = 65 * 60_000

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).default({}) })
const secretKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'Secret', schema }
const header = z.looseObject({ kid: z.string() })

/** Secrets that hold a token which never expires and was signed with a key: NAMESPACE/NAME. */
export async function tokenSecrets(
  api: KubeClient,
  publicKey: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const id = keyId(publicKey)
  const { items } = await list(api, secretKind, {
    fields: 'type=kubernetes.io/service-account-token',
    signal,
  })
  return items
    .filter(({ data }) => signedWith(Buffer.from(data['token'] ?? '', 'base64').toString('latin1')) === id)
    .map(({ metadata }) => keyOf(metadata))
}

/** As API servers name a key in the tokens that they sign with it. */
export function keyId(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('base64url')
}

function signedWith(token: string): string | undefined {
  try {
    const [first = ''] = token.split('.')
    return header.parse(JSON.parse(Buffer.from(first, 'base64url').toString('utf8'))).kid
  } catch {
    return undefined
  }
}
