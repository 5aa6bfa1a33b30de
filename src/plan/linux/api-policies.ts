import { stringify } from 'yaml'
import { type OidcSettings, readOidcFlags } from '../../spec/oidc.ts'
import { selectPodSecurity } from '../../spec/security.ts'
import type { LinuxPlanContext } from '../context.ts'

/**
 * Renders the authentication file, which allows anonymous requests for health endpoints only. OIDC flags of
 * cluster.yml become an authenticator of this file, because kube-apiserver refuses such flags together with
 * the file.
 */
export function renderAuthenticationConfiguration({
  cluster,
  attachments,
  release,
}: LinuxPlanContext): string {
  const oidc = readOidcFlags(cluster.spec.components.apiServer.args)
  return stringify({
    apiVersion: release.apiVersions.AuthenticationConfiguration,
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

/**
 * Lists the admission plugins to enable that are off by default in Kubernetes. kube-apiserver refuses a
 * plugin that is both enabled and disabled, so plugins that cluster.yml disables are left out.
 */
export function selectAdmissionPlugins({ cluster }: LinuxPlanContext): string[] {
  const { security, components, artifacts } = cluster.spec
  const disabled = new Set(components.apiServer.args['disable-admission-plugins']?.split(/[\s,]+/))
  // AlwaysPullImages is left out with an air-gap bundle, because nodes cannot pull its images again.
  const canPull = typeof artifacts === 'string' || !('bundle' in artifacts)
  const plugins = [
    'NodeRestriction',
    'DenyServiceExternalIPs',
    ...(security.profile === 'cis' ? ['EventRateLimit', ...(canPull ? ['AlwaysPullImages'] : [])] : []),
  ]
  return plugins.filter((plugin) => !disabled.has(plugin))
}

/**
 * Limits of events per second. A kubelet sends at most 50 per second, so only a broken or hostile client
 * reaches the limit of its namespace.
 */
const eventRateLimit = {
  name: 'EventRateLimit',
  configuration: {
    apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    limits: [
      { type: 'Server', qps: 2000, burst: 10_000 },
      { type: 'Namespace', qps: 200, burst: 2000, cacheSize: 4096 },
    ],
  },
}

/**
 * Configures admission plugins. kube-system is exempt from Pod Security, because network pods need more
 * privileges.
 */
export function renderAdmissionConfiguration(context: LinuxPlanContext): string {
  const level = selectPodSecurity(context.cluster.spec.security)
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      ...(selectAdmissionPlugins(context).includes(eventRateLimit.name) ? [eventRateLimit] : []),
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
 * requests are recorded with their content. The content of Secrets and ConfigMaps is never recorded. The
 * first matching rule applies.
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
