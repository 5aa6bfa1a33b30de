import { array, assert, constantFrom, dictionary, property, string, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'
import { parseFlags, readContainers, readStaticPods, toHostPath } from './read-components.ts'

test('flags are read in every spelling', () => {
  expect(parseFlags(['--a=1', '--b', '2', '--c', '-d=x=y', '--list=1', '--list=2', '--last'])).toEqual({
    a: '1',
    b: '2',
    c: 'true',
    d: 'x=y',
    list: '1,2',
    last: 'true',
  })
})

test('flags with values survive any separator, and any text is parsed', () => {
  const name = stringMatching(/^[a-z][a-z-]{0,8}$/)
  const value = stringMatching(/^[a-z0-9:/,.]{1,12}$/)
  assert(
    property(
      dictionary(name, value, { noNullPrototype: true }),
      constantFrom('=', ' '),
      (flags, separator) => {
        const words = Object.entries(flags).flatMap(([flag, text]) =>
          `--${flag}${separator}${text}`.split(' '),
        )
        expect(parseFlags(words)).toEqual(flags)
      },
    ),
  )
  assert(property(array(string()), (words) => void parseFlags(words)))
})

const manifest = `apiVersion: v1
kind: Pod
metadata: { name: kube-apiserver, namespace: kube-system }
spec:
  containers:
    - image: registry.k8s.io/kube-apiserver:v1.36.4
      command: [kube-apiserver, --advertise-address=10.0.0.1, --secure-port=6443]
      env: [{ name: HTTPS_PROXY, value: 'http://proxy:3128' }]
      volumeMounts: [{ name: certs, mountPath: /pki }, { name: token, mountPath: /var/run/token }]
  volumes: [{ name: certs, hostPath: { path: /etc/kubernetes/pki } }, { name: token, emptyDir: {} }]
`

test('static pods are components, or are listed by name', () => {
  const { components, others } = readStaticPods([
    { name: '/etc/kubernetes/manifests/kube-apiserver.yaml', text: manifest },
    { name: '/etc/kubernetes/manifests/vip.yaml', text: manifest.replace('kube-apiserver,', 'kube-vip,') },
    { name: '/etc/kubernetes/manifests/broken.yaml', text: '{' },
  ])
  expect(others).toEqual(['kube-vip', '/etc/kubernetes/manifests/broken.yaml'])
  expect(components).toEqual([
    {
      name: 'kube-apiserver',
      runsAs: 'static-pod',
      file: '/etc/kubernetes/manifests/kube-apiserver.yaml',
      image: 'registry.k8s.io/kube-apiserver:v1.36.4',
      args: { 'advertise-address': '10.0.0.1', 'secure-port': '6443' },
      environment: ['HTTPS_PROXY'],
      mounts: [{ host: '/etc/kubernetes/pki', path: '/pki' }],
    },
  ])
})

test('of several containers in a static pod the component is read, and the others are named', () => {
  const sidecar = "    - { name: audit, image: 'audit:1', command: [forward, --etcd=1] }\n"
  const text = manifest.replace(
    '  containers:\n',
    `  initContainers: [{ name: wait }]\n  containers:\n${sidecar}`,
  )
  const file = '/etc/kubernetes/manifests/kube-apiserver.yaml'
  const [server] = readStaticPods([{ name: file, text }]).components
  expect(server).toMatchObject({
    image: 'registry.k8s.io/kube-apiserver:v1.36.4',
    args: { 'secure-port': '6443' },
    otherContainers: ['audit', 'wait'],
  })
})

test('containers of RKE1 are read from docker inspect, and other lines are ignored', () => {
  const line = `"/etcd" ["/usr/local/bin/etcd","--name=etcd-cp1","--data-dir=/var/lib/rancher/etcd/"] [{"Type":"bind","Source":"/var/lib/etcd","Destination":"/var/lib/rancher/etcd"}] "rancher/mirrored-coreos-etcd:v3.5.16" true`
  const [etcd, ...more] = readContainers(`${line}\nnot json\n"/other" null [] "x" true\n`)
  expect(more).toEqual([])
  expect(etcd).toMatchObject({ name: 'etcd', runsAs: 'container', running: true, args: { name: 'etcd-cp1' } })
  expect(toHostPath(etcd ?? { mounts: [] }, '/var/lib/rancher/etcd/')).toBe('/var/lib/etcd/')
  expect(toHostPath(etcd ?? { mounts: [] }, '/var/lib/other')).toBe('/var/lib/other')
})

test('a value with spaces in an argument does not break the line', () => {
  const [found] = readContainers(`"/kubelet" ["a b","--x=\\"q\\" c"] [] "image" false`)
  expect(found?.args).toEqual({ x: '"q" c' })
})
