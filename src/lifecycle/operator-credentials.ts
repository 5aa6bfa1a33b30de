import type { Identity } from '../identity/identity.ts'
import type { Authority } from '../pki/ca.ts'
import { makeRequest } from '../pki/request.ts'
import type { Secret } from '../pki/secret.ts'
import { signRequest } from '../pki/sign.ts'

/** Longer than any command takes. */
const lifetime = 12 * 3_600_000

export interface OperatorCredentials {
  readonly certificate: string
  readonly privateKey: Secret
}

/**
 * What a command presents itself with, made for it and gone with it. To the API it is a member of system:masters, which
 * nobody can lock out: it must work in a cluster that has no roles yet, and in one whose roles are broken.
 */
export async function operatorCredentials(
  { authorities }: Identity,
  who: string,
  now: Date,
): Promise<{ readonly kubernetes: OperatorCredentials; readonly etcd: OperatorCredentials }> {
  return {
    kubernetes: await credentialsFor(
      authorities.kubernetes,
      `hyperkube:${who}`,
      ['system:masters'],
      now,
      lifetime,
    ),
    etcd: await credentialsFor(authorities.etcd, `hyperkube:${who}`, [], now, lifetime),
  }
}

/** A key and a certificate for it, for somebody who asks an authority. */
export async function credentialsFor(
  authority: Authority,
  commonName: string,
  organizations: readonly string[],
  now: Date,
  lifetimeOf: number,
): Promise<OperatorCredentials> {
  const subject = { commonName, organizations }
  const names = { dns: [], ip: [] }
  const { request, privateKey } = await makeRequest('operator', subject, names)
  const certificate = await signRequest(
    authority,
    request,
    { subject, names, usages: ['client'], lifetime: lifetimeOf },
    now,
  )
  return { certificate, privateKey }
}
