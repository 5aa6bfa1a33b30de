import { expect, test } from 'vitest'
import { temporaryHost } from '../../host/testing/temporary-host.ts'
import { applied, hostPlan, publish, running, someRun } from '../testing/fixtures.ts'
import { readJournal } from '../journal.ts'
import { stopServices } from './stop-services.ts'

const plan = hostPlan(
  running('etcd', '1', { stage: 'etcd' }),
  running('kube-apiserver', '1', { stage: 'api' }),
  running('kubelet', '1', { stage: 'node' }),
)

test('services of some components stop, the last first; the plan starts them again', async () => {
  await using host = await temporaryHost()
  publish(host, plan)
  await applied(host, plan)
  const told: string[] = []
  await stopServices(
    {
      host,
      name: 'a',
      run: someRun,
      emit: (what) => void (what.type === 'op-ended' && told.push(`${what.op.action} ${what.op.name}`)),
      signal: new AbortController().signal,
    },
    { components: ['kube-apiserver', 'kubelet'] },
  )
  expect(told).toEqual(['stop kubelet.service', 'stop kube-apiserver.service'])
  expect([...host.systemd.units].map(([name, { state }]) => `${name} ${state}`)).toEqual([
    'etcd.service active',
    'kube-apiserver.service inactive',
    'kubelet.service inactive',
  ])
  expect((await readJournal(host)).at(-1)?.what).toEqual({ type: 'run-ended', outcome: 'done' })
  expect(await applied(host, plan)).toEqual([
    'start service kube-apiserver.service',
    'start service kubelet.service',
  ])
})

test('who need not end anything well is not waited for', async () => {
  await using host = await temporaryHost()
  publish(host, plan)
  await applied(host, plan)
  const signal = new AbortController().signal
  const wish = { components: ['kube-apiserver'], atOnce: true }
  await stopServices({ host, name: 'a', run: someRun, emit: () => undefined, signal }, wish)
  expect(host.systemd.calls.slice(-2)).toEqual(['stop kube-apiserver.service', 'kill kube-apiserver.service'])
})

test('where nothing of ours is, nothing stops', async () => {
  await using host = await temporaryHost()
  const signal = new AbortController().signal
  await stopServices(
    { host, name: 'a', run: someRun, emit: () => undefined, signal },
    { components: ['kubelet'] },
  )
  expect(host.systemd.calls).toEqual([])
})
