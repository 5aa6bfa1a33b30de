import { expect, test } from 'vitest'
import { checkArgs } from './check-args.ts'

test('a removed flag is found, with the version that removed it', () => {
  expect(checkArgs('kubelet', { v: '2', 'pod-infra-container-image': 'x' }, '1.36.4')).toEqual([
    {
      code: 'FLAG_REMOVED',
      severity: 'error',
      component: 'kubelet',
      message:
        '--pod-infra-container-image was removed in kubelet 1.35; Kubernetes 1.36.4 comes with kubelet 1.36.4',
      hint: 'take it out; kubelet --help lists the flags that there are',
    },
  ])
})

test('etcd is judged by its own version', () => {
  const args = { 'experimental-initial-corrupt-check': 'true', 'experimental-x': '1', name: 'a' }
  expect(checkArgs('etcd', args, '1.36.4')).toEqual([])
  expect(checkArgs('etcd', args, '1.37.1').map(({ message }) => message)).toEqual([
    '--experimental-initial-corrupt-check was removed in etcd 3.7; Kubernetes 1.37.1 comes with etcd 3.7.3',
    '--experimental-x was removed in etcd 3.7; Kubernetes 1.37.1 comes with etcd 3.7.3',
  ])
})

test('a flag that one program lost is not held against another', () => {
  expect(checkArgs('kube-apiserver', { 'pod-infra-container-image': 'x' }, '1.37.1')).toEqual([])
  expect(checkArgs('flanneld', { 'experimental-x': 'x' }, '1.37.1')).toEqual([])
  expect(checkArgs('kubelet', { 'pod-infra-container-image-x': 'x' }, '1.37.1')).toEqual([])
})
