import { readFile, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { componentOf } from '../../diff/testing/fixtures.ts'
import { type Authority, makeAuthority } from '../../pki/ca.ts'
import { day } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { type TemporaryHost, temporaryHost } from '../host/testing/temporary-host.ts'
import { certificateRequests } from './certificate-requests.ts'
import { diffHost } from './diff-host.ts'
import { applied, hostPlan } from './testing/fixtures.ts'
import { installedCertificates } from './installed-certificates.ts'
import { Killed, mortal } from './testing/crash-injection.ts'

let host: TemporaryHost & AsyncDisposable
let authority: Authority

beforeEach(async () => {
  host = await temporaryHost()
  // The last test renews more often than anybody lives.
  authority = await makeAuthority('etcd', 365_000 * day, host.clock.now())
})
afterEach(async () => host[Symbol.asyncDispose]())

const file = '/etc/hyperkube/etcd/server.crt'
const wish: PlannedCertificate = {
  authority: 'etcd',
  subject: { commonName: 'cp1', organizations: ['a', 'b'] },
  names: { dns: ['cp1'], ip: ['10.0.0.1'] },
  usages: ['server', 'client'],
  lifetime: 365 * day,
  owner: 'root',
  certificateFile: file,
  keyFile: '/etc/hyperkube/etcd/server.key',
}

function planWith(certificate: PlannedCertificate = wish, ...trusted: readonly Authority[]): NodePlan {
  const text = [authority, ...trusted].map((one) => one.certificate).join('')
  return hostPlan(
    componentOf({
      name: 'etcd',
      directories: [{ path: '/etc/hyperkube/etcd', owner: 'root', mode: '0700' }],
      files: [
        {
          path: '/etc/hyperkube/etcd/ca.crt',
          owner: 'root',
          mode: '0644',
          content: { kind: 'text', text },
          restart: false,
        },
      ],
      certificates: [certificate],
    }),
  )
}

async function signed(
  plan: NodePlan,
  changes: Partial<PlannedCertificate> = {},
  by = authority,
): Promise<Map<string, string>> {
  const requests = Object.entries(await certificateRequests(host, plan))
  const { subject, names, usages, lifetime } = { ...wish, ...changes }
  return new Map(
    await Promise.all(
      requests.map(
        async ([path, request]) =>
          [
            path,
            await signRequest(by, request, { subject, names, usages, lifetime }, host.clock.now()),
          ] as const,
      ),
    ),
  )
}

async function installed(): Promise<string> {
  return readFile(host.place(file), 'utf8')
}

test('the key is made here and asked about, and the certificate taken', async () => {
  const plan = planWith()
  const certificates = await signed(plan)
  await applied(host, plan, { certificates })
  expect(await installed()).toBe(certificates.get(file))
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
  expect(await certificateRequests(host, plan)).toEqual({})
  expect(await host.files.list('/var/lib/hyperkube/agent/pending')).toEqual([])
})

test('who asks twice is given the same request', async () => {
  expect(await certificateRequests(host, planWith())).toEqual(await certificateRequests(host, planWith()))
})

test('without one nothing is done about it', async () => {
  await expect(applied(host, planWith())).rejects.toMatchObject({ code: 'APPLY_NO_CERTIFICATE' })
})

test('one of another key is refused, and says so', async () => {
  const plan = planWith()
  await certificateRequests(host, plan)
  const { subject, names, usages, lifetime } = wish
  const { request } = await makeRequest('other', subject, names)
  const stranger = await signRequest(
    authority,
    request,
    { subject, names, usages, lifetime },
    host.clock.now(),
  )
  await expect(applied(host, plan, { certificates: new Map([[file, stranger]]) })).rejects.toMatchObject({
    code: 'APPLY_CERTIFICATE_REFUSED',
    message: expect.stringContaining('it does not fit its key'),
  })
})

test('one of another authority is refused, also of one that bears the same name', async () => {
  const other = await makeAuthority('etcd', 3650 * day, host.clock.now())
  const plan = planWith()
  await expect(applied(host, plan, { certificates: await signed(plan, {}, other) })).rejects.toMatchObject({
    message: expect.stringContaining('the authority etcd has not signed it'),
  })
  // While one replaces the other, both are trusted; but only the first one signs.
  const both = planWith(wish, other)
  await expect(applied(host, both, { certificates: await signed(both, {}, other) })).rejects.toMatchObject({
    message: expect.stringContaining('is being replaced'),
  })
  await applied(host, both, { certificates: await signed(both) })
})

test('when another authority signs, each is asked for anew, and nobody is blamed for it', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  const former = authority
  authority = await makeAuthority('etcd', 365_000 * day, host.clock.now())
  const switched = planWith(wish, former)
  const { findings, ops } = await diffHost(host, switched)
  expect(findings).toEqual([])
  expect(ops.map(({ action, target }) => `${action} ${target}`)).toEqual([
    'change file',
    'change certificate',
  ])
  await applied(host, switched, { certificates: await signed(switched) })
  expect(await installed()).not.toBe(first)
  const after = planWith()
  expect((await diffHost(host, after)).ops.map(({ target }) => target)).toEqual(['file'])
})

