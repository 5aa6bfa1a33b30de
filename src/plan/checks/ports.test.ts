import { expect, test } from 'vitest'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

function listening(port: number, process?: string, host = 'cp1') {
  const listeners = [{ port, ...(process === undefined ? {} : { process }) }]
  return checkCase({ facts: { [host]: { linux: { listeners }, windows: { listeners } } } })
}

test('a port of a foreign process is an error that names the process', () => {
  expect(listening(6443, 'haproxy')).toEqual([
    {
      code: 'HOST_PORT_TAKEN',
      severity: 'error',
      message: 'haproxy listens on port 6443, which kube-apiserver needs',
      hint: "on the host: ss -ltnp 'sport = :6443' shows the process; stop it, or set spec.api.port",
      component: 'kube-apiserver',
      host: 'cp1',
    },
  ])
})

test('a port of an unknown process is only a warning', () => {
  expect(listening(10_250)).toMatchObject([
    { severity: 'warning', message: 'an unknown process listens on port 10250, which kubelet needs' },
  ])
})

test.each([
  [6443, 'kube-apiserver'],
  [10_257, 'kube-controller-manager'],
  [6444, 'hyperkube'],
  [10_250, 'kubelet'],
  [2379, 'nginx'],
  [80, 'traefik'],
])('on a control plane, port %i used by %s is no finding', (port, process) => {
  expect(listening(port, process)).toEqual([])
})

test('port 80 of a web server is an error with a hint for spec.ingress', () => {
  expect(listening(80, 'nginx')).toMatchObject([
    {
      severity: 'error',
      hint: expect.stringMatching(/set other ports in spec.ingress, or spec.ingress: none$/),
    },
  ])
})

test('etcd ports are checked only on etcd members', () => {
  expect(listening(2379, 'nginx', 'etcd1')).toMatchObject([{ component: 'etcd', host: 'etcd1' }])
  expect(listening(2379, 'etcd', 'etcd1')).toEqual([])
  expect(listening(10_250, 'nginx', 'etcd1')).toEqual([])
})

test('on Windows, process names are compared without .exe', () => {
  expect(listening(10_250, 'kubelet.exe', 'win1')).toEqual([])
  expect(listening(10_250, 'other.exe', 'win1')).toMatchObject([
    { hint: 'on the host: Get-NetTCPConnection -State Listen -LocalPort 10250 shows the process; stop it' },
  ])
})

test('a process that listens on both address families is reported once', () => {
  const listeners = [
    { port: 10_250, process: 'x' },
    { port: 10_250, process: 'x' },
  ]
  expect(checkCaseBriefly({ facts: { w1: { linux: { listeners } } } })).toEqual(['w1 error HOST_PORT_TAKEN'])
})

test('the checked API port is that of cluster.yml', () => {
  const listeners = [{ port: 6443, process: 'haproxy' }]
  expect(
    checkCaseBriefly({ spec: ['api: { port: 444 }'], facts: { cp1: { linux: { listeners } } } }),
  ).toEqual([])
})
