import { expect, test } from 'vitest'
import { buildRefusalError } from '../kube/kube-error.ts'
import { findConflicts } from './conflict.ts'

function conflict(...causes: readonly { reason: string; message: string; field: string | undefined }[]) {
  return buildRefusalError('PATCH /x', { status: 409, reason: 'Conflict', message: 'Apply failed', causes })
}

test('conflicting fields and their managers are read from the API error', () => {
  const reason = 'FieldManagerConflict'
  const error = conflict(
    {
      reason,
      field: '.spec.replicas',
      message: 'conflict with "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z',
    },
    { reason, field: '.data.a', message: 'conflict with "hpa" with subresource "scale" using v1' },
    { reason, field: '.data.b', message: 'conflict with "argocd"' },
    { reason, field: undefined, message: 'something new' },
  )
  expect(findConflicts(error)).toEqual([
    { path: '.spec.replicas', manager: 'kubectl-edit' },
    { path: '.data.a', manager: 'hpa' },
    { path: '.data.b', manager: 'argocd' },
    { path: '', manager: 'an unknown manager' },
  ])
})

test('errors without a field conflict have no conflicts', () => {
  expect(findConflicts(conflict())).toBeUndefined()
  expect(findConflicts(new Error('x'))).toBeUndefined()
})
