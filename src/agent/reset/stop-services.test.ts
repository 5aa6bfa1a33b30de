import { expect, test } from 'vitest'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
  someRunId,
} from '../apply/testing/fixtures.ts'
import { readJournal } from '../records/journal.ts'
import { stopComponentServices } from './stop-services.ts'

const plan = buildPlanWithHost(
  runningComponent('etcd', '1', { stage: 'etcd' }),
  runningComponent('kube-apiserver', '1', { stage: 'api' }),
  runningComponent('kubelet', '1', { stage: 'node' }),
)

test('services stop in reverse order, and the next apply starts them again', async () => {
  await using host = await createTemporaryHost()
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  const events: string[] = []
  await stopComponentServices(
    {
      host,
      name: 'a',
      run: someRunId,
      emit: (what) => void (what.type === 'op-ended' && events.push(`${what.op.action} ${what.op.name}`)),
      signal: new AbortController().signal,
    },
    { components: ['kube-apiserver', 'kubelet'] },
  )
  expect(events).toEqual(['stop kubelet.service', 'stop kube-apiserver.service'])
  expect([...host.services.units].map(([name, { state }]) => `${name} ${state}`)).toEqual([
    'etcd.service active',
    'kube-apiserver.service inactive',
    'kubelet.service inactive',
  ])
  expect((await readJournal(host)).at(-1)?.body).toEqual({ type: 'run-ended', outcome: 'done' })
  expect(await applyAndListOps(host, plan)).toEqual([
    'start service kube-apiserver.service',
    'start service kubelet.service',
  ])
})

test('an immediate stop kills the service without waiting', async () => {
  await using host = await createTemporaryHost()
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  const signal = new AbortController().signal
  const options = { components: ['kube-apiserver'], immediately: true }
  await stopComponentServices({ host, name: 'a', run: someRunId, emit: () => undefined, signal }, options)
  expect(host.services.calls.slice(-2)).toEqual([
    'stop kube-apiserver.service',
    'kill kube-apiserver.service',
  ])
})

test('nothing is stopped on a host without a plan', async () => {
  await using host = await createTemporaryHost()
  const signal = new AbortController().signal
  await stopComponentServices(
    { host, name: 'a', run: someRunId, emit: () => undefined, signal },
    { components: ['kubelet'] },
  )
  expect(host.services.calls).toEqual([])
})
