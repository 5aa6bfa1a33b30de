import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileOf } from '../../../diff/testing/fixtures.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { applied, hostPlan, publish, running } from '../testing/fixtures.ts'

let host: TemporaryHost & AsyncDisposable
beforeEach(async () => {
  host = await temporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

test('what goes over a unit is read by systemd at once, and nobody restarts for it', async () => {
  const path = '/etc/systemd/system/etcd.service.d/born.conf'
  const [before, after] = [running('etcd', '1'), running('etcd', '1')].map((etcd, index) =>
    hostPlan({ ...etcd, files: [...etcd.files, ...(index === 0 ? [] : [fileOf(path, '[Unit]\n', false)])] }),
  )
  if (before === undefined || after === undefined) throw new Error('no plans')
  publish(host, before)
  await applied(host, before)
  host.systemd.calls.length = 0
  expect(await applied(host, after)).toEqual([`create file ${path}`])
  expect(host.systemd.calls).toEqual(['reload'])
  host.systemd.calls.length = 0
  expect(await applied(host, before)).toEqual([`remove file ${path}`])
  expect(host.systemd.calls).toEqual(['reload'])
  expect(await host.files.stat('/etc/systemd/system/etcd.service.d')).toBeUndefined()
})
