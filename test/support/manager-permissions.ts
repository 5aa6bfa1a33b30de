import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { managerUser } from '../../src/contract/manager-settings.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import type { ControllerDefinition } from '../../src/manager/controller.ts'
import { buildManagerRbac, formatControllerUser, informersUser } from '../../src/manager/rbac.ts'
import { type AccessRequest, FakeAuthorizer } from '../../src/manager/testing/fake-authorizer.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** Sensitive resources of a cluster, and resources that controllers use. */
const resources: readonly (readonly [group: string, resource: string, namespace?: string])[] = [
  ...(
    ['secrets', 'configmaps', 'pods', 'pods/exec', 'serviceaccounts', 'serviceaccounts/token'] as const
  ).map((resource) => ['', resource, 'kube-system'] as const),
  ...(
    ['nodes', 'nodes/status', 'nodes/proxy', 'namespaces', 'persistentvolumes', 'users', 'groups'] as const
  ).map((resource) => ['', resource] as const),
  ['', 'events', 'default'],
  ['events.k8s.io', 'events', 'default'],
  ['apps', 'deployments', 'kube-system'],
  ['apps', 'daemonsets', 'kube-system'],
  ['coordination.k8s.io', 'leases', 'kube-system'],
  ['coordination.k8s.io', 'leases', 'kube-node-lease'],
  ['certificates.k8s.io', 'certificatesigningrequests'],
  ['certificates.k8s.io', 'certificatesigningrequests/approval'],
  ['rbac.authorization.k8s.io', 'clusterroles'],
  ['rbac.authorization.k8s.io', 'clusterrolebindings'],
  ['apiextensions.k8s.io', 'customresourcedefinitions'],
  ['hyperkube.dev', 'hosts'],
  ['hyperkube.dev', 'hosts/status'],
  ['hyperkube.dev', 'clusterstatuses'],
  ['hyperkube.dev', 'clusterstatuses/status'],
]

interface Review {
  readonly status: { readonly allowed: boolean }
}

/**
 * Queries the API for the permissions of each controller's user. Returns all differences from the RBAC rules
 * of the controllers.
 */
export async function comparePermissions(
  api: KubeApi,
  rows: readonly ControllerDefinition[],
): Promise<{ readonly checked: number; readonly allowed: number; readonly problems: readonly string[] }> {
  const authorizer = new FakeAuthorizer(buildManagerRbac(rows))
  const acts = [managerUser, informersUser, ...rows.map(formatControllerUser)].flatMap((user) =>
    resources.flatMap(([group, resource, namespace]) =>
      verbs.map((verb): AccessRequest => ({ user, verb, group, resource, namespace, name: undefined })),
    ),
  )
  const problems: string[] = []
  let allowed = 0
  const check = async (act: AccessRequest): Promise<void> => {
    const actual = await isAllowed(api, act)
    if (actual) allowed++
    if (actual !== authorizer.authorize(act))
      problems.push(`${act.user} ${actual ? 'may' : 'may not'} ${act.verb} ${act.group} ${act.resource}`)
  }
  for (let next = 0; next < acts.length; next += 20) await settleAll(acts.slice(next, next + 20).map(check))
  return { checked: acts.length, allowed, problems }
}

async function isAllowed(
  api: KubeApi,
  { user, verb, group, resource: resourcePath, namespace }: AccessRequest,
): Promise<boolean> {
  const [resource, subresource] = resourcePath.split('/')
  const { status } = await api.createAndRead<Review>('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes: { verb, group, resource, subresource, namespace } },
  })
  return status.allowed
}
