import { expect, test } from 'vitest'
import { listReplacements } from './pin.ts'

test('Kubernetes staging directories are replaced by their published modules', () => {
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
