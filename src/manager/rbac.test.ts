import { expect, test } from 'vitest'
import { kindOf } from '../kube/object.ts'
import { Source } from '../kube/watch-spec.ts'
import type { ControllerRow } from './controller.ts'
import { managerObjects } from './rbac.ts'
import { nodes } from './watch-specs.ts'

const secrets = new Source({
  name: 'secrets',
  kind: kindOf('v1', 'Secret'),
  namespace: 'own',
  select: ({ metadata }) => metadata.name,
})
const some: Omit<ControllerRow, 'name'> = {
  aliases: [],
  summary: '',
  byDefault: true,
  watches: [nodes],
  rights: [],
  build: () => ({ run: async () => undefined }),
}
const rows: ControllerRow[] = [
  { ...some, name: 'a', rights: [{ apiGroups: [''], resources: ['nodes'], verbs: ['patch'] }] },
  {
    ...some,
    name: 'b',
    watches: [nodes, secrets],
    rights: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'], namespace: 'own' }],
  },
]

test('each has its own rights, in its own places; what is watched by two is read by one', () => {
  const texts = managerObjects(rows).map(({ kind, metadata: { name, namespace = '-' }, rules, roleRef }) =>
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
  // To each role its one binding, to the user of its name.
  const bindings = managerObjects(rows).filter(({ kind }) => kind.endsWith('Binding'))
  expect(bindings).toHaveLength(6)
  for (const { metadata, subjects, roleRef } of bindings) {
    expect(subjects).toEqual([{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: metadata.name }])
    expect(roleRef).toMatchObject({ name: metadata.name, kind: metadata.namespace ? 'Role' : 'ClusterRole' })
  }
})

test('a controller that is off has no rights, and nobody may act as it', () => {
  expect(JSON.stringify(managerObjects(rows.slice(0, 1)))).not.toMatch(/controller:b|secrets/)
})
