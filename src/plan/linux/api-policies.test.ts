import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createIdentity } from '../../identity/identity.ts'
import { buildCheckedInput, checkCase } from '../checks/testing/fixtures.ts'
import { planCluster } from '../plan.ts'

const anonymous = {
  enabled: true,
  conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }],
}
const file = '/etc/hyperkube/kube-apiserver/authentication.yaml'
const flags = 'oidc-issuer-url: "https://id.example.com", oidc-client-id: kubernetes'

function buildCase(args: string, attachments: Readonly<Record<string, string>> = {}) {
  return {
    spec: [`components: { apiServer: { args: { ${args} } } }`],
    input: (input: ReturnType<typeof buildCheckedInput>) => ({
      ...input,
      attachments: new Map(Object.entries(attachments)),
    }),
  }
}

type TestCase = Parameters<typeof buildCheckedInput>[0]

/** Plans a control plane and returns a file and the command of its API server. */
function planApiServer(testCase: TestCase, path = file): { config: unknown; command: string } {
  const { plans, findings } = planCluster(buildCheckedInput(testCase))
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  const component = plans
    .find(({ host }) => host === 'cp1')
    ?.components.find(({ name }) => name === 'kube-apiserver')
  const content = component?.files.find((one) => one.path === path)?.content
  return {
    config: content?.kind === 'text' ? parse(content.text) : undefined,
    command: JSON.stringify(component?.service),
  }
}

describe('the authentication file of kube-apiserver', () => {
  test('limits anonymous requests to health paths', () => {
    const { config, command } = planApiServer(buildCase(''))
    expect(config).toEqual({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      anonymous,
    })
    expect(command).toContain(`--authentication-config=${file}`)
  })

  test('keeps the anonymous limit with OIDC flags, which become a JWT authenticator', () => {
    const { config, command } = planApiServer(
      buildCase(
        `${flags}, oidc-groups-claim: groups, oidc-groups-prefix: "oidc:", oidc-required-claim: hd=a`,
      ),
    )
    expect(command).toContain(`--authentication-config=${file}`)
    expect(command).not.toContain('--oidc-')
    expect(config).toMatchObject({
      anonymous,
      jwt: [
        {
          issuer: { url: 'https://id.example.com', audiences: ['kubernetes'] },
          claimValidationRules: [{ claim: 'hd', requiredValue: 'a' }],
          claimMappings: {
            username: { claim: 'sub', prefix: 'https://id.example.com#' },
            groups: { claim: 'groups', prefix: 'oidc:' },
          },
        },
      ],
    })
  })

  test('contains the CA certificate of the provider', async () => {
    const identity = await createIdentity('provider', new Date('2026-11-15T00:00:00Z'))
    const ca = identity.cas.kubernetes.certificate
    const { config } = planApiServer(buildCase(`${flags}, oidc-ca-file: id.pem`, { 'id.pem': ca }))
    expect(config).toMatchObject({ jwt: [{ issuer: { certificateAuthority: ca } }] })
  })
})

test.each([
  ['is missing', {}, 'PLAN_FILE_MISSING'],
  ['contains no certificate', { 'id.pem': 'hello' }, 'OIDC_INVALID'],
  ['contains a private key', { 'id.pem': '-----BEGIN PRIVATE KEY-----' }, 'OIDC_INVALID'],
])('a CA file that %s is refused', (_, attachments, code) => {
  expect(checkCase(buildCase(`${flags}, oidc-ca-file: id.pem`, attachments))).toMatchObject([
    { code, severity: 'error', path: 'spec.components.apiServer.args.oidc-ca-file' },
  ])
})

describe('the admission configuration of kube-apiserver', () => {
  const admission = '/etc/hyperkube/kube-apiserver/admission.yaml'

  test.each([
    ['security: {}', 'NodeRestriction,DenyServiceExternalIPs', 'baseline'],
    [
      'security: { profile: cis }',
      'NodeRestriction,DenyServiceExternalIPs,EventRateLimit,AlwaysPullImages',
      'restricted',
    ],
    ['security: { podSecurity: privileged }', 'NodeRestriction,DenyServiceExternalIPs', 'privileged'],
  ])('with %s enables the plugins %s and enforces the level %s', (spec, plugins, level) => {
    const { config, command } = planApiServer({ spec: [spec] }, admission)
    expect(command).toContain(`--enable-admission-plugins=${plugins} `)
    expect(config).toMatchObject({
      plugins: expect.arrayContaining([
        expect.objectContaining({
          name: 'PodSecurity',
          configuration: expect.objectContaining({
            defaults: expect.objectContaining({ enforce: level }),
            exemptions: { usernames: [], runtimeClasses: [], namespaces: ['kube-system'] },
          }),
        }),
      ]),
    })
    expect(JSON.stringify(config).includes('eventratelimit.admission.k8s.io')).toBe(level === 'restricted')
  })

  test('omits plugins that cluster.yml disables, because kube-apiserver refuses plugins in both lists', () => {
    const args = 'disable-admission-plugins: "DenyServiceExternalIPs, EventRateLimit"'
    const { config, command } = planApiServer(
      { spec: ['security: { profile: cis }', `components: { apiServer: { args: { ${args} } } }`] },
      admission,
    )
    expect(command).toContain('--enable-admission-plugins=NodeRestriction,AlwaysPullImages ')
    expect(JSON.stringify(config)).not.toContain('EventRateLimit')
  })

  test('omits AlwaysPullImages if images come from a bundle', () => {
    const spec = ['security: { profile: cis }', 'artifacts: { bundle: shop.bundle }']
    expect(planApiServer({ spec }).command).not.toContain('AlwaysPullImages')
  })
})
