import type { Manifest } from '../../kube/object.ts'
import { buildNamespacedMetadata } from '../manifest-helpers.ts'
import { buildServiceAccount, rbacGroup, buildSubject } from '../service-account.ts'
import { localPathApp } from './deployment.ts'

export function buildLocalPathRbac(): Manifest[] {
  return [
    ...buildServiceAccount(localPathApp, localPathApp, [
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
    // The provisioner creates its helper pods in its own namespace.
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'Role',
      metadata: buildNamespacedMetadata(localPathApp, localPathApp),
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'RoleBinding',
      metadata: buildNamespacedMetadata(localPathApp, localPathApp),
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: localPathApp },
      subjects: [buildSubject(localPathApp)],
    },
  ]
}
