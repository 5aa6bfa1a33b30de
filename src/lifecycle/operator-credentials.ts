import type { Identity } from '../identity/identity.ts'
import type { Ca } from '../pki/ca.ts'
import { makeRequest } from '../pki/request.ts'
import type { Secret } from '../pki/secret.ts'
import { signRequest } from '../pki/sign.ts'

/** Milliseconds; longer than any command takes. */
const operatorLifetimeMs = 12 * 3_600_000

export interface OperatorCredentials {
  readonly certificate: string
  readonly privateKey: Secret
}

/**
 * Issues short-lived client certificates for one command. The API user is in system:masters, which does not
 * depend on RBAC, because commands must work even if roles are missing or broken.
 */
export async function issueOperatorCredentials(
  { cas }: Identity,
  operator: string,
  now: Date,
): Promise<{ readonly kubernetes: OperatorCredentials; readonly etcd: OperatorCredentials }> {
  return {
    kubernetes: await issueClientCredentials(
      cas.kubernetes,
      `hyperkube:${operator}`,
      ['system:masters'],
      now,
      operatorLifetimeMs,
    ),
    etcd: await issueClientCredentials(cas.etcd, `hyperkube:${operator}`, [], now, operatorLifetimeMs),
  }
}

/** Creates a key and a client certificate signed by a CA. */
export async function issueClientCredentials(
  ca: Ca,
  commonName: string,
  organizations: readonly string[],
  now: Date,
  lifetimeMs: number,
): Promise<OperatorCredentials> {
  const subject = { commonName, organizations }
  const names = { dns: [], ip: [] }
  const { request, privateKey } = await makeRequest('operator', subject, names)
  const certificate = await signRequest(
    ca,
    request,
    { subject, names, usages: ['client'], lifetime: lifetimeMs },
    now,
  )
  return { certificate, privateKey }
}
