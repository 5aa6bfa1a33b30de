import { expect, test } from 'vitest'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildComponent, buildFile } from '../../diff/testing/fixtures.ts'
import { createCa } from '../../pki/ca.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { year } from '../../pki/lifetime.ts'
import { signRequest } from '../../pki/sign.ts'
import { createCertificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { readAppliedPlan } from '../records/state-file.ts'
import { applyAndListOps, buildPlanWithHost } from '../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { minute, provisionalUntil, readSetting, startRollbackAgent } from './testing/rollback-host.ts'

const ca = await createCa('kubernetes', 10 * year, new Date(Date.UTC(2026, 0, 1)))

function planCertificate(names: readonly string[]): PlannedCertificate {
  return {
    ca: 'kubernetes',
    subject: { commonName: 'api', organizations: [] },
    names: { dns: [...names], ip: [] },
    usages: ['server'],
    lifetime: year,
    owner: 'root',
    certificateFile: '/etc/hyperkube/kubelet/tls.crt',
    keyFile: '/etc/hyperkube/kubelet/tls.key',
  }
}

function planFor(text: string, names: readonly string[]): NodePlan {
  const directory = '/etc/hyperkube/kubelet'
  return buildPlanWithHost(
    buildComponent({
      name: 'kubelet',
      directories: [{ path: directory, owner: 'root', mode: '0700' }],
      files: [buildFile(`${directory}/ca.crt`, ca.certificate), buildFile(`${directory}/config`, text)],
      certificates: [planCertificate(names)],
    }),
  )
}

const before = planFor('before', ['api'])
const tried = planFor('tried', ['api', 'api.example.org'])

async function signFor(host: TemporaryHost, plan: NodePlan, names: readonly string[]) {
  const { certificateFile, subject, usages, lifetime, names: plannedNames } = planCertificate(names)
  const request = (await createCertificateRequests(host, plan))[certificateFile] ?? ''
  const spec = { subject, names: plannedNames, usages, lifetime }
  const certificate = await signRequest(ca, request, spec, host.clock.now())
  return new Map([[certificateFile, certificate]])
}

test('a rollback keeps the newer certificate and records it in the applied plan', async () => {
  await using host = await createTemporaryHost()
  await applyAndListOps(host, before, { certificates: await signFor(host, before, ['api']) })
  const { check, work } = await startRollbackAgent(host)
  await work.beginProvisional(provisionalUntil(host.clock.time, 0, tried))
  const names = ['api', 'api.example.org']
  await applyAndListOps(host, tried, { certificates: await signFor(host, tried, names) })
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await readSetting(host)).toBe('before')
  const pem = (await host.files.read(planCertificate([]).certificateFile))?.toString('utf8') ?? ''
  expect(inspectCertificate(pem).names.dns).toEqual(names)
  // The rollback keeps the new certificate and records it in the applied plan. So `tried` differs from the
  // host only in the configuration file.
  expect(await readAppliedPlan(host)).toEqual(planFor('before', names))
  expect((await diffHost(host, tried)).ops.map(({ name }) => name)).toEqual(['/etc/hyperkube/kubelet/config'])
})

test('a certificate that was requested and never issued does not prevent the rollback', async () => {
  await using host = await createTemporaryHost()
  await applyAndListOps(host, before, { certificates: await signFor(host, before, ['api']) })
  const { check, work } = await startRollbackAgent(host)
  await work.beginProvisional(provisionalUntil(host.clock.time, 0, tried))
  await createCertificateRequests(host, tried)
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await readAppliedPlan(host)).toEqual(before)
  expect(await work.provisional()).toMatchObject({ state: 'rolled-back' })
})

test('a missing certificate is left to an operator, and does not prevent the rollback', async () => {
  await using host = await createTemporaryHost()
  await applyAndListOps(host, before, { certificates: await signFor(host, before, ['api']) })
  const { check, work } = await startRollbackAgent(host)
  await work.beginProvisional(provisionalUntil(host.clock.time, 0, tried))
  await host.files.remove(planCertificate([]).certificateFile)
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await work.provisional()).toMatchObject({ state: 'rolled-back' })
  expect((await diffHost(host, before)).ops.map(({ target }) => target)).toEqual(['certificate'])
})
