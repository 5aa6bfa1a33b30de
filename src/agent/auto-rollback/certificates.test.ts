import { expect, test } from 'vitest'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { componentOf, fileOf } from '../../diff/testing/fixtures.ts'
import { makeAuthority } from '../../pki/ca.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { year } from '../../pki/lifetime.ts'
import { signRequest } from '../../pki/sign.ts'
import { certificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { applied, hostPlan } from '../apply/testing/fixtures.ts'
import { lastPlan } from '../apply/applied-plan.ts'
import { temporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { agentOf, minute, settingOf, trialUntil } from './testing/rollback-host.ts'

const authority = await makeAuthority('etcd', 10 * year, new Date(Date.UTC(2026, 0, 1)))

function place(names: readonly string[]): PlannedCertificate {
  return {
    authority: 'etcd',
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
  return hostPlan(
    componentOf({
      name: 'kubelet',
      directories: [{ path: directory, owner: 'root', mode: '0700' }],
      files: [fileOf(`${directory}/ca.crt`, authority.certificate), fileOf(`${directory}/config`, text)],
      certificates: [place(names)],
    }),
  )
}

const before = planFor('before', ['api'])
const tried = planFor('tried', ['api', 'api.example.org'])

async function signedFor(host: TemporaryHost, plan: NodePlan, names: readonly string[]) {
  const { certificateFile, subject, usages, lifetime, names: wished } = place(names)
  const request = (await certificateRequests(host, plan))[certificateFile] ?? ''
  const wish = { subject, names: wished, usages, lifetime }
  const certificate = await signRequest(authority, request, wish, host.clock.now())
  return new Map([[certificateFile, certificate]])
}

test('who goes back keeps the newer certificate, and knows that it has it', async () => {
  await using host = await temporaryHost()
  await applied(host, before, { certificates: await signedFor(host, before, ['api']) })
  const { look, work } = await agentOf(host)
  await work.beginTrial(trialUntil(host.clock.time, 0, tried))
  const names = ['api', 'api.example.org']
  await applied(host, tried, { certificates: await signedFor(host, tried, names) })
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await settingOf(host)).toBe('before')
  const pem = (await host.files.read(place([]).certificateFile))?.toString('utf8') ?? ''
  expect(inspectCertificate(pem).names.dns).toEqual(names)
  // So it is renewed as any other, and the wish of cluster.yml is what differs.
  expect(await lastPlan(host)).toEqual(planFor('before', names))
  expect((await diffHost(host, tried)).ops.map(({ name }) => name)).toEqual(['/etc/hyperkube/kubelet/config'])
})

test('one that was asked for and never came keeps nobody from going back', async () => {
  await using host = await temporaryHost()
  await applied(host, before, { certificates: await signedFor(host, before, ['api']) })
  const { look, work } = await agentOf(host)
  await work.beginTrial(trialUntil(host.clock.time, 0, tried))
  await certificateRequests(host, tried)
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await lastPlan(host)).toEqual(before)
  expect(await work.trial()).toMatchObject({ state: 'went-back' })
})

test('one that is gone is left to an operator, and keeps nobody from going back either', async () => {
  await using host = await temporaryHost()
  await applied(host, before, { certificates: await signedFor(host, before, ['api']) })
  const { look, work } = await agentOf(host)
  await work.beginTrial(trialUntil(host.clock.time, 0, tried))
  await host.files.remove(place([]).certificateFile)
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await work.trial()).toMatchObject({ state: 'went-back' })
  expect((await diffHost(host, before)).ops.map(({ target }) => target)).toEqual(['certificate'])
})
