import { expect, test } from 'vitest'
import { applyPatches } from './manifest.ts'
import { buildConfigMap, buildDeployment } from './testing/manifests.ts'

const manifests = [buildConfigMap('settings'), buildDeployment('web', 2)]

test('patches are applied in order, each to its own object', () => {
  const { manifests: after, findings } = applyPatches(
    manifests,
    [
      { kind: 'Deployment', name: 'web', patch: { spec: { replicas: 5, paused: true } } },
      { kind: 'Deployment', name: 'web', patch: { spec: { paused: null } } },
    ],
    'spec.dns.patches',
  )
  expect(findings).toEqual([])
  expect(after).toEqual([buildConfigMap('settings'), buildDeployment('web', 5)])
})

test('a patch for an unknown object is reported, with the objects that exist', () => {
  const patches = [{ kind: 'Deployment', name: 'wep', patch: {} }]
  expect(applyPatches(manifests, patches, 'spec.dns.patches')).toEqual({
    manifests,
    findings: [
      {
        code: 'ADDON_PATCH_UNUSED',
        severity: 'error',
        message: 'there is no Deployment wep in this addon',
        hint: 'its objects: ConfigMap settings, Deployment web',
        path: 'spec.dns.patches[0]',
      },
    ],
  })
})

test.each([
  { metadata: null },
  { kind: 'DaemonSet' },
  { metadata: { name: 'other' } },
  { metadata: { namespace: null } },
])('the patch %j is invalid, because it changes the identity of the object', (patch) => {
  const { manifests: after, findings } = applyPatches(
    manifests,
    [{ kind: 'Deployment', name: 'web', patch }],
    'p',
  )
  expect(after).toEqual(manifests)
  expect(findings.map(({ code }) => code)).toEqual(['ADDON_PATCH_INVALID'])
})
