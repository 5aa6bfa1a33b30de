import { expect, test } from 'vitest'
import { listGodebugLines, listReplacements } from './pin.ts'

test('staging folders of Kubernetes become the modules they are published as', () => {
  const goMod = `module k8s.io/kubernetes

require (
\tk8s.io/api v0.0.0
\tgo.etcd.io/etcd/api/v3 v3.6.16
)

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tgo.etcd.io/etcd/api/v3 => ../api
\tgithub.com/abbot/go-http-auth => github.com/containous/go-http-auth v0.4.1
)

replace example.com/old v1.2.3 => example.com/new v1.2.4
`
  expect(listReplacements(goMod, 'v1.37.1')).toEqual([
    'k8s.io/api => k8s.io/api v0.37.1',
    'github.com/abbot/go-http-auth => github.com/containous/go-http-auth v0.4.1',
    'example.com/old v1.2.3 => example.com/new v1.2.4',
  ])
})

test('a module that the proxy does not have is replaced with an earlier patch', () => {
  const goMod = `require (
\tk8s.io/sample-apiserver v0.0.0
)

replace (
\tk8s.io/sample-apiserver => ./staging/src/k8s.io/sample-apiserver
)
`
  expect(listReplacements(goMod, 'v1.33.13')).toEqual([
    'k8s.io/sample-apiserver => k8s.io/sample-apiserver v0.33.4',
  ])
  expect(listReplacements(goMod, 'v1.37.1')).toEqual([
    'k8s.io/sample-apiserver => k8s.io/sample-apiserver v0.37.1',
  ])
})

test('the behaviour of Go that upstream chose is kept', () => {
  const goMod = 'module k8s.io/kubernetes\n\ngo 1.23.0\n\ngodebug default=go1.23\n\ngodebug winsymlink=0\n'
  expect(listGodebugLines(goMod)).toEqual(['godebug default=go1.23\n', 'godebug winsymlink=0\n'])
  expect(listGodebugLines('module example.com/a\n\ngo 1.26.0\n')).toEqual([])
})
