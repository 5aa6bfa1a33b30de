import { expect, test } from 'vitest'
import { readAdmission } from './admission-file.ts'

async function read(files: Readonly<Record<string, string>>) {
  return readAdmission('/etc/kubernetes/admission.yaml', async (path) => files[path] ?? '')
}

const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n'

test('the file that RKE1 always writes restricts nothing', async () => {
  const text = `${header}plugins:
- configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits:
    - burst: 20000
      qps: 5000
      type: Server
  name: EventRateLimit
  path: ""
- configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    defaults:
      enforce: privileged
      enforce-version: latest
    exemptions: {}
    kind: PodSecurityConfiguration
  name: PodSecurity
  path: ""
`
  expect(await read({ '/etc/kubernetes/admission.yaml': text })).toEqual({
    plugins: ['EventRateLimit'],
    podSecurity: {
      enforce: 'privileged',
      version: 'latest',
      audit: 'privileged',
      warn: 'privileged',
      namespaces: [],
      usernames: [],
      runtimeClasses: [],
    },
  })
})

test('settings of Pod Security may be in a file of their own, and nothing of other plugins is kept', async () => {
  const admission = `${header}plugins:
  - { name: ImagePolicyWebhook, configuration: { imagePolicy: { kubeConfigFile: /secret/kubeconfig } } }
  - { name: PodSecurity, path: security.yaml }
`
  const security = `kind: PodSecurityConfiguration
defaults: { enforce: baseline, enforce-version: v1.30, warn: restricted }
exemptions: { namespaces: [kube-system, ingress-nginx], usernames: [ci], runtimeClasses: null }
`
  const found = await read({
    '/etc/kubernetes/admission.yaml': admission,
    '/etc/kubernetes/security.yaml': security,
  })
  expect(found).toEqual({
    plugins: ['ImagePolicyWebhook'],
    podSecurity: {
      enforce: 'baseline',
      version: 'v1.30',
      audit: 'privileged',
      warn: 'restricted',
      namespaces: ['ingress-nginx', 'kube-system'],
      usernames: ['ci'],
      runtimeClasses: [],
    },
  })
  expect(JSON.stringify(found)).not.toContain('secret')
})

test.each([
  '',
  'kind: Other',
  `${header}plugins: [{ name: PodSecurity, configuration: { kind: PodSecurityConfiguration, defaults: { enforce: strict } } }]`,
])('a file that is not understood has no settings: %j', async (text) => {
  expect(await read({ '/etc/kubernetes/admission.yaml': text })).toBeUndefined()
})
