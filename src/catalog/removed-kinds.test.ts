import { expect, test } from 'vitest'
import { findRemovedManifests, listKindsRemovedUntil } from './removed-kinds.ts'

const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1beta1',
  kind: 'ValidatingAdmissionPolicy',
  name: 'limits',
}

test('a manifest is reported with the minor that removes its API version', () => {
  expect(findRemovedManifests('1.33.13', [policy])).toEqual([])
  expect(findRemovedManifests('1.37.1', [policy])).toMatchObject([
    {
      severity: 'warning',
      message:
        'ValidatingAdmissionPolicy limits was applied as admissionregistration.k8s.io/v1beta1, which Kubernetes 1.34 no longer serves',
    },
  ])
})

test('a manifest of an addon is an error', () => {
  const [finding] = findRemovedManifests('1.34.0', [{ ...policy, source: 'policies.yml' }])
  expect(finding).toMatchObject({ severity: 'error' })
  expect(finding?.message).toContain('policies.yml has ValidatingAdmissionPolicy limits in')
})

test('current API versions are not reported', () => {
  const current = { ...policy, apiVersion: 'admissionregistration.k8s.io/v1' }
  expect(findRemovedManifests('1.37.1', [current])).toEqual([])
  expect(listKindsRemovedUntil('1.32.0')).toEqual([])
})
