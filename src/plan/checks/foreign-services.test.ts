import { expect, test } from 'vitest'
import { watchedWindowsServices } from '../../contract/windows-host.ts'
import { checkCase, checkCaseBriefly } from './testing/fixtures.ts'

test('a service of our name that is not ours must go', () => {
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

test('a foreign service that the host does not need is ignored', () => {
  const linux = { foreignServices: ['containerd', 'etcd'] }
  expect(checkCase({ facts: { etcd1: { linux } } }).map(({ component }) => component)).toEqual(['etcd'])
  expect(checkCase({ facts: { w1: { linux } } }).map(({ component }) => component)).toEqual(['containerd'])
})

test('Docker is borne beside us', () => {
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
])('a foreign %s', (name, expected) => {
  expect(findWindowsServices([name])).toEqual(expected)
})

test('everything that is looked for is a finding, unless the host does not run it', () => {
  expect(findWindowsServices(watchedWindowsServices)).toHaveLength(watchedWindowsServices.length)
  expect(findWindowsServices(['flanneld'])).toHaveLength(1)
  expect(findWindowsServices(['flanneld'], 'network: { plugin: none }')).toEqual([])
})
