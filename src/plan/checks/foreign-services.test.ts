import { expect, test } from 'vitest'
import { watchedWindowsServices } from '../../contract/windows-host.ts'
import { checkCase, checkCaseBriefly } from './testing/fixtures.ts'

test('a foreign service with the name of a component is an error', () => {
  const found = checkCase({ facts: { w1: { linux: { foreignServices: ['kubelet.service'] } } } })
  expect(found).toEqual([
    {
      code: 'HOST_SERVICE_TAKEN',
      severity: 'error',
      message: 'the host has a service kubelet that hyperkube did not create',
      hint: 'systemctl disable --now kubelet; then remove its package',
      component: 'kubelet',
      host: 'w1',
    },
  ])
})

test('a foreign service is ignored if the host does not run that component', () => {
  const linux = { foreignServices: ['containerd', 'etcd'] }
  expect(checkCase({ facts: { etcd1: { linux } } }).map(({ component }) => component)).toEqual(['etcd'])
  expect(checkCase({ facts: { w1: { linux } } }).map(({ component }) => component)).toEqual(['containerd'])
})

test('Docker on a node is a warning, and on a dedicated etcd host it is ignored', () => {
  const linux = { firewalls: ['docker' as const] }
  expect(checkCaseBriefly({ facts: { w1: { linux }, etcd1: { linux } } })).toEqual(['w1 warning HOST_DOCKER'])
})

function findWindowsServices(foreignServices: readonly string[], ...spec: readonly string[]): string[] {
  return checkCaseBriefly({ spec, facts: { win1: { windows: { foreignServices: [...foreignServices] } } } })
}

test.each([
  ['kubelet', ['win1 error HOST_WINDOWS_SERVICE_TAKEN']],
  ['containerd', ['win1 error HOST_WINDOWS_SERVICE_TAKEN']],
  ['rke2', ['win1 error HOST_WINDOWS_OTHER_NODE']],
  ['docker', ['win1 warning HOST_WINDOWS_DOCKER']],
])('a foreign Windows service %s gives %j', (name, expected) => {
  expect(findWindowsServices([name])).toEqual(expected)
})

test('every watched Windows service is a finding, except flanneld without the flannel plugin', () => {
  expect(findWindowsServices(watchedWindowsServices)).toHaveLength(watchedWindowsServices.length)
  expect(findWindowsServices(['flanneld'])).toHaveLength(1)
  expect(findWindowsServices(['flanneld'], 'network: { plugin: none }')).toEqual([])
})
