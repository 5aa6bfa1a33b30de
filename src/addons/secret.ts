import { HyperkubeError } from '../kit/errors.ts'
import { KubeError } from '../kube/kube-error.ts'
import { describeReference, parseGroup, type ObjectReference } from './reference.ts'

export function isSecret({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>): boolean {
  return kind === 'Secret' && parseGroup(apiVersion) === ''
}

/** Replaces an API error about a Secret, because its message may quote the rejected value. */
export function hideSecretValues(error: unknown, reference: ObjectReference): unknown {
  if (!(error instanceof KubeError) || error.apiMessage === '') return error
  return new HyperkubeError(error.code, `${describeReference(reference)}: the API does not take it`, {
    hint: 'the reason is not shown, as it may hold what the Secret holds: kubectl apply --dry-run=server shows it',
  })
}
