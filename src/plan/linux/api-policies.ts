import { stringify } from 'yaml'
import { type OidcSettings, readOidcFlags } from '../../spec/oidc.ts'
import type { LinuxPlanContext } from '../context.ts'

/**
 * Allows anonymous requests for health endpoints only. The OIDC flags of cluster.yml become an authenticator
 * of this file, because kube-apiserver accepts only one of file and flags.
 */
export function renderAuthenticationConfiguration({ cluster, attachments }: LinuxPlanContext): string {
  const oidc = readOidcFlags(cluster.spec.components.apiServer.args)
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    ...(oidc === undefined ? {} : { jwt: [buildJwtAuthenticator(oidc, attachments)] }),
    anonymous: { enabled: true, conditions: ['/livez', '/readyz', '/healthz'].map((path) => ({ path })) },
  })
}

function buildJwtAuthenticator(oidc: OidcSettings, attachments: ReadonlyMap<string, string>): object {
  const { issuer, audience, caFile, requiredClaim, username, groups } = oidc
  return {
    issuer: {
      url: issuer,
      audiences: [audience],
      ...(caFile === undefined ? {} : { certificateAuthority: attachments.get(caFile) ?? '' }),
    },
    ...(requiredClaim === undefined ? {} : { claimValidationRules: [requiredClaim] }),
    claimMappings: { username, ...(groups === undefined ? {} : { groups }) },
  }
}

/** Sets the default Pod Security level. kube-system is exempt because network pods need more privileges. */
export function renderAdmissionConfiguration(level: string): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      {
        name: 'PodSecurity',
        configuration: {
          apiVersion: 'pod-security.admission.config.k8s.io/v1',
          kind: 'PodSecurityConfiguration',
          defaults: {
            enforce: level,
            'enforce-version': 'latest',
            audit: level,
            'audit-version': 'latest',
            warn: level,
            'warn-version': 'latest',
          },
          exemptions: { usernames: [], runtimeClasses: [], namespaces: ['kube-system'] },
        },
      },
    ],
  })
}

/** Returns the audit policy that cluster.yml refers to, or the default policy. */
export function selectAuditPolicy({ cluster, attachments }: LinuxPlanContext): string {
  const { policy } = cluster.spec.security.audit
  return (policy === undefined ? undefined : attachments.get(policy)) ?? defaultAuditPolicy
}

const rbac = 'rbac.authorization.k8s.io'

/**
 * Audit policy that records the metadata of most requests. Changes to RBAC objects and certificate signing
 * requests are recorded with their content. The content of Secrets and ConfigMaps is never recorded. The first
 * matching rule applies.
 */
const defaultAuditPolicy: string = stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', nonResourceURLs: ['/livez*', '/readyz*', '/healthz*', '/version', '/metrics'] },
    { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
    {
      level: 'None',
      resources: [
        { group: '', resources: ['events'] },
        { group: 'events.k8s.io', resources: ['events'] },
      ],
    },
    {
      level: 'Metadata',
      resources: [
        { group: '', resources: ['secrets', 'configmaps', 'serviceaccounts/token'] },
        { group: 'authentication.k8s.io', resources: ['tokenreviews'] },
      ],
    },
    { level: 'Metadata', verbs: ['get', 'list', 'watch'] },
    {
      level: 'RequestResponse',
      resources: [
        { group: rbac },
        { group: 'certificates.k8s.io', resources: ['certificatesigningrequests'] },
      ],
    },
    { level: 'Metadata' },
  ],
})
