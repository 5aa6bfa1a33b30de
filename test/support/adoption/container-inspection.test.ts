import { expect, test } from 'vitest'
import { listInspectedValues } from './container-inspection.ts'

const inspect = (state: object, policy = 'always', restarts = 0): string =>
  JSON.stringify([
    {
      Name: '/etcd',
      RestartCount: restarts,
      State: { Running: true, ...state },
      HostConfig: { RestartPolicy: { Name: policy }, Binds: ['/a:/b'], Devices: [] },
      NetworkSettings: {
        SandboxID: JSON.stringify(state),
        Networks: { host: { EndpointID: JSON.stringify(state) } },
      },
    },
  ])

test('a restart of a container changes nothing that is compared', () => {
  const before = listInspectedValues(inspect({ Pid: 7, StartedAt: 'a', FinishedAt: 'b' }))
  expect(listInspectedValues(inspect({ Pid: 9, StartedAt: 'c', FinishedAt: 'd' }))).toEqual(before)
  expect(before).toEqual([
    'etcd HostConfig.Binds.0 = "/a:/b"',
    'etcd HostConfig.Devices = null',
    'etcd HostConfig.RestartPolicy.Name = "always"',
    'etcd Mounts = null',
    'etcd State.Running = true',
  ])
})

test('restarts by Docker are no difference, because a container that returns begins with none', () => {
  expect(listInspectedValues(inspect({}, 'always', 2))).toEqual(listInspectedValues(inspect({})))
})

test('another restart policy, and a container that does not run, are differences', () => {
  const before = listInspectedValues(inspect({}))
  expect(listInspectedValues(inspect({}, 'no'))).not.toEqual(before)
  expect(listInspectedValues(inspect({ Running: false }))).not.toEqual(before)
})

test('mounts may be in any order', () => {
  const list = (...sources: readonly string[]) =>
    listInspectedValues(JSON.stringify([{ Name: '/kubelet', Mounts: sources.map((Source) => ({ Source })) }]))
  expect(list('/a', '/b')).toEqual(list('/b', '/a'))
  expect(list('/a', '/b')).not.toEqual(list('/a'))
})

test('an empty list is the same as none', () => {
  const list = (Dns: readonly string[] | null) =>
    listInspectedValues(JSON.stringify([{ Name: '/kubelet', HostConfig: { Dns } }]))
  expect(list([])).toEqual(list(null))
  expect(list(['192.0.2.53'])).not.toEqual(list(null))
})
