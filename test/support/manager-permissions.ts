import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import type { ControllerRow } from '../../src/manager/controller.ts'
import { informersUser, managerObjects, userOf } from '../../src/manager/rbac.ts'
import { type Act, TestAuthorizer } from '../../src/manager/testing/fake-authorizer.ts'
import { managerUser } from '../../src/contract/manager-settings.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** What a cluster has that matters, with what each controller touches. */
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

/** Asks the API what each identity may do, and answers with all that is otherwise than the table says. */
export async function compareRights(
  api: KubeApi,
  rows: readonly ControllerRow[],
): Promise<{ readonly asked: number; readonly allowed: number; readonly wrong: readonly string[] }> {
  const known = new TestAuthorizer(managerObjects(rows))
  const acts = [managerUser, informersUser, ...rows.map(userOf)].flatMap((user) =>
    resources.flatMap(([group, resource, namespace]) =>
      verbs.map((verb): Act => ({ user, verb, group, resource, namespace, name: undefined })),
    ),
  )
  const wrong: string[] = []
  let allowed = 0
  const ask = async (act: Act): Promise<void> => {
    const may = await mayReally(api, act)
    if (may) allowed++
    if (may !== known.mayDo(act))
      wrong.push(`${act.user} ${may ? 'may' : 'may not'} ${act.verb} ${act.group} ${act.resource}`)
  }
  for (let next = 0; next < acts.length; next += 20) await settleAll(acts.slice(next, next + 20).map(ask))
  return { asked: acts.length, allowed, wrong }
}

async function mayReally(
  api: KubeApi,
  { user, verb, group, resource: both, namespace }: Act,
): Promise<boolean> {
  const [resource, subresource] = both.split('/')
  const { status } = await api.ask<Review>('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes: { verb, group, resource, subresource, namespace } },
  })
  return status.allowed
}
