import { controllerUsers, managerUser } from '../contract/manager-settings.ts'
import type { Manifest } from '../kube/object.ts'
import { binding, role, type Rule } from '../kube/rbac.ts'
import type { ControllerRow, Right } from './controller.ts'

/** Who reads for all controllers, and does nothing else. */
export const informersUser = userOf({ name: 'shared-informers' })
/** Who has it leads. */
export const managerLease = { namespace: 'kube-system', name: 'hyperkube-controller-manager' } as const

/** As whom a controller acts. */
export function userOf({ name }: Pick<ControllerRow, 'name'>): string {
  return `${controllerUsers}${name}`
}

/**
 * The rights of the manager and of each controller, from the table. The manager acts as its controllers by impersonation:
 * there are no tokens that somebody could take or that outlive anything, and audit logs name both.
 */
export function managerObjects(rows: readonly ControllerRow[]): Manifest[] {
  const users = [informersUser, ...rows.map(userOf)]
  return [
    ...granted(managerUser, [
      { apiGroups: [''], resources: ['users'], resourceNames: users, verbs: ['impersonate'] },
      leases({ resourceNames: [managerLease.name], verbs: ['get', 'update'] }),
      // RBAC cannot say of what is made what it may be called.
      leases({ verbs: ['create'] }),
    ]),
    ...granted(informersUser, watchRights(rows)),
    ...rows.flatMap((row) => granted(userOf(row), row.rights)),
  ]
}

function leases(right: Pick<Right, 'resourceNames' | 'verbs'>): Right {
  const { namespace } = managerLease
  return { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespace, ...right }
}

/** What is watched by several is there once. */
function watchRights(rows: readonly ControllerRow[]): Right[] {
  const sources = rows.flatMap(({ watches }) => watches.map(({ right }) => right))
  const once = new Map(sources.map((right) => [JSON.stringify(right), right]))
  return [...once.values()].map(({ group, plural, namespace }) => ({
    apiGroups: [group],
    resources: [plural],
    verbs: ['list', 'watch'],
    ...(namespace === undefined ? {} : { namespace }),
  }))
}

/** One role for the whole cluster, and one for each namespace; none where there is nothing to allow. */
function granted(user: string, rights: readonly Right[]): Manifest[] {
  const places = Map.groupBy(rights, ({ namespace }) => namespace)
  return [...places].flatMap(([namespace, some]) => {
    const rules = some.map(ruleOf)
    return [role(user, rules, namespace), binding(user, user, { kind: 'User', name: user }, namespace)]
  })
}

function ruleOf({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: Right): Rule {
  return {
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames === undefined ? {} : { resourceNames }),
    ...(nonResourceURLs === undefined ? {} : { nonResourceURLs }),
    verbs,
  }
}
