import { expect, test } from 'vitest'
import { listInspectedValues } from './container-inspection.ts'

const inspect = (state: object, policy = 'always'): string =>
  JSON.stringify([
    {
      Name: '/etcd',
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
    'etcd HostConfig.Devices = []',
    'etcd HostConfig.RestartPolicy.Name = "always"',
    'etcd Mounts = []',
    'etcd State.Running = true',
  ])
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
