import { expect, test } from 'vitest'
import { briefly, findingsOf } from './testing/fixtures.ts'

test('a service of our name that is not ours must go', () => {
  const found = findingsOf({ facts: { w1: { linux: { foreignServices: ['kubelet.service'] } } } })
  expect(found).toEqual([
    {
      code: 'HOST_SERVICE_TAKEN',
      severity: 'error',
      message: 'there is a service kubelet on the host that hyperkube did not make',
      hint: 'systemctl disable --now kubelet, and remove the package that it came with',
      component: 'kubelet',
      host: 'w1',
    },
  ])
})

test('one that the host shall not run is in nobody’s way', () => {
  const linux = { foreignServices: ['containerd', 'etcd'] }
  expect(findingsOf({ facts: { etcd1: { linux } } }).map(({ component }) => component)).toEqual(['etcd'])
  expect(findingsOf({ facts: { w1: { linux } } }).map(({ component }) => component)).toEqual(['containerd'])
})

test('Docker is borne beside us', () => {
  const linux = { firewalls: ['docker' as const] }
  expect(briefly({ facts: { w1: { linux }, etcd1: { linux } } })).toEqual(['w1 warning HOST_DOCKER'])
})
