import { expect, test } from 'vitest'
import { buildBaseObjects } from './base-objects.ts'
import { findKnownResource, objectPath } from './resources.ts'

function names(windows: boolean): string[] {
  return buildBaseObjects({ windows }).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}

test('a cluster without Windows nodes has these base objects', () => {
  expect(names(false)).toEqual([
    'ClusterRole hyperkube:flannel',
    'ClusterRoleBinding hyperkube:flannel',
    'ValidatingAdmissionPolicy flannel.hyperkube.dev',
    'ValidatingAdmissionPolicyBinding flannel.hyperkube.dev',
    'ConfigMap hyperkube-removed-hosts',
    'ValidatingAdmissionPolicy removed-hosts.hyperkube.dev',
    'ValidatingAdmissionPolicyBinding removed-hosts.hyperkube.dev',
    'ClusterRoleBinding hyperkube:kube-proxies',
    'ClusterRole hyperkube:kube-routers',
    'ClusterRoleBinding hyperkube:kube-routers',
    'Role hyperkube:apiserver-proxies',
    'RoleBinding hyperkube:apiserver-proxies',
    'ClusterRole hyperkube:agent',
    'ClusterRoleBinding hyperkube:agent',
    'ClusterRoleBinding hyperkube:kubelet-api',
    'ClusterRoleBinding hyperkube:admins',
  ])
})

test('a cluster with Windows nodes also has the Windows runtime classes', () => {
  expect(names(true).filter((name) => !names(false).includes(name))).toEqual([
    'RuntimeClass windows',
    'RuntimeClass windows-20348',
    'RuntimeClass windows-26100',
  ])
})

test('the runtime class of a Windows build selects nodes of that build and tolerates their taint', () => {
  const object = buildBaseObjects({ windows: true }).find(({ metadata }) => metadata.name === 'windows-26100')
  expect(object).toMatchObject({
    handler: 'runhcs-wcow-process',
    scheduling: {
      nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.26100' },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
    },
  })
})

test('the kinds of all base objects are known without discovery', () => {
  for (const { apiVersion, kind, metadata } of buildBaseObjects({ windows: true })) {
    const resource = findKnownResource(apiVersion, kind)
    expect(resource && objectPath(resource, metadata)).toContain(encodeURIComponent(metadata.name))
  }
})
