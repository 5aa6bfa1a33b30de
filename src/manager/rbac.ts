import { controllerUserPrefix, managerUser } from '../contract/manager-settings.ts'
import type { Manifest } from '../kube/object.ts'
import { buildRole, buildRoleBinding, type RbacRule } from '../kube/rbac.ts'
import type { ControllerDefinition, ControllerRule } from './controller.ts'

/** The user that lists and watches objects for all controllers. It has no other permissions. */
export const informersUser = formatControllerUser({ name: 'shared-informers' })
/** The lease of the leader election. */
export const managerLease = { namespace: 'kube-system', name: 'hyperkube-controller-manager' } as const

/** Returns the user that a controller impersonates. */
export function formatControllerUser({ name }: Pick<ControllerDefinition, 'name'>): string {
  return `${controllerUserPrefix}${name}`
}

/**
 * Builds the RBAC of the manager and of each controller from the definitions. The manager impersonates its
 * controllers, so tokens are not needed and audit logs name both users.
 */
export function buildManagerRbac(definitions: readonly ControllerDefinition[]): Manifest[] {
  const users = [informersUser, ...definitions.map(formatControllerUser)]
  return [
    ...grantRules(managerUser, [
      { apiGroups: [''], resources: ['users'], resourceNames: users, verbs: ['impersonate'] },
      buildLeaseRule({ resourceNames: [managerLease.name], verbs: ['get', 'update'] }),
      // `create` has no resourceNames, because RBAC cannot restrict the name of a created object.
      buildLeaseRule({ verbs: ['create'] }),
    ]),
    ...grantRules(informersUser, buildWatchRules(definitions)),
    ...definitions.flatMap((definition) => grantRules(formatControllerUser(definition), definition.rules)),
  ]
}

function buildLeaseRule(rule: Pick<ControllerRule, 'resourceNames' | 'verbs'>): ControllerRule {
  const { namespace } = managerLease
  return { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespace, ...rule }
}

/** Builds one rule per watched resource, even if several controllers watch it. */
function buildWatchRules(definitions: readonly ControllerDefinition[]): ControllerRule[] {
  const accesses = definitions.flatMap(({ watches }) => watches.map(({ requiredAccess: rule }) => rule))
  const byText = new Map(accesses.map((rule) => [JSON.stringify(rule), rule]))
  return [...byText.values()].map(({ group, plural, namespace }) => ({
    apiGroups: [group],
    resources: [plural],
    verbs: ['list', 'watch'],
    ...(namespace === undefined ? {} : { namespace }),
  }))
}

/** Builds one role with its binding for cluster-wide rules, and one per namespace that the rules name. */
function grantRules(user: string, controllerRules: readonly ControllerRule[]): Manifest[] {
  const byNamespace = Map.groupBy(controllerRules, ({ namespace }) => namespace)
  return [...byNamespace].flatMap(([namespace, namespaceRules]) => {
    const rules = namespaceRules.map(toRbacRule)
    return [
      buildRole(user, rules, namespace),
      buildRoleBinding(user, user, { kind: 'User', name: user }, namespace),
    ]
  })
}

function toRbacRule({
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
  verbs,
}: ControllerRule): RbacRule {
  return {
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames === undefined ? {} : { resourceNames }),
    ...(nonResourceURLs === undefined ? {} : { nonResourceURLs }),
    verbs,
  }
}

export function formatRule({
  verbs,
  resources = [],
  nonResourceURLs = [],
  namespace,
}: ControllerRule): string {
  const suffix = namespace === undefined ? '' : ` in ${namespace}`
  return `${verbs.join(', ')} ${[...resources, ...nonResourceURLs].join(', ')}${suffix}`
}
