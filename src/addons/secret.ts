import { HyperkubeError } from '../kit/errors.ts'
import { KubeError } from '../kube/kube-error.ts'
import { describeReference, groupOf, type Reference } from './reference.ts'

export function isSecret({ apiVersion, kind }: Pick<Reference, 'apiVersion' | 'kind'>): boolean {
  return kind === 'Secret' && groupOf(apiVersion) === ''
}

/** What the API says of a value that it does not take may have the value in it. */
export function withoutValues(error: unknown, reference: Reference): unknown {
  if (!(error instanceof KubeError) || error.said === '') return error
  return new HyperkubeError(error.code, `${describeReference(reference)}: the API does not take it`, {
    hint: 'the reason is not shown, as it may hold what the Secret holds: kubectl apply --dry-run=server shows it',
  })
}
