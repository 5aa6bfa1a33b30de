import { expect, test } from 'vitest'
import { refused } from '../kube/kube-error.ts'
import { conflictsIn } from './conflict.ts'

function conflict(...causes: readonly { reason: string; message: string; field: string | undefined }[]) {
  return refused('PATCH /x', { status: 409, reason: 'Conflict', message: 'Apply failed', causes })
}

test('who has which field, as the API says it', () => {
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
  expect(conflictsIn(error)).toEqual([
    { path: '.spec.replicas', manager: 'kubectl-edit' },
    { path: '.data.a', manager: 'hpa' },
    { path: '.data.b', manager: 'argocd' },
    { path: '', manager: 'somebody else' },
  ])
})

test('other errors are none', () => {
  expect(conflictsIn(conflict())).toBeUndefined()
  expect(conflictsIn(new Error('x'))).toBeUndefined()
})
