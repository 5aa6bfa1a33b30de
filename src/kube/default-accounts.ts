import type { Manifest } from './object.ts'

const group = 'admissionregistration.k8s.io'
const name = 'default-accounts.hyperkube.dev'

/** Namespaces that Kubernetes creates before hyperkube can apply `defaultAccountsPolicy`. */
const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/**
 * Disables token mounting for the default service accounts of `systemNamespaces`. With the profile cis, a pod
 * that needs the API must name its own account.
 */
export const defaultAccounts: readonly Manifest[] = systemNamespaces.map((namespace) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'default', namespace },
  automountServiceAccountToken: false,
}))

/** Disables token mounting for the default service account of each namespace that is created later. */
export const defaultAccountsPolicy: readonly Manifest[] = [
  {
    apiVersion: `${group}/v1`,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], resources: ['serviceaccounts'], operations: ['CREATE'] },
        ],
      },
      matchConditions: [
        {
          name: 'default',
          expression: `object.metadata.name == 'default' && !has(object.automountServiceAccountToken)`,
        },
      ],
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{automountServiceAccountToken: false}' },
        },
      ],
    },
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  },
]
