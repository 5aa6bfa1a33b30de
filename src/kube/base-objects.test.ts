import { expect, test } from 'vitest'
import { baseObjects } from './base-objects.ts'
import { objectPath } from './paths.ts'
import { knownResource } from './resources.ts'

function names(windows: boolean): string[] {
  return baseObjects({ windows }).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}

test('what every cluster has', () => {
  expect(names(false)).toEqual([
    'ClusterRole hyperkube:flannel',
    'ClusterRoleBinding hyperkube:flannel',
    'Role hyperkube:apiserver-proxies',
    'RoleBinding hyperkube:apiserver-proxies',
    'ClusterRole hyperkube:agent',
    'ClusterRoleBinding hyperkube:agent',
    'ClusterRoleBinding hyperkube:kubelet-api',
    'ClusterRoleBinding hyperkube:admins',
  ])
})

test('the Windows runtime class only where it is of use', () => {
  expect(names(true).filter((name) => !names(false).includes(name))).toEqual(['RuntimeClass windows'])
})

test('nobody need be asked where they belong', () => {
  for (const { apiVersion, kind, metadata } of baseObjects({ windows: true })) {
    const resource = knownResource(apiVersion, kind)
    expect(resource && objectPath(resource, metadata)).toContain(encodeURIComponent(metadata.name))
  }
})
