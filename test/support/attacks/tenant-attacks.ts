import { issueClientCertificate } from '../client-certificate.ts'
import { buildCommonAttacks } from './api-attacks.ts'
import { type Attack, type AttackContext, attemptRequest, getApiOrigin } from './attack.ts'
import type { StolenCertificate } from './stolen-credentials.ts'

/** Namespace of the tenant who attacks. */
const namespace = 'tenant'

/** Content of a Secret that no attacker may read. */
export const victimSecret = 'the secret of the victim'

/** Creates the tenant with the ClusterRole `edit` in one namespace, and a victim in another one. */
export async function createTenant({ cluster }: AttackContext): Promise<StolenCertificate> {
  const { api, identity } = cluster
  for (const name of [namespace, 'victim'])
    await api.ensure('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await api.ensure('/api/v1/namespaces/victim/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'password' },
    stringData: { word: victimSecret },
  })
  const group = 'rbac.authorization.k8s.io'
  await api.ensure(`/apis/${group}/v1/namespaces/${namespace}/rolebindings`, {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'tenant' }],
  })
  const { certificate, key } = await issueClientCertificate(identity, 'kubernetes', 'tenant', [])
  return { kind: 'certificate', path: 'tenant', commonName: 'tenant', certificate, key }
}

export function buildTenantAttacks(context: AttackContext, tenant: StolenCertificate): Attack[] {
  const api = getApiOrigin(context)
  return buildCommonAttacks(namespace).map((attempt) => ({
    attacker: 'tenant with edit rights' as const,
    what: attempt.what,
    run: async () => attemptRequest(api, tenant, attempt),
  }))
}
