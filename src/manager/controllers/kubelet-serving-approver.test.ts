import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { servingSigner } from '../../pki/check-serving-request.ts'
import { makeRequest } from '../../pki/request.ts'
import { createFastTimeBench } from '../testing/fast-time-bench.ts'
import { waitUntil, type ManagerBench, createManagerBench } from '../testing/manager-bench.ts'
import { kubeletServingApprover } from './kubelet-serving-approver.ts'

let ca: TestCa
let good: string
let foreign: string

beforeAll(async () => {
  ca = await createTestCa()
  const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
  good = (await makeRequest('w1', subject, { dns: ['w1'], ip: ['192.168.1.21'] })).request
  foreign = (await makeRequest('w1', subject, { dns: ['w1', 'cp1'], ip: [] })).request
})

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

function putHost({ cluster }: ManagerBench, name = 'w1'): void {
  const spec = { names: { dns: [name], ip: ['192.168.1.21'] } }
  cluster.objects.put(`/apis/hyperkube.dev/v1/hosts/${name}`, {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Host',
    spec,
  })
}

function putRequest({ cluster }: ManagerBench, name: string, request: string, more: object = {}): void {
  cluster.objects.put(`${collection}/${name}`, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    spec: {
      ...{ signerName: servingSigner, username: 'system:node:w1', groups: ['system:nodes'] },
      ...{ usages: ['digital signature', 'server auth'], request: Buffer.from(request).toString('base64') },
      ...more,
    },
  })
}

function readDecisions({ cluster }: ManagerBench, name: string): unknown {
  const status: unknown = Reflect.get(Object(cluster.objects.get(`${collection}/${name}`)), 'status')
  return Reflect.get(Object(status), 'conditions')
}

test('a kubelet gets a serving certificate only for names of its host, with exactly the RBAC rules of the definition', async () => {
  await using one = await createManagerBench(ca, [kubeletServingApprover])
  putHost(one)
  putRequest(one, 'good', good)
  putRequest(one, 'foreign', foreign)
  putRequest(one, 'other-signer', good, { signerName: 'example.org/other' })
  const manager = await one.start('a')
  await waitUntil('two decisions', () => one.cluster.controllerWrites.length === 2)
  await manager.idle()
  expect(readDecisions(one, 'good')).toMatchObject([{ type: 'Approved', status: 'True' }])
  expect(readDecisions(one, 'foreign')).toMatchObject([
    { type: 'Denied', reason: 'RequestRefused', message: expect.stringContaining('dns:cp1') },
  ])
  expect(readDecisions(one, 'other-signer')).toBeUndefined()
  expect(manager.lines.join('\n')).toContain('denied foreign of system:node:w1')
  expect(one.authorizer.refused).toEqual([])
  // The lease is renewed only after some time. The wait proves that all RBAC rules are used, including the
  // rule for the renewal.
  await waitUntil('the lease to be renewed', () => one.authorizer.unused.length === 0)
})

test('a request of an unplanned host waits until the host is planned', async () => {
  await using one = await createManagerBench(ca, [kubeletServingApprover])
  putRequest(one, 'early', good)
  putRequest(one, 'no-node', good, { username: 'jane', groups: [] })
  const manager = await one.start('a')
  await waitUntil('the foreign request to be denied', () => readDecisions(one, 'no-node') !== undefined)
  await manager.idle()
  expect(readDecisions(one, 'early')).toBeUndefined()
  putHost(one)
  await waitUntil('the request to be approved', () => readDecisions(one, 'early') !== undefined)
  expect(readDecisions(one, 'early')).toMatchObject([{ type: 'Approved' }])
})

test('a concurrent decision of an administrator stays, through API failures', async () => {
  await using one = await createManagerBench(ca, [kubeletServingApprover])
  putHost(one)
  let failuresLeft = 4
  one.cluster.intercept = ({ path }) => {
    if (!path.endsWith('/approval') || failuresLeft === 0) return undefined
    failuresLeft--
    if (failuresLeft === 3) return { cut: 'before' }
    if (failuresLeft === 2) return { status: 500, json: { kind: 'Status', reason: 'InternalError' } }
    if (failuresLeft === 1) one.cluster.objects.cutWatches()
    if (failuresLeft === 0) {
      const conditions = [{ type: 'Denied', status: 'True', reason: 'ByAdministrator' }]
      one.cluster.objects.change(`${collection}/raced`, { status: { conditions } })
    }
    return undefined
  }
  putRequest(one, 'raced', good)
  const manager = await one.start('a')
  await waitUntil(
    'the failures to be over',
    () => failuresLeft === 0 || readDecisions(one, 'raced') !== undefined,
  )
  await manager.idle()
  expect(readDecisions(one, 'raced')).toHaveLength(1)
})

test('nothing is written without pending signing requests', async () => {
  await using long = await createFastTimeBench(ca, [kubeletServingApprover])
  for (const name of ['w1', 'w2']) putHost(long.bench, name)
  putRequest(long.bench, 'old', good, {})
  long.bench.cluster.objects.change(`${collection}/old`, {
    status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'x' },
  })
  const manager = await long.start('a')
  await long.advanceMinutes(60, manager, (minute) => {
    const heartbeat = new Date(minute * 60_000).toISOString()
    long.bench.cluster.objects.change('/apis/hyperkube.dev/v1/hosts/w1', { status: { heartbeat } })
  })
  expect(long.bench.cluster.controllerWrites).toEqual([])
})