test('a good one is renewed when somebody wants it, and only once', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  expect((await diffHost(host, plan)).ops).toEqual([])
  expect((await diffHost(host, plan, true)).ops).toMatchObject([{ action: 'change', target: 'certificate' }])
  expect(Object.keys(await certificateRequests(host, plan, true))).toEqual([file])
  // From now on it is to be done, whoever comes.
  expect(await diffHost(host, plan)).toMatchObject({ ops: [{ action: 'change' }], findings: [] })
  await applied(host, plan, { certificates: await signed(plan) })
  expect(await installed()).not.toBe(first)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('a key that waits in vain is forgotten: the one in place is good', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  await certificateRequests(host, plan, true)
  await applied(host, plan)
  expect(await installed()).toBe(first)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('what was put on the host is told, and no key', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  expect(await installedCertificates(host)).toEqual([
    { component: 'etcd', file, authority: 'etcd', certificate: await installed() },
  ])
  await rm(host.place(file))
  expect(await installedCertificates(host)).toEqual([{ component: 'etcd', file, authority: 'etcd' }])
})

test('one that is due is asked for anew, with a new key', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  host.clock.time += 250 * day
  const { findings, ops } = await diffHost(host, plan)
  expect(findings).toEqual([])
  expect(ops).toMatchObject([{ action: 'change', target: 'certificate' }])
  await applied(host, plan, { certificates: await signed(plan) })
  expect(await installed()).not.toBe(first)
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('a wish that changes asks anew', async () => {
  await applied(host, planWith(), { certificates: await signed(planWith()) })
  const changed = { ...wish, names: { dns: ['cp1', 'cp1.example.org'], ip: ['10.0.0.1'] } }
  const plan = planWith(changed)
  await applied(host, plan, { certificates: await signed(plan, changed) })
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('a key that is gone is a certificate that is not there', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  await rm(host.place(wish.keyFile))
  expect((await diffHost(host, plan)).findings[0]?.message).toContain('its key is missing')
  await applied(host, plan, { certificates: await signed(plan) })
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('wherever a renewal is cut, the next run ends with a pair that fits', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  for (let ends = 0; ; ends += 3) {
    host.clock.time += 250 * day
    const certificates = await signed(plan)
    const life = { calls: 0, ends }
    const killed = await applied(mortal(host, life), plan, { certificates }).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    // The operator asks again, as it would: what is committed is not asked for.
    await applied(host, plan, { certificates: await signed(plan) })
    expect((await diffHost(host, plan)).ops).toEqual([])
    if (!killed) break
  }
})

test('wherever a change of the authority is cut, and whatever comes then, the next run ends well', async () => {
  const plan = planWith()
  await applied(host, plan, { certificates: await signed(plan) })
  for (let ends = 0; ; ends += 7) {
    const former = authority
    authority = await makeAuthority('etcd', 365_000 * day, host.clock.now())
    const switched = planWith(wish, former)
    const certificates = await signed(switched)
    const killed = await applied(mortal(host, { calls: 0, ends }), switched, { certificates }).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    // What was pending from the authority before is of no use any more.
    const before = authority
    authority = await makeAuthority('etcd', 365_000 * day, host.clock.now())
    const again = planWith(wish, before)
    await applied(host, again, { certificates: await signed(again) })
    expect((await diffHost(host, again)).ops).toEqual([])
    if (!killed) break
  }
})
