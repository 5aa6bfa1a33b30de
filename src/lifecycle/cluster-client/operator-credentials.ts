import type { Identity } from '../../identity/identity.ts'
import type { Ca } from '../../pki/ca.ts'
import type { Secret } from '../../pki/secret.ts'
import { issueCertificate } from '../../pki/sign.ts'

/** Lifetime of an operator's client certificate in milliseconds. It is longer than any command takes. */
const operatorLifetimeMs = 12 * 3_600_000

export interface OperatorCredentials {
  readonly certificate: string
  readonly privateKey: Secret
}

/** Operator for whom credentials are issued. */
export interface OperatorAccess {
  readonly identity: Identity
  /** Name of the operator who runs the command. */
  readonly operator: string
  readonly now: Date
}

/**
 * Issues a short-lived client certificate for one command. The API user is in system:masters, whose
 * permissions do not depend on RBAC. Commands must work even if roles are missing or broken.
 */
export async function issueOperatorCredentials(
  { identity, operator, now }: OperatorAccess,
  server: 'kubernetes' | 'etcd',
): Promise<OperatorCredentials> {
  const organizations = server === 'kubernetes' ? ['system:masters'] : []
  const ca = identity.cas[server]
  return issueClientCredentials(ca, `hyperkube:${operator}`, organizations, now, operatorLifetimeMs)
}

/**
 * Group that is bound to the ClusterRole cluster-admin. Its members lose access when this binding is deleted.
 */
export const adminGroup = 'hyperkube:admins'

/** Issues credentials for a person. Audit logs show the user name and the machine of this person. */
export async function issueAdminCredentials(
  ca: Ca,
  { user, machine }: { readonly user: string; readonly machine: string },
  now: Date,
  lifetimeMs: number,
  group = adminGroup,
): Promise<OperatorCredentials> {
  return issueClientCredentials(ca, `${user}@${machine}`, [group], now, lifetimeMs)
}

/** Creates a key and a client certificate signed by a CA. */
export async function issueClientCredentials(
  ca: Ca,
  commonName: string,
  organizations: readonly string[],
  now: Date,
  lifetimeMs: number,
): Promise<OperatorCredentials> {
  const spec = {
    subject: { commonName, organizations },
    names: { dns: [], ip: [] },
    usages: ['client' as const],
    lifetime: lifetimeMs,
  }
  return issueCertificate(ca, 'operator', spec, now)
}
