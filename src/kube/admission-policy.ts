import type { Manifest } from './object.ts'

const group = 'admissionregistration.k8s.io'

interface AdmissionPolicyOptions {
  readonly spec: Readonly<Record<string, unknown>>
  /**
   * ConfigMap that the expressions of the policy read as `params`. If this ConfigMap does not exist, the
   * policy allows everything.
   */
  readonly paramRef?: { readonly namespace: string; readonly name: string }
}

/**
 * Builds a ValidatingAdmissionPolicy that denies requests, and its binding. If an expression of the policy
 * fails with an error, the request is denied, too.
 */
export function buildAdmissionPolicy(name: string, { spec, paramRef }: AdmissionPolicyOptions): Manifest[] {
  return [
    {
      apiVersion: `${group}/v1`,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        ...(paramRef === undefined ? {} : { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }),
        ...spec,
      },
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: {
        policyName: name,
        ...(paramRef === undefined ? {} : { paramRef: { ...paramRef, parameterNotFoundAction: 'Allow' } }),
        validationActions: ['Deny'],
      },
    },
  ]
}
