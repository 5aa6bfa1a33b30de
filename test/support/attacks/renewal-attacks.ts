import { X509Certificate } from 'node:crypto'
import { buildSigningRequest } from '../../../src/agent/renewal/signing-request.ts'
import { pollUntil } from '../../../src/kit/poll.ts'
import { inspectCertificate } from '../../../src/pki/certificates.ts'
import { proveRenewal } from '../../../src/pki/check-renewal.ts'
import { makeRequest } from '../../../src/pki/request.ts'
import { ApiError, KubeApi } from '../../../lab/cluster/kube-api.ts'
import { findDecision, signingRequestsPath } from '../signing-requests.ts'
import { type AttackContext, type AttackResult, getApiOrigin } from './attack.ts'
import type { StolenCertificate } from './stolen-credentials.ts'

interface RenewalAttempt {
  /** Node identity that sends the request. */
  readonly requester: StolenCertificate
  /** Certificate that the request claims to renew, with its private key. */
  readonly previous: StolenCertificate
}

interface SigningRequestObject {
  readonly metadata: { readonly name: string }
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[]
    readonly certificate?: string
  }
}

/** Requests a renewal and waits for the decision of a control plane. */
export async function attemptRenewal(
  { cluster }: AttackContext,
  { requester, previous }: RenewalAttempt,
): Promise<AttackResult> {
  const { commonName = '', organizations, names, usages } = inspectCertificate(previous.certificate)
  const { request } = await makeRequest('attack', { commonName, organizations }, names)
  const pem = new X509Certificate(previous.certificate).toString()
  const proof = proveRenewal(request, pem, previous.key)
  const manifest = buildSigningRequest({ request, previous: pem, proof }, usages)
  const attacker = new KubeApi(getApiOrigin({ cluster }), {
    ca: cluster.identity.cas.kubernetes.certificate,
    certificate: requester.certificate,
    key: requester.key,
  })
  try {
    await attacker.create(signingRequestsPath, manifest)
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return { refused: true, details: error.message }
    throw error
  } finally {
    attacker.close()
  }
  const path = `${signingRequestsPath}/${manifest.metadata.name}`
  const decided = await pollUntil(
    `a decision about ${commonName}`,
    async () => {
      const object = await cluster.api.get<SigningRequestObject>(path)
      const decision = findDecision(object)
      if (decision === 'Denied') return object
      return object.status.certificate === undefined ? false : object
    },
    { timeoutMs: 180_000, intervalMs: 1000 },
  )
  const refused = findDecision(decided) === 'Denied'
  const details = (decided.status.conditions ?? [])
    .map(({ type, message }) => `${type}: ${message}`)
    .join('; ')
  return { refused, details }
}
