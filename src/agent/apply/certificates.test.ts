import { readFile, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { type Ca, createCa } from '../../pki/ca.ts'
import { day } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { listInstalledCertificates } from '../platform/host-operations.ts'
import { createCertificateRequests } from './certificate-requests.ts'
import { diffHost } from './diff-host.ts'
import { Killed, withCrash } from './testing/crash-injection.ts'
import { applyAndListOps, buildPlanWithHost } from './testing/fixtures.ts'

let host: TemporaryHost & AsyncDisposable
let ca: Ca

beforeEach(async () => {
  host = await createTemporaryHost()
  // The CA must stay valid for centuries, because the last test advances the clock by many renewals.
  ca = await createCa('etcd', 365_000 * day, host.clock.now())
})
afterEach(async () => host[Symbol.asyncDispose]())

const file = '/etc/hyperkube/etcd/server.crt'
const spec: PlannedCertificate = {
  ca: 'etcd',
  subject: { commonName: 'cp1', organizations: ['a', 'b'] },
  names: { dns: ['cp1'], ip: ['10.0.0.1'] },
  usages: ['server', 'client'],
  lifetime: 365 * day,
  owner: 'root',
  certificateFile: file,
  keyFile: '/etc/hyperkube/etcd/server.key',
}

function planWith(certificate: PlannedCertificate = spec, ...trusted: readonly Ca[]): NodePlan {
  const text = [ca, ...trusted].map((one) => one.certificate).join('')
  return buildPlanWithHost(
    buildComponent({
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
  by = ca,
): Promise<Map<string, string>> {
  const requests = Object.entries(await createCertificateRequests(host, plan))
  const { subject, names, usages, lifetime } = { ...spec, ...changes }
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
  return readFile(host.toLocalPath(file), 'utf8')
}

test('a key is created on the host, and its certificate is requested and installed', async () => {
  const plan = planWith()
  const certificates = await signed(plan)
  await applyAndListOps(host, plan, { certificates })
  expect(await installed()).toBe(certificates.get(file))
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
  expect(await createCertificateRequests(host, plan)).toEqual({})
  expect(await host.files.list('/var/lib/hyperkube/agent/pending')).toEqual([])
})

test('certificate requests stay the same until they are signed', async () => {
  expect(await createCertificateRequests(host, planWith())).toEqual(
    await createCertificateRequests(host, planWith()),
  )
})

test('the op of a certificate that was not signed fails', async () => {
  await expect(applyAndListOps(host, planWith())).rejects.toMatchObject({ code: 'APPLY_NO_CERTIFICATE' })
})

test('a certificate of another key is refused, with the reason', async () => {
  const plan = planWith()
  await createCertificateRequests(host, plan)
  const { subject, names, usages, lifetime } = spec
  const { request } = await makeRequest('other', subject, names)
  const foreignCa = await signRequest(ca, request, { subject, names, usages, lifetime }, host.clock.now())
  await expect(
    applyAndListOps(host, plan, { certificates: new Map([[file, foreignCa]]) }),
  ).rejects.toMatchObject({
    code: 'APPLY_CERTIFICATE_REFUSED',
    message: expect.stringContaining('it does not match its key'),
  })
})

test('a certificate of another CA is refused, also of one with the same name', async () => {
  const other = await createCa('etcd', 3650 * day, host.clock.now())
  const plan = planWith()
  await expect(
    applyAndListOps(host, plan, { certificates: await signed(plan, {}, other) }),
  ).rejects.toMatchObject({
    message: expect.stringContaining('it is not signed by CA etcd'),
  })
  // During a CA rotation both CAs are trusted, but only the first one signs.
  const both = planWith(spec, other)
  await expect(
    applyAndListOps(host, both, { certificates: await signed(both, {}, other) }),
  ).rejects.toMatchObject({
    message: expect.stringContaining('is being replaced'),
  })
  await applyAndListOps(host, both, { certificates: await signed(both) })
})

test('when another CA signs, each certificate is requested again, without a finding', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  const previous = ca
  ca = await createCa('etcd', 365_000 * day, host.clock.now())
  const switched = planWith(spec, previous)
  const { findings, ops } = await diffHost(host, switched)
  expect(findings).toEqual([])
  expect(ops.map(({ action, target }) => `${action} ${target}`)).toEqual([
    'change file',
    'change certificate',
  ])
  await applyAndListOps(host, switched, { certificates: await signed(switched) })
  expect(await installed()).not.toBe(first)
  const after = planWith()
  expect((await diffHost(host, after)).ops.map(({ target }) => target)).toEqual(['file'])
})

test('a valid certificate is renewed on request, and only once', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  expect((await diffHost(host, plan)).ops).toEqual([])
  expect((await diffHost(host, plan, true)).ops).toMatchObject([{ action: 'change', target: 'certificate' }])
  expect(Object.keys(await createCertificateRequests(host, plan, true))).toEqual([file])
  // From now on the renewal is pending, and any run completes it.
  expect(await diffHost(host, plan)).toMatchObject({ ops: [{ action: 'change' }], findings: [] })
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  expect(await installed()).not.toBe(first)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('a pending key without a certificate is deleted if the installed certificate is valid', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  await createCertificateRequests(host, plan, true)
  await applyAndListOps(host, plan)
  expect(await installed()).toBe(first)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
})

test('installed certificates are listed, without keys', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  expect(await listInstalledCertificates(host)).toEqual([
    { component: 'etcd', file, ca: 'etcd', certificate: await installed() },
  ])
  await rm(host.toLocalPath(file))
  expect(await listInstalledCertificates(host)).toEqual([{ component: 'etcd', file, ca: 'etcd' }])
})

test('a due certificate is requested again, with a new key', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  const first = await installed()
  host.clock.time += 250 * day
  const { findings, ops } = await diffHost(host, plan)
  expect(findings).toEqual([])
  expect(ops).toMatchObject([{ action: 'change', target: 'certificate' }])
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  expect(await installed()).not.toBe(first)
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('a changed certificate spec causes a new request', async () => {
  await applyAndListOps(host, planWith(), { certificates: await signed(planWith()) })
  const changed = { ...spec, names: { dns: ['cp1', 'cp1.example.org'], ip: ['10.0.0.1'] } }
  const plan = planWith(changed)
  await applyAndListOps(host, plan, { certificates: await signed(plan, changed) })
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('a certificate without its key is requested again', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  await rm(host.toLocalPath(spec.keyFile))
  expect((await diffHost(host, plan)).findings[0]?.message).toContain('its key is missing')
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('wherever a renewal is interrupted, the next run ends with a matching pair', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  for (let ends = 0; ; ends += 3) {
    host.clock.time += 250 * day
    const certificates = await signed(plan)
    const crash = { calls: 0, ends }
    const killed = await applyAndListOps(withCrash(host, crash), plan, { certificates }).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    // As in production, the operator signs the requests of the host before the next run. The host creates no
    // request if the interrupted run has already installed the certificate.
    await applyAndListOps(host, plan, { certificates: await signed(plan) })
    expect((await diffHost(host, plan)).ops).toEqual([])
    if (!killed) break
  }
})

test('wherever a CA rotation is interrupted, the next run succeeds', async () => {
  const plan = planWith()
  await applyAndListOps(host, plan, { certificates: await signed(plan) })
  for (let ends = 0; ; ends += 7) {
    const previous = ca
    ca = await createCa('etcd', 365_000 * day, host.clock.now())
    const switched = planWith(spec, previous)
    const certificates = await signed(switched)
    const killed = await applyAndListOps(withCrash(host, { calls: 0, ends }), switched, {
      certificates,
    }).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    // Replaces the CA. A pending certificate of the previous CA is now useless.
    const before = ca
    ca = await createCa('etcd', 365_000 * day, host.clock.now())
    const again = planWith(spec, before)
    await applyAndListOps(host, again, { certificates: await signed(again) })
    expect((await diffHost(host, again)).ops).toEqual([])
    if (!killed) break
  }
})
