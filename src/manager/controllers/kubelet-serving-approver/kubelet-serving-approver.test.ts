import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { servingSigner } from '../../../pki/check-serving-request.ts'
import { makeRequest } from '../../../pki/request.ts'
import { hours } from '../../testing/fast-time-bench.ts'
import { soon, type Stage, stage } from '../../testing/manager-bench.ts'
import { kubeletServingApprover } from './kubelet-serving-approver.ts'

let authority: TestAuthority
let good: string
let foreign: string

beforeAll(async () => {
  authority = await testAuthority()
  const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
  good = (await makeRequest('w1', subject, { dns: ['w1'], ip: ['192.168.1.21'] })).request
  foreign = (await makeRequest('w1', subject, { dns: ['w1', 'cp1'], ip: [] })).request
})

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

function putHost({ cluster }: Stage, name = 'w1'): void {
  const spec = { names: { dns: [name], ip: ['192.168.1.21'] } }
  cluster.objects.put(`/apis/hyperkube.dev/v1/hosts/${name}`, {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Host',
    spec,
  })
}

function ask({ cluster }: Stage, name: string, request: string, more: object = {}): void {
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

function answersTo({ cluster }: Stage, name: string): unknown {
  const status: unknown = Reflect.get(Object(cluster.objects.get(`${collection}/${name}`)), 'status')
  return Reflect.get(Object(status), 'conditions')
}

test('a kubelet gets what its host is called, and nothing else, with all rights of the row and no others', async () => {
  await using one = await stage(authority, [kubeletServingApprover])
  putHost(one)
  ask(one, 'good', good)
  ask(one, 'foreign', foreign)
  ask(one, 'other-signer', good, { signerName: 'example.org/other' })
  const manager = await one.start('a')
  await soon('two answers', () => one.cluster.deeds.length === 2)
  await manager.idle()
  expect(answersTo(one, 'good')).toMatchObject([{ type: 'Approved', status: 'True' }])
  expect(answersTo(one, 'foreign')).toMatchObject([
    { type: 'Denied', reason: 'RequestRefused', message: expect.stringContaining('dns:cp1') },
  ])
  expect(answersTo(one, 'other-signer')).toBeUndefined()
  expect(manager.lines.join('\n')).toContain('denied foreign of system:node:w1')
  expect(one.authorizer.refused).toEqual([])
  // All this takes less time than its lease lasts, and to renew it is among its rights.
  await soon('its lease to be renewed', () => one.authorizer.unused.length === 0)
})

test('who asks before anybody has planned its host waits for that, and is answered then', async () => {
  await using one = await stage(authority, [kubeletServingApprover])
  ask(one, 'early', good)
  ask(one, 'nobody', good, { username: 'jane', groups: [] })
  const manager = await one.start('a')
  await soon('the stranger to be denied', () => answersTo(one, 'nobody') !== undefined)
  await manager.idle()
  expect(answersTo(one, 'early')).toBeUndefined()
  putHost(one)
  await soon('it to be approved', () => answersTo(one, 'early') !== undefined)
  expect(answersTo(one, 'early')).toMatchObject([{ type: 'Approved' }])
})

test('what somebody else answers meanwhile stays, and an API that comes and goes costs nothing', async () => {
  await using one = await stage(authority, [kubeletServingApprover])
  putHost(one)
  let trouble = 4
  one.cluster.intercept = ({ path }) => {
    if (!path.endsWith('/approval') || trouble === 0) return undefined
    trouble--
    if (trouble === 3) return { cut: 'before' }
    if (trouble === 2) return { status: 500, json: { kind: 'Status', reason: 'InternalError' } }
    if (trouble === 1) one.cluster.objects.cutWatches()
    if (trouble === 0) {
      const conditions = [{ type: 'Denied', status: 'True', reason: 'ByAdministrator' }]
      one.cluster.objects.change(`${collection}/raced`, { status: { conditions } })
    }
    return undefined
  }
  ask(one, 'raced', good)
  const manager = await one.start('a')
  await soon('the trouble to be over', () => trouble === 0 || answersTo(one, 'raced') !== undefined)
  await manager.idle()
  expect(answersTo(one, 'raced')).toHaveLength(1)
})

test('on a cluster where nobody asks, nothing is written', async () => {
  await using long = await hours(authority, [kubeletServingApprover])
  for (const name of ['w1', 'w2']) putHost(long.stage, name)
  ask(long.stage, 'old', good, {})
  long.stage.cluster.objects.change(`${collection}/old`, {
    status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'x' },
  })
  const manager = await long.start('a')
  await long.pass(60, manager, (minute) => {
    const heartbeat = new Date(minute * 60_000).toISOString()
    long.stage.cluster.objects.change('/apis/hyperkube.dev/v1/hosts/w1', { status: { heartbeat } })
  })
  expect(long.stage.cluster.deeds).toEqual([])
})
