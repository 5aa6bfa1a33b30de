import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildFile } from '../../diff/testing/fixtures.ts'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../apply/testing/fixtures.ts'

let host: TemporaryHost & AsyncDisposable
beforeEach(async () => {
  host = await createTemporaryHost()
})
afterEach(async () => host[Symbol.asyncDispose]())

test('systemd reads a drop-in at once, and no service restarts for it', async () => {
  const path = '/etc/systemd/system/etcd.service.d/initialized.conf'
  const [before, after] = [runningComponent('etcd', '1'), runningComponent('etcd', '1')].map((etcd, index) =>
    buildPlanWithHost({
      ...etcd,
      files: [...etcd.files, ...(index === 0 ? [] : [buildFile(path, '[Unit]\n', false)])],
    }),
  )
  if (before === undefined || after === undefined) throw new Error('no plans')
  publishPrograms(host, before)
  await applyAndListOps(host, before)
  host.services.calls.length = 0
  expect(await applyAndListOps(host, after)).toEqual([`create file ${path}`])
  expect(host.services.calls).toEqual(['reload'])
  host.services.calls.length = 0
  expect(await applyAndListOps(host, before)).toEqual([`remove file ${path}`])
  expect(host.services.calls).toEqual(['reload'])
  expect(await host.files.stat('/etc/systemd/system/etcd.service.d')).toBeUndefined()
})
