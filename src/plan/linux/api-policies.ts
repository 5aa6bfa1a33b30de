import { stringify } from 'yaml'
import type { LinuxScene } from '../context.ts'

/** Nobody is anonymous but who asks how the server is. */
export const authenticationConfiguration: string = stringify({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  anonymous: { enabled: true, conditions: ['/livez', '/readyz', '/healthz'].map((path) => ({ path })) },
})

/** What pods may do in namespaces that do not say; the system's own namespace is exempt, as networks need more. */
export function admissionConfiguration(level: string): string {
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

/** The person's own policy, or ours. */
export function auditPolicy({ cluster, attachments }: LinuxScene): string {
  const { policy } = cluster.spec.security.audit
  return (policy === undefined ? undefined : attachments.get(policy)) ?? defaultPolicy
}

const rbac = 'rbac.authorization.k8s.io'

/**
 * Who did what, without the content of secrets; in full where rights and identities are given. The first rule that fits
 * counts.
 */
const defaultPolicy: string = stringify({
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
