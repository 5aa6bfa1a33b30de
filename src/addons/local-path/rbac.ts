import type { Manifest } from '../../kube/object.ts'
import { namespaced } from '../manifest-helpers.ts'
import { account, rbac, subject } from '../service-account.ts'
import { app } from './deployment.ts'

export function rights(): Manifest[] {
  return [
    ...account(app, app, [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'update'] },
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
      },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ]),
    // Its helpers run beside it.
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: namespaced(app, app),
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: namespaced(app, app),
      roleRef: { apiGroup: rbac, kind: 'Role', name: app },
      subjects: [subject(app)],
    },
  ]
}
