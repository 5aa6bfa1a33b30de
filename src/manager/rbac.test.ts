import { expect, test } from 'vitest'
import { createUntypedKind } from '../kube/object.ts'
import { WatchSpec } from '../kube/informers.ts'
import type { ControllerDefinition } from './controller.ts'
import { buildManagerRbac } from './rbac.ts'
import { nodeWatch } from './watch-specs.ts'

const secrets = new WatchSpec({
  name: 'secrets',
  kind: createUntypedKind('v1', 'Secret'),
  namespace: 'own',
  select: ({ metadata }) => metadata.name,
})
const base: Omit<ControllerDefinition, 'name'> = {
  aliases: [],
  summary: '',
  byDefault: true,
  watches: [nodeWatch],
  rules: [],
  build: () => ({ run: async () => undefined }),
}
const definitions: ControllerDefinition[] = [
  { ...base, name: 'a', rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['patch'] }] },
  {
    ...base,
    name: 'b',
    watches: [nodeWatch, secrets],
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'], namespace: 'own' }],
  },
]

test('each controller has its own rules in its own namespaces; shared watches are granted once', () => {
  const texts = buildManagerRbac(definitions).map(
    ({ kind, metadata: { name, namespace = '-' }, rules, roleRef }) =>
      [namespace, kind, name, JSON.stringify(rules ?? roleRef)].join(' '),
  )
  expect(texts.filter((text) => !text.includes('Binding'))).toEqual([
    '- ClusterRole hyperkube:controller-manager [{"apiGroups":[""],"resources":["users"],"resourceNames":["hyperkube:controller:shared-informers","hyperkube:controller:a","hyperkube:controller:b"],"verbs":["impersonate"]}]',
    'kube-system Role hyperkube:controller-manager [{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"resourceNames":["hyperkube-controller-manager"],"verbs":["get","update"]},{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create"]}]',
    '- ClusterRole hyperkube:controller:shared-informers [{"apiGroups":[""],"resources":["nodes"],"verbs":["list","watch"]}]',
    'own Role hyperkube:controller:shared-informers [{"apiGroups":[""],"resources":["secrets"],"verbs":["list","watch"]}]',
    '- ClusterRole hyperkube:controller:a [{"apiGroups":[""],"resources":["nodes"],"verbs":["patch"]}]',
    'own Role hyperkube:controller:b [{"apiGroups":[""],"resources":["configmaps"],"verbs":["create"]}]',
  ])
  // Each role has one binding, to the user of the same name.
  const bindings = buildManagerRbac(definitions).filter(({ kind }) => kind.endsWith('Binding'))
  expect(bindings).toHaveLength(6)
  for (const { metadata, subjects, roleRef } of bindings) {
    expect(subjects).toEqual([{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: metadata.name }])
    expect(roleRef).toMatchObject({ name: metadata.name, kind: metadata.namespace ? 'Role' : 'ClusterRole' })
  }
})

test('a disabled controller has no RBAC rules, and cannot be impersonated', () => {
  expect(JSON.stringify(buildManagerRbac(definitions.slice(0, 1)))).not.toMatch(/controller:b|secrets/)
})
